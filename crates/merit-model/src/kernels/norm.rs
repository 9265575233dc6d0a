//! Root-mean-square normalisation of rows, forward and backward.

// The macro calls functions compiled for detected CPU features.
#![allow(unsafe_code)]

use super::isa::per_isa;
use super::math::dot;

#[inline(always)]
fn inverse_rms(x: &[f32], eps: f32) -> f32 {
    1.0 / (dot(x, x) / x.len() as f32 + eps).sqrt()
}

per_isa! {
    /// `y = gain · x / sqrt(mean(x²) + eps)` for each row as long as `gain`.
    pub(crate) fn normalise(x: &[f32], gain: &[f32], eps: f32, y: &mut [f32]) {
        let width = gain.len();
        for (x, y) in x.chunks_exact(width).zip(y.chunks_exact_mut(width)) {
            let inverse = inverse_rms(x, eps);
            for ((y, x), gain) in y.iter_mut().zip(x).zip(gain) {
                *y = x * inverse * gain;
            }
        }
    }
}

per_isa! {
    /// Adds the gradient with respect to `x` to `dx` and with respect to the gain to `dgain`:
    ///   `dx = s g dy - x s³ mean(g dy x)`, `dgain = Σ_rows dy x s`, with `s` the inverse root mean square.
    pub(crate) fn normalise_backward(
        x: &[f32], gain: &[f32], eps: f32, dy: &[f32], dx: &mut [f32], dgain: &mut [f32],
    ) {
        let width = gain.len();
        let rows = x.chunks_exact(width).zip(dy.chunks_exact(width)).zip(dx.chunks_exact_mut(width));
        for ((x, dy), dx) in rows {
            let inverse = inverse_rms(x, eps);
            // Σ g dy x, lane by lane as in `dot`; `dx` is not needed for it.
            let mut sum = [0.0_f32; super::math::WIDTH];
            for ((x, dy), gain) in x.chunks(16).zip(dy.chunks(16)).zip(gain.chunks(16)) {
                for (((lane, x), dy), gain) in sum.iter_mut().zip(x).zip(dy).zip(gain) {
                    *lane = (gain * dy).mul_add(*x, *lane);
                }
            }
            let pull = super::math::fold(sum) * inverse * inverse * inverse / width as f32;
            for i in 0..width {
                dx[i] += (inverse * gain[i]).mul_add(dy[i], -(x[i] * pull));
                dgain[i] = (dy[i] * inverse).mul_add(x[i], dgain[i]);
            }
        }
    }
}

per_isa! {
    /// `Σ x y` as a single number, with the bits of every other `dot`.
    pub(crate) fn dot_row(x: &[f32], y: &[f32]) -> f32 {
        dot(x, y)
    }
}

per_isa! {
    /// `y += a x`
    pub(crate) fn add_scaled(a: f32, x: &[f32], y: &mut [f32]) {
        for (y, x) in y.iter_mut().zip(x) {
            *y = a.mul_add(*x, *y);
        }
    }
}
