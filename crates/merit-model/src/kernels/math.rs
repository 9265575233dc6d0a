//! The exponential and the fixed sixteen-lane sums that all row functions are made of.

/// Lanes of a reduction; element i of a row always goes to lane `i % 16`.
pub(crate) const WIDTH: usize = 16;

/// `e^x` to about one unit in the last place; 0 below -87, and no more than `e^88` above.
///
/// `x = n ln 2 + r` with `|r| <= ln 2 / 2`; `e^r` by its Taylor series to the seventh power, `2^n` by its exponent bits.
#[inline(always)]
pub(crate) fn exp(x: f32) -> f32 {
    // Adding 1.5 * 2^23 rounds to an integer and leaves it in the low bits.
    const ROUND: f32 = 12_582_912.0;
    const LN2_HIGH: f32 = 0.693_145_75;
    const LN2_LOW: f32 = 1.428_606_8e-6;
    let clamped = x.clamp(-87.0, 88.0);
    let shifted = clamped.mul_add(std::f32::consts::LOG2_E, ROUND);
    let n = shifted - ROUND;
    let r = n.mul_add(-LN2_LOW, n.mul_add(-LN2_HIGH, clamped));
    let mut sum = 1.0_f32 / 5040.0;
    for coefficient in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        sum = sum.mul_add(r, coefficient);
    }
    let power = f32::from_bits(shifted.to_bits().wrapping_add(127) << 23);
    if x < -87.0 { 0.0 } else { sum * power }
}

/// `1 / (1 + e^-x)`
#[inline(always)]
pub(crate) fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

/// The sum of the lanes, always in the same tree.
#[inline(always)]
pub(crate) fn fold(mut lanes: [f32; WIDTH]) -> f32 {
    let mut half = WIDTH / 2;
    while half > 0 {
        for i in 0..half {
            lanes[i] += lanes[i + half];
        }
        half /= 2;
    }
    lanes[0]
}

/// `Σ x y`
#[inline(always)]
pub(crate) fn dot(x: &[f32], y: &[f32]) -> f32 {
    let mut lanes = [0.0_f32; WIDTH];
    let ((xs, x_tail), (ys, y_tail)) = (x.as_chunks::<WIDTH>(), y.as_chunks::<WIDTH>());
    for (x, y) in xs.iter().zip(ys) {
        for i in 0..WIDTH {
            lanes[i] = x[i].mul_add(y[i], lanes[i]);
        }
    }
    for (i, (x, y)) in x_tail.iter().zip(y_tail).enumerate() {
        lanes[i] = x.mul_add(*y, lanes[i]);
    }
    fold(lanes)
}

/// The largest element; `-inf` for an empty row.
#[inline(always)]
pub(crate) fn largest(x: &[f32]) -> f32 {
    let mut lanes = [f32::NEG_INFINITY; WIDTH];
    let (chunks, tail) = x.as_chunks::<WIDTH>();
    for chunk in chunks {
        for i in 0..WIDTH {
            lanes[i] = if chunk[i] > lanes[i] { chunk[i] } else { lanes[i] };
        }
    }
    tail.iter().chain(&lanes).fold(f32::NEG_INFINITY, |most, &x| if x > most { x } else { most })
}

/// The row's last, partial chunk, filled up with `filler`.
#[inline(always)]
pub(crate) fn padded(tail: &[f32], filler: f32) -> [f32; WIDTH] {
    let mut chunk = [filler; WIDTH];
    chunk[..tail.len()].copy_from_slice(tail);
    chunk
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponential_is_right_to_a_few_parts_in_ten_million() {
        for i in -87_000..88_000 {
            let x = i as f32 * 0.001;
            let want = f64::from(x).exp();
            let relative = (f64::from(exp(x)) - want).abs() / want;
            assert!(relative < 2e-7, "exp({x}): {} against {want}", exp(x));
        }
        assert_eq!((exp(0.0), exp(-88.0), exp(f32::NEG_INFINITY)), (1.0, 0.0, 0.0));
    }
}
