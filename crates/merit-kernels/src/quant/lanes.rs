//! Sixteen columns side by side: the few operations that the kernels are written with, and their portable form.
//!
//! Each operation has one result for all instruction sets: codes become floats exactly, and the only roundings are those of
//! `multiply` and `fma`.

// Loads from raw pointers; `product` stays inside the panels.
#![allow(unsafe_code)]

/// Columns in one vector.
pub(super) const LANES: usize = 16;

/// One vector of sixteen floats or words, and what can be done to it.
///
/// # Safety
/// The CPU must have the features that the implementer names; pointers must be readable for the bytes that are said.
pub(super) trait Lanes {
    /// Sixteen floats.
    type Floats: Copy;
    /// Sixteen words of 32 bits.
    type Words: Copy;

    unsafe fn splat(value: f32) -> Self::Floats;
    /// 64 bytes.
    unsafe fn floats(from: *const u8) -> Self::Floats;
    unsafe fn store(to: *mut f32, values: Self::Floats);
    /// `a * b + c`, rounded once.
    unsafe fn fma(a: Self::Floats, b: Self::Floats, c: Self::Floats) -> Self::Floats;
    unsafe fn multiply(a: Self::Floats, b: Self::Floats) -> Self::Floats;

    unsafe fn add(a: Self::Floats, b: Self::Floats) -> Self::Floats;

    /// Asks for the line at an address that need not be readable.
    unsafe fn prefetch(from: *const u8);
    /// 64 bytes.
    unsafe fn words(from: *const u8) -> Self::Words;
    unsafe fn shift_by_4(words: Self::Words) -> Self::Words;
    unsafe fn rotate_by_1(words: Self::Words) -> Self::Words;
    unsafe fn rotate_by_2(words: Self::Words) -> Self::Words;

    /// The lowest four bits, as numbers from `LOW` up.
    unsafe fn four_bits<const LOW: i32>(words: Self::Words) -> Self::Floats;
    /// The lowest four bits of `words` below bit 4 of `high`, as numbers from `LOW` up.
    unsafe fn five_bits<const LOW: i32>(words: Self::Words, high: Self::Words) -> Self::Floats;
    /// The lowest four bits of `words` below bits 4 and 5 of `high`, as numbers from -32 up.
    unsafe fn six_bits(words: Self::Words, high: Self::Words) -> Self::Floats;
    /// 16 signed bytes.
    unsafe fn signed_bytes(from: *const u8) -> Self::Floats;
    /// 16 bytes from 0 up.
    unsafe fn bytes(from: *const u8) -> Self::Floats;
    /// 32 bytes: half precision, finite.
    unsafe fn halves(from: *const u8) -> Self::Floats;
    /// 32 bytes: bfloat16.
    unsafe fn bfloats(from: *const u8) -> Self::Floats;
}

/// Any processor, one lane after the other.
pub(super) struct Portable;

impl Lanes for Portable {
    type Floats = [f32; LANES];
    type Words = [u32; LANES];

    #[inline(always)]
    unsafe fn splat(value: f32) -> [f32; LANES] {
        [value; LANES]
    }

    #[inline(always)]
    unsafe fn floats(from: *const u8) -> [f32; LANES] {
        // SAFETY: the caller promises 64 bytes.
        unsafe { from.cast::<[f32; LANES]>().read_unaligned() }
    }

    #[inline(always)]
    unsafe fn store(to: *mut f32, values: [f32; LANES]) {
        // SAFETY: the caller promises room for sixteen floats.
        unsafe { to.cast::<[f32; LANES]>().write_unaligned(values) }
    }

    #[inline(always)]
    unsafe fn fma(a: [f32; LANES], b: [f32; LANES], c: [f32; LANES]) -> [f32; LANES] {
        std::array::from_fn(|i| a[i].mul_add(b[i], c[i]))
    }

