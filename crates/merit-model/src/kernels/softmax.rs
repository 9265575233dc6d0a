//! Softmax over attention scores, forward and backward.

// The macro calls functions compiled for detected CPU features.
#![allow(unsafe_code)]

use super::isa::per_isa;
use super::math::{WIDTH, exp, fold, largest, padded};

per_isa! {
    /// Row i of `scores` (stride `stride`) becomes the softmax of its first `first + i * step` entries; the rest is zeroed.
    pub(crate) fn softmax_rows(scores: &mut [f32], stride: usize, first: usize, step: usize) {
        for (i, row) in scores.chunks_exact_mut(stride).enumerate() {
            let (live, dead) = row.split_at_mut(first + i * step);
            dead.fill(0.0);
            let most = largest(live);
            let mut lanes = [0.0_f32; WIDTH];
            let (chunks, tail) = live.as_chunks_mut::<WIDTH>();
            for chunk in chunks.iter_mut() {
                for i in 0..WIDTH {
                    chunk[i] = exp(chunk[i] - most);
                    lanes[i] += chunk[i];
                }
            }
            if !tail.is_empty() {
                let mut chunk = padded(tail, f32::NEG_INFINITY);
                for i in 0..WIDTH {
                    chunk[i] = exp(chunk[i] - most);
                    lanes[i] += chunk[i];
                }
                tail.copy_from_slice(&chunk[..tail.len()]);
            }
            let inverse = 1.0 / fold(lanes);
            for x in live {
                *x *= inverse;
            }
        }
    }
}

per_isa! {
    /// `ds = p (dp - delta_row)`, in place of `dp`.
    pub(crate) fn softmax_backward_rows(p: &[f32], dp: &mut [f32], stride: usize, delta: &[f32]) {
        for ((p, dp), &delta) in p.chunks_exact(stride).zip(dp.chunks_exact_mut(stride)).zip(delta) {
            for (dp, p) in dp.iter_mut().zip(p) {
                *dp = p * (*dp - delta);
            }
        }
    }
}
