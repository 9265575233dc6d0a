//! Softmax over the scores of one position, for AVX-512: all rows see the same positions.
//!
//! The operations of `softmax_rows`, lane by lane, with sums and largest scores kept in registers.

// Intrinsics on raw pointers; the caller's slice is checked first.
#![allow(unsafe_code)]

use crate::math::exp_parts as parts;
use std::arch::x86_64::*;

const LANES: usize = 16;
/// Rows that go through a pass together: none waits for the end of another's sum.
const TOGETHER: usize = 4;

/// Every row of `scores`, `live` rounded up to whole vectors long, becomes the softmax of entries `low..live`; the others
/// become zero. `low` lies in the first vector.
///
/// # Safety
/// The processor has AVX-512.
pub(crate) unsafe fn softmax_alike(scores: &mut [f32], low: usize, live: usize) {
    assert!(low < LANES && low < live, "softmax: no entry is alive");
    let width = live.next_multiple_of(LANES);
    let mut blocks = scores.chunks_exact_mut(TOGETHER * width);
    // SAFETY: the processor, as promised; each block holds as many rows of whole vectors as are named.
    unsafe {
        for block in &mut blocks {
            rows::<TOGETHER>(block.as_mut_ptr(), width, low, live);
        }
        for row in blocks.into_remainder().chunks_exact_mut(width) {
            rows::<1>(row.as_mut_ptr(), width, low, live);
        }
    }
}

/// # Safety
/// The processor has AVX-512; `R` rows of `width` floats, whole vectors, may be read and written.
#[target_feature(enable = "avx512f")]
unsafe fn rows<const R: usize>(scores: *mut f32, width: usize, low: usize, live: usize) {
    let (first, last): (__mmask16, __mmask16) = (!0 << low, !0 >> (width - live));
    let nothing = _mm512_set1_ps(f32::NEG_INFINITY);
    let mask = |at: usize| -> __mmask16 {
        (if at == 0 { first } else { !0 }) & (if at + LANES == width { last } else { !0 })
    };
    // SAFETY: all vectors lie in the rows, as promised.
    unsafe {
        let mut most = [nothing; R];
        for at in (0..width).step_by(LANES) {
            for (r, most) in most.iter_mut().enumerate() {
                let x = _mm512_mask_loadu_ps(nothing, mask(at), scores.add(r * width + at));
                *most = _mm512_max_ps(x, *most);
            }
        }
        let most = most.map(|most| _mm512_set1_ps(_mm512_reduce_max_ps(most)));
        let mut lanes = [_mm512_setzero_ps(); R];
        for at in (0..width).step_by(LANES) {
            for (r, lanes) in lanes.iter_mut().enumerate() {
                let place = scores.add(r * width + at);
                let x = _mm512_sub_ps(_mm512_mask_loadu_ps(nothing, mask(at), place), most[r]);
                let weight = exp(x);
                _mm512_storeu_ps(place, weight);
                *lanes = _mm512_add_ps(*lanes, weight);
            }
        }
        let inverse = lanes.map(|lanes| _mm512_set1_ps(1.0 / fold(lanes)));
        for at in (0..width).step_by(LANES) {
            for (r, inverse) in inverse.iter().enumerate() {
                let place = scores.add(r * width + at);
                _mm512_storeu_ps(place, _mm512_mul_ps(_mm512_loadu_ps(place), *inverse));
            }
        }
    }
}

/// As in `math`.
#[target_feature(enable = "avx512f")]
#[inline]
fn exp(x: __m512) -> __m512 {
    let set = _mm512_set1_ps;
    let clamped = _mm512_min_ps(set(parts::MOST), _mm512_max_ps(set(parts::LEAST), x));
    let shifted = _mm512_fmadd_ps(clamped, set(std::f32::consts::LOG2_E), set(parts::ROUND));
    let n = _mm512_sub_ps(shifted, set(parts::ROUND));
    let r = _mm512_fmadd_ps(n, set(-parts::LN2_LOW), _mm512_fmadd_ps(n, set(-parts::LN2_HIGH), clamped));
    let mut sum = set(parts::SERIES[0]);
    for coefficient in &parts::SERIES[1..] {
        sum = _mm512_fmadd_ps(sum, r, set(*coefficient));
    }
    let exponent = _mm512_add_epi32(_mm512_castps_si512(shifted), _mm512_set1_epi32(127));
    let power = _mm512_castsi512_ps(_mm512_slli_epi32::<23>(exponent));
    let alive = _mm512_cmp_ps_mask::<_CMP_NLT_UQ>(x, set(parts::LEAST));
    _mm512_maskz_mul_ps(alive, sum, power)
}

/// The sum of the lanes, in the tree of `math`.
#[target_feature(enable = "avx512f")]
#[inline]
fn fold(lanes: __m512) -> f32 {
    let upper = _mm256_castpd_ps(_mm512_extractf64x4_pd::<1>(_mm512_castps_pd(lanes)));
    let eight = _mm256_add_ps(_mm512_castps512_ps256(lanes), upper);
    let four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps::<1>(eight));
    let two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)))
}
