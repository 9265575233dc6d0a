//! Rotary positions: pairs `(x_i, x_{i + half})` rotated by an angle that grows with the position.

// The macro calls functions compiled for detected CPU features.
#![allow(unsafe_code)]

use super::isa::per_isa;

/// Cosines and sines by position, `half` to a position.
#[derive(Debug, Clone, Copy)]
pub struct Angles<'a> {
    /// Half the width of a head.
    pub half: usize,
    /// `[positions, half]`
    pub cos: &'a [f32],
    /// `[positions, half]`
    pub sin: &'a [f32],
}

impl<'a> Angles<'a> {
    /// Cosines and sines of one position.
    pub fn at(&self, position: usize) -> (&'a [f32], &'a [f32]) {
        let range = position * self.half..(position + 1) * self.half;
        (&self.cos[range.clone()], &self.sin[range])
    }
}

/// Where the heads that are rotated lie in a row: queries from the start, keys behind them.
#[derive(Debug, Clone, Copy)]
pub struct RotaryHeads {
    /// Width of a row.
    pub width: usize,
    /// Column at which the keys begin.
    pub keys: usize,
    /// Column at which the keys end and the values begin.
    pub values: usize,
    /// What queries are multiplied by.
    pub scale: f32,
}

per_isa! {
    /// Rotates each head of `heads` (each as wide as `cos` and `sin` together) and multiplies it by `scale`.
    pub fn rotate_heads(heads: &mut [f32], cos: &[f32], sin: &[f32], scale: f32) {
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
    /// The gradient of `rotate_heads`: the rotation undone, times the same scale.
    pub fn rotate_heads_back(heads: &mut [f32], cos: &[f32], sin: &[f32], scale: f32) {
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
