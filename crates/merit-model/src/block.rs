//! One block of the decoder, forward and backward, over any rows of any sequences.
//!
//! The caller supplies the attention over the rows (whole sequences when training, cached positions when sampling);
//! everything else works row by row. Backward computes norms and gated units again instead of keeping them.

use crate::Weights;
use crate::attention::room;
use crate::kernels::Isa;
use crate::kernels::gemm::{Left, Right, Size, Start, gemm, gemm_across};
use crate::kernels::norm::{normalise, normalise_backward};
use crate::kernels::swiglu::{swiglu, swiglu_backward};
use crate::kernels::turn::{turn_heads, turn_heads_back};
use crate::packed::PackedWeights;
use crate::rope::Rope;

/// Everything that the passes read and share.
#[derive(Clone, Copy)]
pub(crate) struct Net<'a> {
    pub(crate) isa: Isa,
    pub(crate) weights: &'a Weights,
    pub(crate) packed: &'a PackedWeights,
    pub(crate) rope: &'a Rope,
}

/// What the backward pass needs of one block's forward pass.
#[derive(Debug, Default)]
pub(crate) struct BlockRecord {
    /// `q | k | v`, turned and scaled.
    qkv: Vec<f32>,
    attended: Vec<f32>,
    /// The residual stream between attention and feed-forward.
    middle: Vec<f32>,
    gate_up: Vec<f32>,
}

/// Scratch shared by all blocks of a pass.
#[derive(Debug, Default)]
pub(crate) struct BlockSpace {
    normed: Vec<f32>,
    active: Vec<f32>,
    dnormed: Vec<f32>,
    dqkv: Vec<f32>,
    dattended: Vec<f32>,
}

