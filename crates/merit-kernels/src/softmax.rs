//! Softmax over attention scores, forward and backward.

// The macro calls functions compiled for detected CPU features.
#![allow(unsafe_code)]

use super::isa::per_isa;
use super::math::{WIDTH, exp, fold, largest_chunk};

per_isa! {
    /// Row i of `scores` becomes the softmax of the last `window` of its first `first + i * step` entries; the rest is
    /// zeroed. `stride` is a multiple of sixteen.
    pub fn softmax_rows(scores: &mut [f32], stride: usize, first: usize, step: usize, window: usize) {
        for (i, row) in scores.chunks_exact_mut(stride).enumerate() {
            let live = first + i * step;
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
            let most = largest_chunk(chunks);
            let mut lanes = [0.0_f32; WIDTH];
            for chunk in chunks.iter_mut() {
                for i in 0..WIDTH {
                    chunk[i] = exp(chunk[i] - most);
                    lanes[i] += chunk[i];
                }
            }
            let inverse = 1.0 / fold(lanes);
            for chunk in chunks {
                for x in chunk {
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
