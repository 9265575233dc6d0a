//! The gated unit `silu(gate) · up`, forward and backward.

// The macro calls functions compiled for detected CPU features.
#![allow(unsafe_code)]

use super::isa::per_isa;
use super::math::{WIDTH, sigmoid};

per_isa! {
    /// Rows of `gate | up`, each `width` wide, to rows of `silu(gate) · up`.
    pub(crate) fn swiglu(gate_up: &[f32], width: usize, y: &mut [f32]) {
        for (row, y) in gate_up.chunks_exact(2 * width).zip(y.chunks_exact_mut(width)) {
            let (gate, up) = row.split_at(width);
            for ((y, &g), &u) in y.iter_mut().zip(gate).zip(up) {
                *y = g * sigmoid(g) * u;
            }
        }
    }
}

per_isa! {
    /// In place: `gate_up` becomes its gradient, and `dy` becomes the forward value again.
    ///   `silu' = s (1 + g (1 - s))` with `s` the sigmoid of the gate.
    pub(crate) fn swiglu_backward(gate_up: &mut [f32], width: usize, dy: &mut [f32]) {
        for (row, dy) in gate_up.chunks_exact_mut(2 * width).zip(dy.chunks_exact_mut(width)) {
            let (gate, up) = row.split_at_mut(width);
            let (dys, dy_tail) = dy.as_chunks_mut::<WIDTH>();
            let (gates, gate_tail) = gate.as_chunks_mut::<WIDTH>();
            let (ups, up_tail) = up.as_chunks_mut::<WIDTH>();
            for ((dy, gate), up) in dys.iter_mut().zip(gates).zip(ups) {
                for i in 0..WIDTH {
                    (dy[i], gate[i], up[i]) = backward(dy[i], gate[i], up[i]);
                }
            }
            for ((dy, g), u) in dy_tail.iter_mut().zip(gate_tail).zip(up_tail) {
                (*dy, *g, *u) = backward(*dy, *g, *u);
            }
        }
    }
}

/// From the gradient of one output to its value and the gradients of gate and up.
#[inline(always)]
fn backward(dy: f32, g: f32, u: f32) -> (f32, f32, f32) {
    let s = sigmoid(g);
    let silu = g * s;
    let slope = s * g.mul_add(1.0 - s, 1.0);
    (silu * u, dy * u * slope, dy * silu)
}
