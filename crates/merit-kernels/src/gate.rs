//! The gated units `silu(gate) · up` and `gelu(gate) · up`, forward and backward.

// The macro calls functions compiled for detected CPU features.
#![allow(unsafe_code)]

use super::isa::per_isa;
use super::math::{WIDTH, sigmoid};

/// `2 sqrt(2 / π)`: the tanh formula `x (1 + tanh z) / 2` is `x · sigmoid(2 z)` with `z = sqrt(2 / π) (x + 0.044715 x³)`.
const GELU_SLOPE: f32 = 1.595_769_2;
const GELU_CUBE: f32 = 0.044_715;

/// Defines the forward and backward pass of one gate, given what the gate lets through and its derivative.
macro_rules! gated {
    ($forward:ident, $backward:ident, $value:ident, $slope:ident) => {
        per_isa! {
            /// Rows of `gate | up`, each `width` wide, to rows of `act(gate) · up`.
            pub fn $forward(gate_up: &[f32], width: usize, y: &mut [f32]) {
                for (row, y) in gate_up.chunks_exact(2 * width).zip(y.chunks_exact_mut(width)) {
                    let (gate, up) = row.split_at(width);
                    for ((y, &g), &u) in y.iter_mut().zip(gate).zip(up) {
                        *y = $value(g) * u;
                    }
                }
            }
        }

        per_isa! {
            /// In place: `gate_up` becomes its gradient, and `dy` becomes the forward value again.
            pub fn $backward(gate_up: &mut [f32], width: usize, dy: &mut [f32]) {
                for (row, dy) in gate_up.chunks_exact_mut(2 * width).zip(dy.chunks_exact_mut(width)) {
                    let (gate, up) = row.split_at_mut(width);
                    let (dys, dy_tail) = dy.as_chunks_mut::<WIDTH>();
                    let (gates, gate_tail) = gate.as_chunks_mut::<WIDTH>();
                    let (ups, up_tail) = up.as_chunks_mut::<WIDTH>();
                    for ((dy, gate), up) in dys.iter_mut().zip(gates).zip(ups) {
                        for i in 0..WIDTH {
                            let (value, slope) = $slope(gate[i]);
                            (dy[i], gate[i], up[i]) = (value * up[i], dy[i] * up[i] * slope, dy[i] * value);
                        }
                    }
                    for ((dy, g), u) in dy_tail.iter_mut().zip(gate_tail).zip(up_tail) {
                        let (value, slope) = $slope(*g);
                        (*dy, *g, *u) = (value * *u, *dy * *u * slope, *dy * value);
                    }
                }
            }
        }
    };
}

gated!(swiglu, swiglu_backward, silu, silu_slope);
gated!(geglu, geglu_backward, gelu, gelu_slope);

#[inline(always)]
fn silu(g: f32) -> f32 {
    g * sigmoid(g)
}

/// The value and `silu' = s (1 + g (1 - s))` with `s` the sigmoid of the gate.
#[inline(always)]
fn silu_slope(g: f32) -> (f32, f32) {
    let s = sigmoid(g);
    (g * s, s * g.mul_add(1.0 - s, 1.0))
}

#[inline(always)]
fn gelu(g: f32) -> f32 {
    g * sigmoid(gelu_angle(g))
}

#[inline(always)]
fn gelu_angle(g: f32) -> f32 {
    GELU_SLOPE * (GELU_CUBE * g * g).mul_add(g, g)
}

/// The value and `gelu' = s (1 + g (1 - s) z')`, with `s` the sigmoid of the angle `z` and `z' = slope (1 + 3 cube g²)`.
#[inline(always)]
fn gelu_slope(g: f32) -> (f32, f32) {
    let s = sigmoid(gelu_angle(g));
    let bend = GELU_SLOPE * (3.0 * GELU_CUBE * g).mul_add(g, 1.0);
    (g * s, s * (g * bend).mul_add(1.0 - s, 1.0))
}
