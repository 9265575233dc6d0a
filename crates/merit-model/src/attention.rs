//! Causal attention of query rows over remembered keys and values, the same chain of operations for one row or many.
//!
//! Scores are a product with the transposed keys, mixed values a product with the values; entries behind a row's own
//! position are exact zeros, which leave its sums as they are. Sampling one token and scoring a whole sequence therefore
//! give the same bits.

use crate::DecoderConfig;
use crate::kernels::Isa;
use crate::kernels::gemm::{Left, Right, Size, Start, gemm};
use crate::kernels::softmax::softmax_rows;

/// Query rows handled together when a sequence has many.
pub(crate) const QUERY_BLOCK: usize = 28;

/// Keys and values of one head.
#[derive(Clone, Copy)]
pub(crate) struct HeadMemory<'a> {
    /// Transposed: `key[position, i] = keys[i * key_row + position]`; `key_row` is a multiple of 16.
    pub(crate) keys: &'a [f32],
    pub(crate) key_row: usize,
    /// `value[position, i] = values[position * value_row + i]`, readable a little further.
    pub(crate) values: &'a [f32],
    pub(crate) value_row: usize,
}

/// Query rows of one head dimension; row i sees the first `seen + i * step` positions.
#[derive(Clone, Copy)]
pub(crate) struct Queries<'a> {
    pub(crate) data: &'a [f32],
    pub(crate) row: usize,
    pub(crate) count: usize,
    pub(crate) seen: usize,
    pub(crate) step: usize,
}

impl Queries<'_> {
    /// Positions that the last row sees, rounded up to whole vectors: the width of a row of scores.
    pub(crate) fn width(&self) -> usize {
        (self.seen + (self.count - 1) * self.step).next_multiple_of(16)
    }
}

/// Fills `scores` with attention probabilities, `queries.count` rows of `queries.width()`.
pub(crate) fn probabilities(
    isa: Isa,
    dim: usize,
    queries: Queries,
    memory: HeadMemory,
    scores: &mut Vec<f32>,
) {
    let width = queries.width();
    let scores = room(scores, queries.count * width);
    let size = Size { m: queries.count, n: width, k: dim };
    let left = Left::rows(queries.data, queries.row);
    gemm(isa, size, left, Right::rows(memory.keys, memory.key_row), scores, width, Start::Zero);
    softmax_rows(isa, &mut scores[..queries.count * width], width, queries.seen, queries.step);
}

/// Writes the attended value of each query row to `out` (row stride `out_row`).
pub(crate) fn attend(
    isa: Isa,
    dim: usize,
    queries: Queries,
    memory: HeadMemory,
    (out, out_row): (&mut [f32], usize),
    scores: &mut Vec<f32>,
) {
    probabilities(isa, dim, queries, memory, scores);
    let seen = queries.seen + (queries.count - 1) * queries.step;
    let size = Size { m: queries.count, n: dim, k: seen };
    let left = Left::rows(scores, queries.width());
    gemm(isa, size, left, Right::rows(memory.values, memory.value_row), out, out_row, Start::Zero);
}

/// All heads of `rows` consecutive positions of one sequence, the first at `start`. `qkv` and `out` begin at the first row;
/// `memory` gives keys and values of a key head, these rows included.
pub(crate) fn attend_sequence<'a>(
    isa: Isa,
    config: &DecoderConfig,
    (qkv, start, rows): (&[f32], usize, usize),
    memory: impl Fn(usize) -> HeadMemory<'a>,
    out: &mut [f32],
    scores: &mut Vec<f32>,
) {
    let (dim, d, width) = (config.head_dim(), config.d_model, config.qkv_width());
    for kv in 0..config.kv_heads {
        let memory = memory(kv);
        let heads = kv * config.group()..(kv + 1) * config.group();
        if rows == 1 {
            // One position: the heads of the group are the rows.
            let column = heads.start * dim;
            let queries =
                Queries { data: &qkv[column..], row: dim, count: config.group(), seen: start + 1, step: 0 };
            attend(isa, dim, queries, memory, (&mut out[column..], dim), scores);
            continue;
        }
        for head in heads {
            for block in (0..rows).step_by(QUERY_BLOCK) {
                let queries = Queries {
                    data: &qkv[block * width + head * dim..],
                    row: width,
                    count: QUERY_BLOCK.min(rows - block),
                    seen: start + block + 1,
                    step: 1,
                };
                attend(isa, dim, queries, memory, (&mut out[block * d + head * dim..], d), scores);
            }
        }
    }
}

/// At least `len` floats and the slack that products may read behind them; what is in them is left over.
pub(crate) fn room(buffer: &mut Vec<f32>, len: usize) -> &mut [f32] {
    let want = len + crate::kernels::gemm::SLACK;
    if buffer.len() < want {
        buffer.resize(want, 0.0);
    }
    buffer
}
