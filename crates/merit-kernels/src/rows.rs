//! Operations of the device on whole buffers of rows: embeddings, norms, rotary positions, gates, biases.
//!
//! Each is a row function of this crate, given to the device's threads in runs of rows where that is worth their while.

use crate::Device;
use crate::gate::{geglu, geglu_backward, swiglu, swiglu_backward};
use crate::loss::{RowStats, row_backward, row_stats};
use crate::norm::{
    normalise, normalise_backward, normalise_gain_backward, normalise_heads, normalise_heads_backward,
    normalise_rows_backward,
};
use crate::rotary::{Angles, RotaryHeads, rotate_heads, rotate_heads_back};
use merit_formats::Activation;

/// Floats below which a second thread costs more than it saves.
const WORTH_SPLITTING: usize = 1 << 16;

impl Device {
    /// Rows to a piece, for `rows` rows of `width` floats each.
    fn rows_per_piece(&self, rows: usize, width: usize) -> usize {
        let threads = self.workers().threads();
        if threads <= 1 || rows * width < WORTH_SPLITTING { rows } else { rows.div_ceil(threads) }.max(1)
    }

    /// `y = gain · x / sqrt(mean(x²) + eps)` for each row of `x`; a row is as wide as `gain`.
    pub fn normalise(&self, x: &[f32], gain: &[f32], eps: f32, y: &mut [f32]) {
        let width = gain.len();
        let piece = width * self.rows_per_piece(x.len() / width, width);
        if piece >= x.len() {
            return normalise(self.isa(), x, gain, eps, y);
        }
        let mut pieces: Vec<_> = x.chunks(piece).zip(y[..x.len()].chunks_mut(piece)).collect();
        self.workers().for_each(&mut pieces, |_, (x, y)| normalise(self.isa(), x, gain, eps, y));
    }

    /// From the gradient `dy` of a norm's output: adds that of its input to `dx` and that of the gain to `dgain`.
    pub fn normalise_back(
        &self,
        x: &[f32],
        gain: &[f32],
        eps: f32,
        dy: &[f32],
        dx: &mut [f32],
        dgain: &mut [f32],
    ) {
        let width = gain.len();
        let rows = x.len() / width;
        let run = self.rows_per_piece(rows, width);
        if run >= rows {
            return normalise_backward(self.isa(), x, gain, eps, dy, dx, dgain);
        }
        let mut inverses = vec![0.0; rows];
        let mut pieces: Vec<_> = x
            .chunks(run * width)
            .zip(dy[..x.len()].chunks(run * width))
            .zip(dx[..x.len()].chunks_mut(run * width))
            .zip(inverses.chunks_mut(run))
            .collect();
        self.workers().for_each(&mut pieces, |_, (((x, dy), dx), inverses)| {
            normalise_rows_backward(self.isa(), x, gain, eps, dy, dx, inverses);
        });
        let columns = width.div_ceil(self.workers().threads());
        let mut parts: Vec<_> = dgain.chunks_mut(columns).collect();
        self.workers().for_each(&mut parts, |index, dgain| {
            normalise_gain_backward(self.isa(), x, &inverses, &dy[..x.len()], width, index * columns, dgain);
        });
    }

    /// Normalises the heads in columns `from..to` of rows `width` wide, in place; a head is as wide as `gain`.
    pub fn normalise_heads(
        &self,
        rows: &mut [f32],
        (width, from, to): (usize, usize, usize),
        gain: &[f32],
        eps: f32,
    ) {
        let piece = width * self.rows_per_piece(rows.len() / width, width);
        let mut pieces: Vec<_> = rows.chunks_mut(piece).collect();
        self.workers().for_each(&mut pieces, |_, rows| {
            normalise_heads(self.isa(), rows, width, from, to, gain, eps);
        });
    }

