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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Isa, Workers};

    #[test]
    fn the_norm_is_right_and_the_same_on_all_threads_and_instruction_sets() {
        let x: Vec<f32> = (0..200_003).map(|i| ((i * 7919) % 1000) as f32 * 0.01 - 5.0).collect();
        let want = x.iter().map(|x| f64::from(*x) * f64::from(*x)).sum::<f64>().sqrt();
        let got = Device::single().norm(&x);
        assert!((got - want).abs() < 1e-9 * want, "{got} against {want}");
        for isa in Isa::available() {
            let device = Device::new(Workers::new(3).unwrap()).with_isa(isa);
            assert_eq!(device.norm(&x).to_bits(), got.to_bits(), "{isa:?}");
        }
    }

    #[test]
    fn the_update_is_the_same_on_all_threads() {
        let step = AdamStep {
            gradient_scale: 0.5,
            beta1: 0.9,
            beta2: 0.95,
            rate: 0.01,
            second_correction: 20.0,
            eps: 1e-8,
            keep: 0.999,
        };
        let gradient: Vec<f32> = (0..150_000).map(|i| (i as f32 * 0.1).sin()).collect();
        let run = |threads| {
            let (mut w, mut m, mut v) = (vec![1.0; 150_000], vec![0.1; 150_000], vec![0.2; 150_000]);
            let device = Device::new(Workers::new(threads).unwrap());
            device.adamw(&mut w, &gradient, &mut m, &mut v, step);
            [w, m, v].concat()
        };
        assert_eq!(run(1), run(4));
        // One element by hand: g = 0, so m = 0.09, v = 0.19, w = 0.999 - 0.01 * 0.09 / sqrt(3.8).
        assert!((run(1)[0] - (0.999 - 0.0009 / 3.8_f32.sqrt())).abs() < 1e-6);
    }
}