    #[inline(always)]
    unsafe fn multiply(a: [f32; LANES], b: [f32; LANES]) -> [f32; LANES] {
        std::array::from_fn(|i| a[i] * b[i])
    }

    #[inline(always)]
    unsafe fn add(a: [f32; LANES], b: [f32; LANES]) -> [f32; LANES] {
        std::array::from_fn(|i| a[i] + b[i])
    }

    #[inline(always)]
    unsafe fn prefetch(_: *const u8) {}

    #[inline(always)]
    unsafe fn words(from: *const u8) -> [u32; LANES] {
        // SAFETY: the caller promises 64 bytes.
        unsafe { from.cast::<[u32; LANES]>().read_unaligned() }
    }

    #[inline(always)]
    unsafe fn shift_by_4(words: [u32; LANES]) -> [u32; LANES] {
        words.map(|word| word >> 4)
    }

    #[inline(always)]
    unsafe fn rotate_by_1(words: [u32; LANES]) -> [u32; LANES] {
        words.map(|word| word.rotate_right(1))
    }

    #[inline(always)]
    unsafe fn rotate_by_2(words: [u32; LANES]) -> [u32; LANES] {
        words.map(|word| word.rotate_right(2))
    }

    #[inline(always)]
    unsafe fn four_bits<const LOW: i32>(words: [u32; LANES]) -> [f32; LANES] {
        words.map(|word| ((word & 15) as i32 + LOW) as f32)
    }

    #[inline(always)]
    unsafe fn five_bits<const LOW: i32>(words: [u32; LANES], high: [u32; LANES]) -> [f32; LANES] {
        std::array::from_fn(|i| ((words[i] & 15 | high[i] & 16) as i32 + LOW) as f32)
    }

    #[inline(always)]
    unsafe fn six_bits(words: [u32; LANES], high: [u32; LANES]) -> [f32; LANES] {
        std::array::from_fn(|i| ((words[i] & 15 | high[i] & 48) as i32 - 32) as f32)
    }

    #[inline(always)]
    unsafe fn signed_bytes(from: *const u8) -> [f32; LANES] {
        // SAFETY: the caller promises 16 bytes.
        unsafe { from.cast::<[i8; LANES]>().read() }.map(f32::from)
    }

    #[inline(always)]
    unsafe fn bytes(from: *const u8) -> [f32; LANES] {
        // SAFETY: the caller promises 16 bytes.
        unsafe { from.cast::<[u8; LANES]>().read() }.map(f32::from)
    }

    #[inline(always)]
    unsafe fn halves(from: *const u8) -> [f32; LANES] {
        // SAFETY: the caller promises 32 bytes.
        unsafe { from.cast::<[u16; LANES]>().read_unaligned() }.map(half)
    }

    #[inline(always)]
    unsafe fn bfloats(from: *const u8) -> [f32; LANES] {
        // SAFETY: the caller promises 32 bytes.
        unsafe { from.cast::<[u16; LANES]>().read_unaligned() }
            .map(|bits| f32::from_bits(u32::from(bits) << 16))
    }
}

/// 2^112, the difference between the exponents' offsets of `f32` and half precision.
pub(super) const HALF_TO_SINGLE: f32 = f32::from_bits((112 + 127) << 23);

/// A finite half-precision number: moved into the places of an `f32`, it is too small by 2^112, also below the normal range.
#[inline(always)]
fn half(bits: u16) -> f32 {
    let magnitude = f32::from_bits(u32::from(bits & 0x7fff) << 13) * HALF_TO_SINGLE;
    f32::from_bits(magnitude.to_bits() | u32::from(bits & 0x8000) << 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finite_halves_are_exact() {
        for (bits, value) in [
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x7bff, 65504.0),
            (1, 5.960_464_5e-8),
            (0x8001, -5.960_464_5e-8),
            (0x3555, 0.333_251_95),
            (0, 0.0),
        ] {
            assert_eq!(half(bits), value);
        }
    }
}