    /// Columns `from..to` of `drows`: from the gradient of the normalised heads to that of the raw ones, which `raw` holds
    /// in the same columns of rows `raw_width` wide; the gradient of the gain is added to `dgain`.
    pub fn normalise_heads_back(
        &self,
        (raw, raw_width): (&[f32], usize),
        drows: &mut [f32],
        (width, from, to): (usize, usize, usize),
        (gain, eps): (&[f32], f32),
        dgain: &mut [f32],
    ) {
        normalise_heads_backward(self.isa(), raw, raw_width, drows, width, from, to, gain, eps, dgain);
    }

    /// Rotates the queries and keys of each row to its position and scales the queries.
    pub fn rotate(&self, rows: &mut [f32], heads: RotaryHeads, positions: &[usize], angles: Angles) {
        self.rotate_rows(rows, heads, positions, angles, rotate_heads);
    }

    /// The gradient of [`Device::rotate`], in place.
    pub fn rotate_back(&self, rows: &mut [f32], heads: RotaryHeads, positions: &[usize], angles: Angles) {
        self.rotate_rows(rows, heads, positions, angles, rotate_heads_back);
    }

    fn rotate_rows(
        &self,
        rows: &mut [f32],
        heads: RotaryHeads,
        positions: &[usize],
        angles: Angles,
        rotate: fn(crate::Isa, &mut [f32], &[f32], &[f32], f32),
    ) {
        let run = self.rows_per_piece(positions.len(), heads.width);
        let rows = &mut rows[..positions.len() * heads.width];
        let one = |rows: &mut [f32], positions: &[usize]| {
            for (row, &position) in rows.chunks_exact_mut(heads.width).zip(positions) {
                let (cos, sin) = angles.at(position);
                let (queries, rest) = row.split_at_mut(heads.keys);
                rotate(self.isa(), queries, cos, sin, heads.scale);
                rotate(self.isa(), &mut rest[..heads.values - heads.keys], cos, sin, 1.0);
            }
        };
        if run >= positions.len() {
            return one(rows, positions);
        }
        let mut pieces: Vec<_> = rows.chunks_mut(run * heads.width).zip(positions.chunks(run)).collect();
        self.workers().for_each(&mut pieces, |_, (rows, positions)| one(rows, positions));
    }

    /// Rows of `gate | up`, each `width` wide, to rows of `act(gate) · up`.
    pub fn gate(&self, activation: Activation, gate_up: &[f32], width: usize, y: &mut [f32]) {
        let forward = match activation {
            Activation::Silu => swiglu,
            Activation::GeluTanh => geglu,
        };
        let rows = gate_up.len() / (2 * width);
        let run = self.rows_per_piece(rows, 2 * width);
        if run >= rows {
            return forward(self.isa(), gate_up, width, y);
        }
        let mut pieces: Vec<_> =
            gate_up.chunks(2 * run * width).zip(y[..rows * width].chunks_mut(run * width)).collect();
        self.workers().for_each(&mut pieces, |_, (gate_up, y)| forward(self.isa(), gate_up, width, y));
    }

    /// In place: `gate_up` becomes its gradient, and `dy`, the gradient of the unit, becomes its value again.
    pub fn gate_back(&self, activation: Activation, gate_up: &mut [f32], width: usize, dy: &mut [f32]) {
        let backward = match activation {
            Activation::Silu => swiglu_backward,
            Activation::GeluTanh => geglu_backward,
        };
        let rows = gate_up.len() / (2 * width);
        let run = self.rows_per_piece(rows, 2 * width);
        if run >= rows {
            return backward(self.isa(), gate_up, width, dy);
        }
        let mut pieces: Vec<_> =
            gate_up.chunks_mut(2 * run * width).zip(dy[..rows * width].chunks_mut(run * width)).collect();
        self.workers().for_each(&mut pieces, |_, (gate_up, dy)| backward(self.isa(), gate_up, width, dy));
    }

