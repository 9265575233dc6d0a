//! The gradient of attention for one key head of one sequence; probabilities are computed again rather than kept.

// Lets threads write different parts of one result.
#![allow(unsafe_code)]

use crate::Isa;
use crate::attention::{HeadMemory, QUERY_BLOCK, Queries, Runs, probabilities, room};
use crate::attention_whole::transpose_head;
use crate::gemm::{Left, Right, Size, Start, Sum, gemm, gemm_into};
use crate::norm::dot_row;
use crate::softmax::softmax_backward_rows;
use crate::target::Target;
use merit_formats::DecoderConfig;

/// Scratch of the attention passes.
#[derive(Debug, Default)]
pub struct AttentionSpace {
    pub(crate) keys: Vec<f32>,
    pub(crate) scores: Vec<f32>,
    values: Vec<f32>,
    dscores: Vec<f32>,
    delta: Vec<f32>,
}

/// One key head of one sequence, with its query heads. All slices begin at the sequence's first row; those read as right
/// matrices reach a little behind its last.
pub(crate) struct HeadBackward<'a> {
    pub(crate) isa: Isa,
    pub(crate) config: &'a DecoderConfig,
    /// Positions that a row sees, its own included.
    pub(crate) window: usize,
    pub(crate) kv: usize,
    pub(crate) rows: usize,
    pub(crate) qkv: &'a [f32],
    pub(crate) out: &'a [f32],
    pub(crate) dout: &'a [f32],
    /// All zeros to begin with.
    pub(crate) dqkv: Target,
}

impl HeadBackward<'_> {
    /// # Safety
    /// `dqkv` must be writable for `rows` rows in the columns of this key head, its values and its query heads, by no one
    /// else now.
    pub(crate) unsafe fn backward(&self, space: &mut AttentionSpace) {
        let (config, group) = (self.config, self.config.group());
        let stride = transpose_head(self.qkv, self.rows, config.key_column(self.kv), config, &mut space.keys);
        transpose_head(self.qkv, self.rows, config.value_column(self.kv), config, &mut space.values);
        for head in self.kv * group..(self.kv + 1) * group {
            for block in (0..self.rows).step_by(QUERY_BLOCK) {
                // SAFETY: promised by the caller.
                unsafe { self.block(head, block, stride, space) };
            }
        }
    }

    /// # Safety
    /// As for `backward`.
    unsafe fn block(&self, head: usize, block: usize, stride: usize, space: &mut AttentionSpace) {
        let (isa, config, qkv) = (self.isa, self.config, self.qkv);
        let (dim, d, width) = (config.head_dim(), config.attention_width(), config.qkv_width());
        let (key, value) = (config.key_column(self.kv), config.value_column(self.kv));
        let count = QUERY_BLOCK.min(self.rows - block);
        let query = block * width + head * dim;
        let mixed = block * d + head * dim;
        let queries =
            Queries { data: &qkv[query..], row: width, count, seen: block + 1, step: 1, window: self.window };
        let (keys, values) = (&space.keys[..], &qkv[value..]);
        let memory =
            Runs { len: stride, at: |_| HeadMemory { keys, key_row: stride, values, value_row: width } };
        probabilities(isa, dim, queries, &memory, &mut space.scores);

        let (first, wide) = (queries.first(), queries.width());
        let seen = queries.end() - first;
        let dscores = room(&mut space.dscores, count * wide);
        let size = Size { m: count, n: wide, k: dim };
        let dleft = Left::rows(&self.dout[mixed..], d);
        gemm(isa, size, dleft, Right::rows(&space.values[first..], stride), dscores, wide, Start::Zero);
        space.delta.clear();
        for row in 0..count {
            let at = mixed + row * d;
            space.delta.push(dot_row(isa, &self.out[at..at + dim], &self.dout[at..at + dim]));
        }
        let cells = count * wide;
        softmax_backward_rows(isa, &space.scores[..cells], &mut dscores[..cells], wide, &space.delta);

        let size = Size { m: count, n: dim, k: seen };
        let (left, right) = (Left::rows(dscores, wide), Right::rows(&qkv[first * width + key..], width));
        // SAFETY: rows of this block in the columns of this query head.
        unsafe {
            gemm_into(isa, size, left, right, self.dqkv.from(block, head * dim), Start::Zero, Sum::Chain)
        };
        let size = Size { m: seen, n: dim, k: count };
        let (left, right) = (Left::columns(dscores, wide), Right::rows(&qkv[query..], width));
        // SAFETY: rows up to this block's last in the columns of this key head.
        unsafe { gemm_into(isa, size, left, right, self.dqkv.from(first, key), Start::Resume, Sum::Chain) };
        let (left, right) = (Left::columns(&space.scores, wide), Right::rows(&self.dout[mixed..], d));
        // SAFETY: as above, in the columns of its values.
        unsafe { gemm_into(isa, size, left, right, self.dqkv.from(first, value), Start::Resume, Sum::Chain) };
    }
}
