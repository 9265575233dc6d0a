//! Rotary positions: pairs `(x_i, x_{i + half})` turned by an angle that grows with the position.

// The macro calls functions compiled for detected CPU features.
#![allow(unsafe_code)]

use super::isa::per_isa;

per_isa! {
    /// Turns each head of `heads` (each as wide as `cos` and `sin` together) and multiplies it by `scale`.
    pub(crate) fn turn_heads(heads: &mut [f32], cos: &[f32], sin: &[f32], scale: f32) {
        let half = cos.len();
        for head in heads.chunks_exact_mut(2 * half) {
            let (low, high) = head.split_at_mut(half);
            for (((x, y), &c), &s) in low.iter_mut().zip(high).zip(cos).zip(sin) {
                let (a, b) = (*x, *y);
                *x = a.mul_add(c, -(b * s)) * scale;
                *y = b.mul_add(c, a * s) * scale;
            }
        }
    }
}

per_isa! {
    /// The gradient of `turn_heads`: the turn undone, times the same scale.
    pub(crate) fn turn_heads_back(heads: &mut [f32], cos: &[f32], sin: &[f32], scale: f32) {
        let half = cos.len();
        for head in heads.chunks_exact_mut(2 * half) {
            let (low, high) = head.split_at_mut(half);
            for (((x, y), &c), &s) in low.iter_mut().zip(high).zip(cos).zip(sin) {
                let (a, b) = (*x, *y);
                *x = a.mul_add(c, b * s) * scale;
                *y = b.mul_add(c, -(a * s)) * scale;
            }
        }
    }
}
