//! Numbers of sixteen bits: IEEE half precision and bfloat16, to and from `f32`, rounding to nearest, ties to even.

/// The value of a half-precision number; exact.
pub fn f16_to_f32(bits: u16) -> f32 {
    let sign = u32::from(bits >> 15) << 31;
    let exponent = u32::from(bits >> 10) & 0x1f;
    let fraction = u32::from(bits) & 0x3ff;
    match exponent {
        // Below the normal range the value is fraction * 2^-24, which f32 holds exactly.
        0 => f32::from_bits(sign | (fraction as f32 * f32::from_bits(0x3380_0000)).to_bits()),
        31 => f32::from_bits(sign | 0x7f80_0000 | (fraction << 13)),
        _ => f32::from_bits(sign | ((exponent + 112) << 23) | (fraction << 13)),
    }
}

/// The nearest half-precision number; what is too large becomes infinite.
pub fn f32_to_f16(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = (bits >> 16) as u16 & 0x8000;
    let magnitude = bits & 0x7fff_ffff;
    if magnitude > 0x7f80_0000 {
        return sign | 0x7e00;
    }
    // 65520 is half-way between the largest half-precision number and the next that would be.
    if magnitude >= 0x477f_f000 {
        return sign | 0x7c00;
    }
    if magnitude < 0x3880_0000 {
        // Adding 0.5 leaves the last place of the sum at 2^-24, the step below the normal range, so the addition rounds.
        let shifted = f32::from_bits(magnitude) + 0.5;
        return sign | (shifted.to_bits() - 0.5_f32.to_bits()) as u16;
    }
    let odd = (magnitude >> 13) & 1;
    sign | ((magnitude - (112 << 23) + 0xfff + odd) >> 13) as u16
}

/// The value of a bfloat16 number; exact.
pub fn bf16_to_f32(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

/// The nearest bfloat16 number.
pub fn f32_to_bf16(value: f32) -> u16 {
    let bits = value.to_bits();
    if value.is_nan() {
        return (bits >> 16) as u16 | 0x40;
    }
    ((bits + 0x7fff + ((bits >> 16) & 1)) >> 16) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_precision_number_goes_there_and_back() {
        for bits in 0..=u16::MAX {
            let value = f16_to_f32(bits);
            if value.is_nan() {
                assert!(f16_to_f32(f32_to_f16(value)).is_nan());
            } else {
                assert_eq!(f32_to_f16(value), bits, "{value}");
            }
            let value = bf16_to_f32(bits);
            if value.is_nan() {
                assert!(bf16_to_f32(f32_to_bf16(value)).is_nan());
            } else {
                assert_eq!(f32_to_bf16(value), bits);
            }
        }
    }

    #[test]
    fn known_values_have_their_known_bits() {
        let known = [(1.0, 0x3c00), (-2.0, 0xc000), (65504.0, 0x7bff), (0.1, 0x2e66), (5.960_464_5e-8, 1)];
        for (value, bits) in known {
            assert_eq!(f32_to_f16(value), bits);
        }
        assert_eq!(f16_to_f32(0x3555), 0.333_251_95);
        assert_eq!(f32_to_f16(65519.9), 0x7bff);
        assert_eq!(f32_to_f16(65520.0), 0x7c00);
        assert_eq!(f32_to_bf16(1.0), 0x3f80);
    }

    #[test]
    fn half_way_goes_to_the_even_neighbour() {
        // Between 1 and 1 + 2^-10, and between 1 + 2^-10 and 1 + 2^-9.
        assert_eq!(f32_to_f16(1.0 + 0.5_f32.powi(11)), 0x3c00);
        assert_eq!(f32_to_f16(1.0 + 3.0 * 0.5_f32.powi(11)), 0x3c02);
        // Between 0 and the smallest, and between the smallest and its double.
        assert_eq!(f32_to_f16(0.5_f32.powi(25)), 0);
        assert_eq!(f32_to_f16(3.0 * 0.5_f32.powi(25)), 2);
        assert_eq!(f32_to_bf16(1.0 + 0.5_f32.powi(8)), 0x3f80);
        assert_eq!(f32_to_bf16(1.0 + 3.0 * 0.5_f32.powi(8)), 0x3f82);
    }
}