impl Net<'_> {
    fn product(&self, rows: usize, a: &[f32], b: Right, c: &mut [f32], (n, k): (usize, usize), start: Start) {
        gemm(self.isa, Size { m: rows, n, k }, Left::rows(a, k), b, c, n, start);
    }

    /// `x` to `out`; `attend(qkv, attended)` is called between the projections.
    pub(crate) fn block_forward(
        &self,
        layer: usize,
        positions: &[usize],
        x: &[f32],
        out: &mut Vec<f32>,
        (record, space): (&mut BlockRecord, &mut BlockSpace),
        attend: impl FnOnce(&[f32], &mut [f32]),
    ) {
        let config = self.weights.config();
        let (d, ff, wide, rows) = (config.d_model, config.d_ff, config.qkv_width(), positions.len());
        let (place, values) = (&self.weights.layout().blocks[layer], self.weights.values());
        let matrices = &self.packed.forward[layer];
        let stream = rows * d;

        let normed = room(&mut space.normed, stream);
        normalise(self.isa, &x[..stream], &values[place.attention_norm.clone()], config.norm_eps, normed);
        let qkv = room(&mut record.qkv, rows * wide);
        self.product(rows, normed, matrices.qkv.as_right(), qkv, (wide, d), Start::Zero);
        self.turn(positions, qkv);
        let attended = room(&mut record.attended, stream);
        attend(qkv, attended);
        let middle = room(&mut record.middle, stream);
        middle[..stream].copy_from_slice(&x[..stream]);
        self.product(rows, attended, matrices.output.as_right(), middle, (d, d), Start::Resume);

        normalise(self.isa, &middle[..stream], &values[place.feed_norm.clone()], config.norm_eps, normed);
        let gate_up = room(&mut record.gate_up, rows * 2 * ff);
        self.product(rows, normed, matrices.gate_up.as_right(), gate_up, (2 * ff, d), Start::Zero);
        let active = room(&mut space.active, rows * ff);
        swiglu(self.isa, &gate_up[..rows * 2 * ff], ff, active);
        let out = room(out, stream);
        out[..stream].copy_from_slice(&middle[..stream]);
        self.product(rows, active, matrices.down.as_right(), out, (d, ff), Start::Resume);
    }

    fn turn(&self, positions: &[usize], qkv: &mut [f32]) {
        let config = self.weights.config();
        let (wide, keys) = (config.qkv_width(), config.key_column(0));
        let scale = 1.0 / (config.head_dim() as f32).sqrt();
        for (row, &position) in qkv.chunks_exact_mut(wide).zip(positions) {
            let (cos, sin) = self.rope.at(position);
            let (queries, rest) = row.split_at_mut(keys);
            turn_heads(self.isa, queries, cos, sin, scale);
            turn_heads(self.isa, &mut rest[..config.value_column(0) - keys], cos, sin, 1.0);
        }
    }

    fn turn_back(&self, positions: &[usize], dqkv: &mut [f32]) {
        let config = self.weights.config();
        let (wide, keys) = (config.qkv_width(), config.key_column(0));
        let scale = 1.0 / (config.head_dim() as f32).sqrt();
        for (row, &position) in dqkv.chunks_exact_mut(wide).zip(positions) {
            let (cos, sin) = self.rope.at(position);
            let (queries, rest) = row.split_at_mut(keys);
            turn_heads_back(self.isa, queries, cos, sin, scale);
            turn_heads_back(self.isa, &mut rest[..config.value_column(0) - keys], cos, sin, 1.0);
        }
    }

    /// `dx` comes in as the gradient of the block's output and leaves as that of its input; weight gradients are added to
    /// `grads`. `attend_backward(qkv, attended, dattended, dqkv)` is called between the projections. The record is spent.
    pub(crate) fn block_backward(
        &self,
        layer: usize,
        positions: &[usize],
        (x, dx): (&[f32], &mut [f32]),
        (record, space): (&mut BlockRecord, &mut BlockSpace),
        grads: &mut [f32],
        attend_backward: impl FnOnce(&[f32], &[f32], &[f32], &mut [f32]),
    ) {
        self.feed_backward(layer, positions.len(), dx, record, space, grads);

        let config = self.weights.config();
        let (d, wide, rows) = (config.d_model, config.qkv_width(), positions.len());
        let (place, values) = (&self.weights.layout().blocks[layer], self.weights.values());
        let matrices = &self.packed.backward[layer];
        let stream = rows * d;
        let dattended = room(&mut space.dattended, stream);
        self.product(rows, dx, matrices.output.as_right(), dattended, (d, d), Start::Zero);
        self.weight_gradient(rows, &record.attended, d, dx, d, &mut grads[place.output.clone()]);
        let dqkv = room(&mut space.dqkv, rows * wide);
        attend_backward(&record.qkv, &record.attended, dattended, dqkv);
        self.turn_back(positions, dqkv);
        let dnormed = room(&mut space.dnormed, stream);
        self.product(rows, dqkv, matrices.qkv.as_right(), dnormed, (d, wide), Start::Zero);
        let gain = &values[place.attention_norm.clone()];
        let normed = room(&mut space.normed, stream);
        normalise(self.isa, &x[..stream], gain, config.norm_eps, normed);
        self.weight_gradient(rows, normed, d, dqkv, wide, &mut grads[place.qkv.clone()]);
        let (dgain, eps) = (&mut grads[place.attention_norm.clone()], config.norm_eps);
        normalise_backward(self.isa, &x[..stream], gain, eps, &dnormed[..stream], dx, dgain);
    }

    fn feed_backward(
        &self,
        layer: usize,
        rows: usize,
        dx: &mut [f32],
        record: &mut BlockRecord,
        space: &mut BlockSpace,
        grads: &mut [f32],
    ) {
        let config = self.weights.config();
        let (d, ff) = (config.d_model, config.d_ff);
        let (place, values) = (&self.weights.layout().blocks[layer], self.weights.values());
        let matrices = &self.packed.backward[layer];
        let stream = rows * d;
        let active = room(&mut space.active, rows * ff);
        self.product(rows, dx, matrices.down.as_right(), active, (ff, d), Start::Zero);
        let gate_up = &mut record.gate_up;
        swiglu_backward(self.isa, &mut gate_up[..rows * 2 * ff], ff, active);
        self.weight_gradient(rows, active, ff, dx, d, &mut grads[place.down.clone()]);
        let dnormed = room(&mut space.dnormed, stream);
        self.product(rows, gate_up, matrices.gate_up.as_right(), dnormed, (d, 2 * ff), Start::Zero);
        let gain = &values[place.feed_norm.clone()];
        let normed = room(&mut space.normed, stream);
        normalise(self.isa, &record.middle[..stream], gain, config.norm_eps, normed);
        self.weight_gradient(rows, normed, d, gate_up, 2 * ff, &mut grads[place.gate_up.clone()]);
        let (dgain, eps) = (&mut grads[place.feed_norm.clone()], config.norm_eps);
        normalise_backward(self.isa, &record.middle[..stream], gain, eps, &dnormed[..stream], dx, dgain);
    }

    /// `dw += xᵀ dy`
    pub(crate) fn weight_gradient(
        &self,
        rows: usize,
        x: &[f32],
        inputs: usize,
        dy: &[f32],
        outputs: usize,
        dw: &mut [f32],
    ) {
        let size = Size { m: inputs, n: outputs, k: rows };
        gemm_across(self.isa, size, x, dy, dw);
    }
}
