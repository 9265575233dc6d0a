//! Softmax over attention scores, forward and backward.

// The macro calls functions compiled for detected CPU features.
#![allow(unsafe_code)]

use super::isa::per_isa;
use super::math::{WIDTH, exp, fold, largest_chunk};

/// Rows that go through a pass together.
const TOGETHER: usize = 4;

per_isa! {
    /// Row i of `scores` becomes the softmax of the last `window` of its first `first + i * step` entries; the rest is
    /// zeroed. `stride` is a multiple of sixteen.
    pub fn softmax_rows(scores: &mut [f32], stride: usize, first: usize, step: usize, window: usize) {
        // A few rows go through each pass together: none waits for the end of another's sum.
        for (block, rows) in scores.chunks_mut(TOGETHER * stride).enumerate() {
            let (mut most, mut inverse) = ([0.0_f32; TOGETHER], [0.0_f32; TOGETHER]);
            for (i, (row, most)) in rows.chunks_exact_mut(stride).zip(&mut most).enumerate() {
                let live = first + (block * TOGETHER + i) * step;
                let (chunks, _) = row.as_chunks_mut::<WIDTH>();
                // Dead entries go through the same motions as exact zeros, so that all rows take the same number of turns.
                for (c, chunk) in chunks.iter_mut().enumerate().skip(first / WIDTH) {
                    let used = live.saturating_sub(c * WIDTH).min(WIDTH) as u32;
                    // By index: the compiler makes vectors of this form, not of the iterator's.
                    #[allow(clippy::needless_range_loop)]
                    for lane in 0..WIDTH {
                        chunk[lane] = if (lane as u32) < used { chunk[lane] } else { f32::NEG_INFINITY };
                    }
                }
                let low = live.saturating_sub(window);
                for (c, chunk) in chunks.iter_mut().enumerate().take(low.div_ceil(WIDTH)) {
                    let dead = (low - c * WIDTH).min(WIDTH) as u32;
                    #[allow(clippy::needless_range_loop)]
                    for lane in 0..WIDTH {
                        chunk[lane] = if (lane as u32) < dead { f32::NEG_INFINITY } else { chunk[lane] };
                    }
                }
                *most = largest_chunk(chunks);
            }
            for (row, (most, inverse)) in rows.chunks_exact_mut(stride).zip(most.iter().zip(&mut inverse)) {
                let mut lanes = [0.0_f32; WIDTH];
                for chunk in row.as_chunks_mut::<WIDTH>().0 {
                    for i in 0..WIDTH {
                        chunk[i] = exp(chunk[i] - most);
                        lanes[i] += chunk[i];
                    }
                }
                *inverse = 1.0 / fold(lanes);
            }
            for (row, inverse) in rows.chunks_exact_mut(stride).zip(inverse) {
                for x in row {
                    *x *= inverse;
                }
            }
        }
    }
}

per_isa! {
    /// `ds = p (dp - delta_row)`, in place of `dp`.
    pub fn softmax_backward_rows(p: &[f32], dp: &mut [f32], stride: usize, delta: &[f32]) {
        for ((p, dp), &delta) in p.chunks_exact(stride).zip(dp.chunks_exact_mut(stride)).zip(delta) {
            for (dp, p) in dp.iter_mut().zip(p) {
                *dp = p * (*dp - delta);
            }
        }
    }
}
