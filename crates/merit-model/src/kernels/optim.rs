//! The fused AdamW update of one run of weights.

// The macro calls functions compiled for detected CPU features.
#![allow(unsafe_code)]

use super::isa::per_isa;

/// The scalars of one AdamW step, with bias corrections already worked in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AdamStep {
    pub(crate) gradient_scale: f32,
    pub(crate) beta1: f32,
    pub(crate) beta2: f32,
    /// `lr / (1 - beta1^t)`
    pub(crate) rate: f32,
    /// `1 / (1 - beta2^t)`
    pub(crate) second_correction: f32,
    pub(crate) eps: f32,
    /// `1 - lr · weight_decay`, or 1 where nothing decays.
    pub(crate) keep: f32,
}

per_isa! {
    /// `m = b1 m + (1 - b1) g`, `v = b2 v + (1 - b2) g²`, `w = keep w - rate m / (sqrt(v c) + eps)`.
    pub(crate) fn adamw(weights: &mut [f32], gradients: &[f32], m: &mut [f32], v: &mut [f32], step: AdamStep) {
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
