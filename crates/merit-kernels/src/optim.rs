//! The fused AdamW update and the norm of the gradient it spends.

// The macro calls functions compiled for detected CPU features.
#![allow(unsafe_code)]

use super::isa::per_isa;
use crate::Device;
use crate::math::WIDTH;

/// Weights of one piece; also the leaves of the norm's sum, so part of its definition.
const PIECE: usize = 1 << 16;

/// The scalars of one AdamW step, with bias corrections already worked in.
#[derive(Debug, Clone, Copy)]
pub struct AdamStep {
    /// The gradient is multiplied by this first.
    pub gradient_scale: f32,
    /// Memory of the first moment.
    pub beta1: f32,
    /// Memory of the second moment.
    pub beta2: f32,
    /// `lr / (1 - beta1^t)`
    pub rate: f32,
    /// `1 / (1 - beta2^t)`
    pub second_correction: f32,
    /// Added to the root of the second moment.
    pub eps: f32,
    /// `1 - lr · weight_decay`, or 1 where nothing decays.
    pub keep: f32,
}

per_isa! {
    /// `m = b1 m + (1 - b1) g`, `v = b2 v + (1 - b2) g²`, `w = keep w - rate m / (sqrt(v c) + eps)`.
    pub fn adamw(weights: &mut [f32], gradients: &[f32], m: &mut [f32], v: &mut [f32], step: AdamStep) {
        let (rest1, rest2) = (1.0 - step.beta1, 1.0 - step.beta2);
        for (((w, g), m), v) in weights.iter_mut().zip(gradients).zip(m).zip(v) {
            let g = g * step.gradient_scale;
            *m = step.beta1.mul_add(*m, rest1 * g);
            *v = step.beta2.mul_add(*v, rest2 * g * g);
            let size = (*v * step.second_correction).sqrt() + step.eps;
            *w = step.keep.mul_add(*w, -(step.rate * *m / size));
        }
    }
}

per_isa! {
    /// `Σ x²` in `f64`, in sixteen lanes that are added in order.
    pub fn sum_of_squares(x: &[f32]) -> f64 {
        let mut lanes = [0.0_f64; WIDTH];
        let (chunks, tail) = x.as_chunks::<WIDTH>();
        for chunk in chunks {
            for i in 0..WIDTH {
                let x = f64::from(chunk[i]);
                lanes[i] = x.mul_add(x, lanes[i]);
            }
        }
        for (lane, x) in lanes.iter_mut().zip(tail) {
            *lane = f64::from(*x).mul_add(f64::from(*x), *lane);
        }
        lanes.iter().sum()
    }
}

impl Device {
    /// The Euclidean norm: pieces of 65,536 summed by themselves, then added in order, whatever the threads.
    pub fn norm(&self, gradient: &[f32]) -> f64 {
        let mut pieces: Vec<(&[f32], f64)> = gradient.chunks(PIECE).map(|piece| (piece, 0.0)).collect();
        self.workers().for_each(&mut pieces, |_, (piece, sum)| *sum = sum_of_squares(self.isa(), piece));
        pieces.iter().map(|(_, sum)| sum).sum::<f64>().sqrt()
    }

    /// [`adamw`] on all threads.
    pub fn adamw(
        &self,
        weights: &mut [f32],
        gradients: &[f32],
        m: &mut [f32],
        v: &mut [f32],
        step: AdamStep,
    ) {
        let moments = m.chunks_mut(PIECE).zip(v.chunks_mut(PIECE));
        let mut pieces: Vec<_> =
            weights.chunks_mut(PIECE).zip(gradients.chunks(PIECE)).zip(moments).collect();
        self.workers().for_each(&mut pieces, |_, ((weights, gradients), (m, v))| {
            adamw(self.isa(), weights, gradients, m, v, step);
        });
    }
}
