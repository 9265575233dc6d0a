//! The gradient of attention over whole sequences; probabilities are computed again rather than kept.

use crate::DecoderConfig;
use crate::attention::{HeadMemory, QUERY_BLOCK, Queries, probabilities, room};
use crate::kernels::Isa;
use crate::kernels::gemm::{Left, Right, Size, Start, gemm};
use crate::kernels::norm::dot_row;
use crate::kernels::pack::transpose;
use crate::kernels::softmax::softmax_backward_rows;

/// Scratch of the attention passes.
#[derive(Debug, Default)]
pub(crate) struct AttentionSpace {
    pub(crate) keys: Vec<f32>,
    pub(crate) scores: Vec<f32>,
    values: Vec<f32>,
    dscores: Vec<f32>,
    delta: Vec<f32>,
}

/// Copies key head `kv` of one sequence, transposed; returns the row stride.
pub(crate) fn transpose_head(
    qkv: &[f32],
    rows: usize,
    column: usize,
    config: &DecoderConfig,
    to: &mut Vec<f32>,
) -> usize {
    let stride = rows.next_multiple_of(32);
    let (dim, width) = (config.head_dim(), config.qkv_width());
    transpose(&qkv[column..], rows, dim, width, room(to, dim * stride), stride);
    stride
}

/// One sequence: from `dout`, the gradient of the attended values `out`, to `dqkv`, which is overwritten.
/// All slices begin at the sequence's first row; those read as right matrices reach a little behind its last.
pub(crate) fn attend_backward(
    isa: Isa,
    config: &DecoderConfig,
    rows: usize,
    (qkv, out, dout): (&[f32], &[f32], &[f32]),
    dqkv: &mut [f32],
    space: &mut AttentionSpace,
) {
    dqkv[..rows * config.qkv_width()].fill(0.0);
    for kv in 0..config.kv_heads {
        let stride = transpose_head(qkv, rows, config.key_column(kv), config, &mut space.keys);
        transpose_head(qkv, rows, config.value_column(kv), config, &mut space.values);
        for head in kv * config.group()..(kv + 1) * config.group() {
            for block in (0..rows).step_by(QUERY_BLOCK) {
                let part = Part { kv, head, block, count: QUERY_BLOCK.min(rows - block), stride };
                part.backward(isa, config, (qkv, out, dout), dqkv, space);
            }
        }
    }
}

/// A block of query rows of one head.
struct Part {
    kv: usize,
    head: usize,
    block: usize,
    count: usize,
    stride: usize,
}

impl Part {
    fn backward(
        &self,
        isa: Isa,
        config: &DecoderConfig,
        (qkv, out, dout): (&[f32], &[f32], &[f32]),
        dqkv: &mut [f32],
        space: &mut AttentionSpace,
    ) {
        let (dim, d, width) = (config.head_dim(), config.d_model, config.qkv_width());
        let (key, value) = (config.key_column(self.kv), config.value_column(self.kv));
        let query = self.block * width + self.head * dim;
        let mixed = self.block * d + self.head * dim;
        let queries =
            Queries { data: &qkv[query..], row: width, count: self.count, seen: self.block + 1, step: 1 };
        let memory =
            HeadMemory { keys: &space.keys, key_row: self.stride, values: &qkv[value..], value_row: width };
        probabilities(isa, dim, queries, memory, &mut space.scores);

        let (seen, wide) = (self.block + self.count, queries.width());
        let dscores = room(&mut space.dscores, self.count * wide);
        let size = Size { m: self.count, n: wide, k: dim };
        let dleft = Left::rows(&dout[mixed..], d);
        gemm(isa, size, dleft, Right::rows(&space.values, self.stride), dscores, wide, Start::Zero);
        space.delta.clear();
        for row in 0..self.count {
            let at = mixed + row * d;
            space.delta.push(dot_row(isa, &out[at..at + dim], &dout[at..at + dim]));
        }
        let cells = self.count * wide;
        softmax_backward_rows(isa, &space.scores[..cells], &mut dscores[..cells], wide, &space.delta);

        let size = Size { m: self.count, n: dim, k: seen };
        let left = Left::rows(dscores, wide);
        gemm(isa, size, left, Right::rows(&qkv[key..], width), &mut dqkv[query..], width, Start::Zero);
        let size = Size { m: seen, n: dim, k: self.count };
        let left = Left::columns(dscores, wide);
        gemm(isa, size, left, Right::rows(&qkv[query..], width), &mut dqkv[key..], width, Start::Resume);
        let left = Left::columns(&space.scores, wide);
        gemm(isa, size, left, Right::rows(&dout[mixed..], d), &mut dqkv[value..], width, Start::Resume);
    }
}
