//! Root-mean-square normalisation of rows and of heads inside rows, forward and backward.

// The macro calls functions compiled for detected CPU features.
#![allow(unsafe_code)]

use super::isa::per_isa;
use super::math::{WIDTH, dot, fold, padded};

#[inline(always)]
fn inverse_rms(x: &[f32], eps: f32) -> f32 {
    1.0 / (dot(x, x) / x.len() as f32 + eps).sqrt()
}

/// `Σ x y z`
#[inline(always)]
fn dot3(x: &[f32], y: &[f32], z: &[f32]) -> f32 {
    let mut lanes = [0.0_f32; WIDTH];
    let ((xs, x_tail), (ys, y_tail), (zs, z_tail)) =
        (x.as_chunks::<WIDTH>(), y.as_chunks::<WIDTH>(), z.as_chunks::<WIDTH>());
    for ((x, y), z) in xs.iter().zip(ys).zip(zs) {
        for i in 0..WIDTH {
            lanes[i] = (x[i] * y[i]).mul_add(z[i], lanes[i]);
        }
    }
    if !x_tail.is_empty() {
        let (x, y, z) = (padded(x_tail, 0.0), padded(y_tail, 0.0), padded(z_tail, 0.0));
        for i in 0..WIDTH {
            lanes[i] = (x[i] * y[i]).mul_add(z[i], lanes[i]);
        }
    }
    fold(lanes)
}

per_isa! {
    /// `y = gain · x / sqrt(mean(x²) + eps)` for each row as long as `gain`.
    pub fn normalise(x: &[f32], gain: &[f32], eps: f32, y: &mut [f32]) {
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
    pub fn normalise_backward(
        x: &[f32], gain: &[f32], eps: f32, dy: &[f32], dx: &mut [f32], dgain: &mut [f32],
    ) {
        let width = gain.len();
        let rows = x.chunks_exact(width).zip(dy.chunks_exact(width)).zip(dx.chunks_exact_mut(width));
        for ((x, dy), dx) in rows {
            let inverse = inverse_rms(x, eps);
            let pull = dot3(gain, dy, x) * inverse * inverse * inverse / width as f32;
            let (x, dy, dx) = (&x[..width], &dy[..width], &mut dx[..width]);
            for i in 0..width {
                dx[i] += (inverse * gain[i]).mul_add(dy[i], -(x[i] * pull));
                dgain[i] = (dy[i] * inverse).mul_add(x[i], dgain[i]);
            }
        }
    }
}

per_isa! {
    /// The part of `normalise_backward` that belongs to the rows; keeps each row's inverse root mean square.
    pub fn normalise_rows_backward(
        x: &[f32], gain: &[f32], eps: f32, dy: &[f32], dx: &mut [f32], inverses: &mut [f32],
    ) {
        let width = gain.len();
        let rows = x.chunks_exact(width).zip(dy.chunks_exact(width)).zip(dx.chunks_exact_mut(width));
        for (((x, dy), dx), kept) in rows.zip(inverses) {
            let inverse = inverse_rms(x, eps);
            let pull = dot3(gain, dy, x) * inverse * inverse * inverse / width as f32;
            let (x, dy, dx) = (&x[..width], &dy[..width], &mut dx[..width]);
            for i in 0..width {
                dx[i] += (inverse * gain[i]).mul_add(dy[i], -(x[i] * pull));
            }
            *kept = inverse;
        }
    }
}

per_isa! {
    /// The part of `normalise_backward` that belongs to the gain, for the columns from `first` on that `dgain` holds.
    pub fn normalise_gain_backward(
        x: &[f32], inverses: &[f32], dy: &[f32], width: usize, first: usize, dgain: &mut [f32],
    ) {
        let columns = dgain.len();
        for ((x, dy), inverse) in x.chunks_exact(width).zip(dy.chunks_exact(width)).zip(inverses) {
            let (x, dy) = (&x[first..first + columns], &dy[first..first + columns]);
            for i in 0..columns {
                dgain[i] = (dy[i] * inverse).mul_add(x[i], dgain[i]);
            }
        }
    }
}

per_isa! {
    /// Normalises each head of columns `from..to` of every row in place; a head is as wide as `gain`.
    pub fn normalise_heads(rows: &mut [f32], width: usize, from: usize, to: usize, gain: &[f32], eps: f32) {
        for row in rows.chunks_exact_mut(width) {
            for head in row[from..to].chunks_exact_mut(gain.len()) {
                let inverse = inverse_rms(head, eps);
                for (x, gain) in head.iter_mut().zip(gain) {
                    *x = *x * inverse * gain;
                }
            }
        }
    }
}

per_isa! {
    /// Columns `from..to` of `drows`: from the gradient of the normalised heads to that of the raw ones, which `raw` holds
    /// in the same columns of rows `raw_width` wide; the gradient of the gain is added to `dgain`.
    pub fn normalise_heads_backward(
        raw: &[f32], raw_width: usize, drows: &mut [f32], width: usize, from: usize, to: usize, gain: &[f32], eps: f32,
        dgain: &mut [f32],
    ) {
        let dim = gain.len();
        for (raw, drow) in raw.chunks_exact(raw_width).zip(drows.chunks_exact_mut(width)) {
            for (x, d) in raw[from..to].chunks_exact(dim).zip(drow[from..to].chunks_exact_mut(dim)) {
                let inverse = inverse_rms(x, eps);
                let pull = dot3(gain, d, x) * inverse * inverse * inverse / dim as f32;
                for i in 0..dim {
                    dgain[i] = (d[i] * inverse).mul_add(x[i], dgain[i]);
                    d[i] = (inverse * gain[i]).mul_add(d[i], -(x[i] * pull));
                }
            }
        }
    }
}

per_isa! {
    /// `Σ x y` as a single number, with the bits of every other `dot`.
    pub fn dot_row(x: &[f32], y: &[f32]) -> f32 {
        dot(x, y)
    }
}

per_isa! {
    /// `y += a x`
    pub fn add_scaled(a: f32, x: &[f32], y: &mut [f32]) {
        for (y, x) in y.iter_mut().zip(x) {
            *y = a.mul_add(*x, *y);
        }
    }
}
