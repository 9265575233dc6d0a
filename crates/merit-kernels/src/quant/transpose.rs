//! Rows of activations to columns side by side, sixteen by sixteen.

// Intrinsics; reached only with a detected `Isa`, on slices whose lengths were checked.
#![allow(unsafe_code)]

use super::lanes::LANES;
use crate::isa::{Isa, Kind};
use crate::pack::transpose;

/// Writes `to[c * height + r] = from[r * columns + c]` for `rows` rows of `columns`.
pub fn transpose_simd(isa: Isa, from: &[f32], rows: usize, columns: usize, to: &mut [f32], height: usize) {
    let quick = match isa.kind() {
        #[cfg(target_arch = "x86_64")]
        Kind::Avx512 if rows == LANES && height == LANES => columns / LANES * LANES,
        _ => 0,
    };
    #[cfg(target_arch = "x86_64")]
    if quick > 0 {
        assert!(from.len() >= LANES * columns && to.len() >= quick * LANES, "transpose: too short");
        for column in (0..quick).step_by(LANES) {
            // SAFETY: sixteen rows have these columns, `to` has their places, and the `Isa` is the proof of the features.
            unsafe { sixteen(from[column..].as_ptr(), columns, to[column * LANES..].as_mut_ptr()) };
        }
    }
    transpose(&from[quick..], rows, columns - quick, columns, &mut to[quick * height..], height);
}

/// Four rounds of exchanges: pairs of floats, pairs of pairs, then quarters and halves of registers.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
unsafe fn sixteen(from: *const f32, row: usize, to: *mut f32) {
    use std::arch::x86_64::*;
    // SAFETY: the caller promises sixteen rows of sixteen floats, `row` apart, and room for 256.
    unsafe {
        let mut a = [_mm512_setzero_ps(); 16];
        let mut b = a;
        for (i, row_of) in a.iter_mut().enumerate() {
            *row_of = _mm512_loadu_ps(from.add(i * row));
        }
        for i in 0..8 {
            b[2 * i] = _mm512_unpacklo_ps(a[2 * i], a[2 * i + 1]);
            b[2 * i + 1] = _mm512_unpackhi_ps(a[2 * i], a[2 * i + 1]);
        }
        for i in 0..4 {
            let (w, x) = (_mm512_castps_pd(b[4 * i]), _mm512_castps_pd(b[4 * i + 1]));
            let (y, z) = (_mm512_castps_pd(b[4 * i + 2]), _mm512_castps_pd(b[4 * i + 3]));
            a[4 * i] = _mm512_castpd_ps(_mm512_unpacklo_pd(w, y));
            a[4 * i + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(w, y));
            a[4 * i + 2] = _mm512_castpd_ps(_mm512_unpacklo_pd(x, z));
            a[4 * i + 3] = _mm512_castpd_ps(_mm512_unpackhi_pd(x, z));
        }
        // Now a[4 i + j] holds columns j, j + 4, j + 8, j + 12 of rows 4 i to 4 i + 3.
        for j in 0..4 {
            let low = _mm512_shuffle_f32x4::<0x88>(a[j], a[4 + j]);
            let high = _mm512_shuffle_f32x4::<0xdd>(a[j], a[4 + j]);
            let low_after = _mm512_shuffle_f32x4::<0x88>(a[8 + j], a[12 + j]);
            let high_after = _mm512_shuffle_f32x4::<0xdd>(a[8 + j], a[12 + j]);
            _mm512_storeu_ps(to.add(16 * j), _mm512_shuffle_f32x4::<0x88>(low, low_after));
            _mm512_storeu_ps(to.add(16 * (j + 4)), _mm512_shuffle_f32x4::<0x88>(high, high_after));
            _mm512_storeu_ps(to.add(16 * (j + 8)), _mm512_shuffle_f32x4::<0xdd>(low, low_after));
            _mm512_storeu_ps(to.add(16 * (j + 12)), _mm512_shuffle_f32x4::<0xdd>(high, high_after));
        }
    }
}