    /// Copies rows `width` wide: row i of `to` is row `rows[i]` of `from`.
    pub fn gather(&self, from: &[f32], width: usize, rows: impl Iterator<Item = usize>, to: &mut [f32]) {
        for (row, to) in rows.zip(to.chunks_exact_mut(width)) {
            to.copy_from_slice(&from[row * width..(row + 1) * width]);
        }
    }

    /// Copies rows `width` wide: row `rows[i]` of `to` is row i of `from`.
    pub fn scatter(&self, from: &[f32], width: usize, rows: impl Iterator<Item = usize>, to: &mut [f32]) {
        for (row, from) in rows.zip(from.chunks_exact(width)) {
            to[row * width..(row + 1) * width].copy_from_slice(from);
        }
    }

    /// Adds rows `width` wide, times `scale`: row i of `from` to row `rows[i]` of `to`, in order.
    pub fn scatter_add(
        &self,
        scale: f32,
        from: &[f32],
        width: usize,
        rows: impl Iterator<Item = usize>,
        to: &mut [f32],
    ) {
        for (row, from) in rows.zip(from.chunks_exact(width)) {
            crate::norm::add_scaled(self.isa(), scale, from, &mut to[row * width..(row + 1) * width]);
        }
    }

    /// Every row of `rows` becomes a copy of `row`.
    pub fn fill_rows(&self, row: &[f32], rows: &mut [f32]) {
        rows.chunks_exact_mut(row.len()).for_each(|to| to.copy_from_slice(row));
    }

    /// `sum += Σ_rows rows`, row after row.
    pub fn sum_rows(&self, rows: &[f32], sum: &mut [f32]) {
        for row in rows.chunks_exact(sum.len()) {
            crate::norm::add_scaled(self.isa(), 1.0, row, sum);
        }
    }

    /// `y += x`
    pub fn add(&self, x: &[f32], y: &mut [f32]) {
        crate::norm::add_scaled(self.isa(), 1.0, x, y);
    }

    /// `x *= scale`
    pub fn scale(&self, scale: f32, x: &mut [f32]) {
        x.iter_mut().for_each(|x| *x *= scale);
    }

    /// The sums of each row of logits, `width` to a row.
    pub fn logit_stats(
        &self,
        logits: &[f32],
        width: usize,
        inverse_temperature: f32,
        stats: &mut [RowStats],
    ) {
        let run = self.rows_per_piece(stats.len(), width);
        let logits = &logits[..stats.len() * width];
        let mut pieces: Vec<_> = logits.chunks(run * width).zip(stats.chunks_mut(run)).collect();
        self.workers().for_each(&mut pieces, |_, (logits, stats)| {
            for (row, stats) in logits.chunks_exact(width).zip(&mut **stats) {
                *stats = row_stats(self.isa(), row, inverse_temperature);
            }
        });
    }

    /// In place: rows of logits become the gradient of what each row is asked for.
    pub fn logits_back(&self, logits: &mut [f32], width: usize, inverse_temperature: f32, asked: &[Asked]) {
        let run = self.rows_per_piece(asked.len(), width);
        let logits = &mut logits[..asked.len() * width];
        let mut pieces: Vec<_> = logits.chunks_mut(run * width).zip(asked.chunks(run)).collect();
        self.workers().for_each(&mut pieces, |_, (logits, asked)| {
            for (row, asked) in logits.chunks_exact_mut(width).zip(*asked) {
                let Asked { target, stats, on_logprob, on_entropy } = *asked;
                row_backward(self.isa(), row, target, stats, inverse_temperature, on_logprob, on_entropy);
            }
        });
    }
}

/// What the gradient of a row of logits is made of.
#[derive(Debug, Clone, Copy)]
pub struct Asked {
    /// The entry whose log-probability counts.
    pub target: usize,
    /// The row's sums.
    pub stats: RowStats,
    /// The coefficient of the target's log-probability.
    pub on_logprob: f32,
    /// The coefficient of the row's entropy.
    pub on_entropy: f32,
}
