//! Causal attention of query rows over remembered keys and values, the same chain of operations for one row or many.
//!
//! Scores are a product with the transposed keys, mixed values a product with the values; entries behind a row's own
//! position or before its window are exact zeros, which leave its sums as they are. Keys and values lie in runs of
//! positions (one run when training, pages when sampling), and the sums go on from run to run. Sampling one token and
//! scoring a whole sequence therefore give the same bits, however the positions are cut.

// Lets threads write different parts of one result.
#![allow(unsafe_code)]

use crate::gemm::{Left, Right, Size, Start, Sum, gemm_into};
use crate::softmax::softmax_rows;
use crate::target::Target;
use crate::{Device, Isa, Scratch};
use merit_formats::DecoderConfig;
use std::ops::Range;

/// Query rows handled together when a sequence has many.
pub(crate) const QUERY_BLOCK: usize = 28;
/// Rows of scores begin at a multiple of this position, so that each position keeps its lane of the softmax.
const LANES: usize = 16;
/// Multiply-adds below which a second thread costs more than it saves; tests always split.
const WORTH_SPLITTING: usize = if cfg!(test) { 1 } else { 1 << 20 };

/// Keys and values of one head over a run of positions.
#[derive(Clone, Copy)]
pub(crate) struct HeadMemory<'a> {
    /// Transposed: `key[position, i] = keys[i * key_row + position]`; `key_row` is a multiple of 16.
    pub(crate) keys: &'a [f32],
    pub(crate) key_row: usize,
    /// `value[position, i] = values[position * value_row + i]`, readable a little further.
    pub(crate) values: &'a [f32],
    pub(crate) value_row: usize,
}

/// Keys and values of one head in runs of `len` positions, a multiple of 16; `at` gives a run by its index.
pub(crate) struct Runs<F> {
    pub(crate) len: usize,
    pub(crate) at: F,
}

/// Query rows of one head dimension; row i sees the last `window` of the first `seen + i * step` positions.
#[derive(Clone, Copy)]
pub(crate) struct Queries<'a> {
    pub(crate) data: &'a [f32],
    pub(crate) row: usize,
    pub(crate) count: usize,
    pub(crate) seen: usize,
    pub(crate) step: usize,
    pub(crate) window: usize,
}

impl Queries<'_> {
    /// The position behind the last that any row sees.
    pub(crate) fn end(&self) -> usize {
        self.seen + (self.count - 1) * self.step
    }

    /// The position of the first column of scores.
    pub(crate) fn first(&self) -> usize {
        self.seen.saturating_sub(self.window) / LANES * LANES
    }

    /// Columns of a row of scores: whole vectors.
    pub(crate) fn width(&self) -> usize {
        (self.end() - self.first()).next_multiple_of(LANES)
    }

    /// The runs of `len` positions that hold the columns, with the part of each that is seen.
    pub(crate) fn parts(&self, len: usize) -> impl Iterator<Item = (usize, Range<usize>)> + use<> {
        let (first, end) = (self.first(), self.end());
        (first / len..end.div_ceil(len)).map(move |run| {
            let base = run * len;
            (run, first.max(base) - base..end.min(base + len) - base)
        })
    }
}

/// Fills `scores` with attention probabilities, `queries.count` rows of `queries.width()`.
pub(crate) fn probabilities<'a>(
    isa: Isa,
    dim: usize,
    queries: Queries,
    memory: &Runs<impl Fn(usize) -> HeadMemory<'a>>,
    scores: &mut Vec<f32>,
) {
    let (first, width) = (queries.first(), queries.width());
    let scores = room(scores, queries.count * width);
    let left = Left::rows(queries.data, queries.row);
    for (run, part) in queries.parts(memory.len) {
        let HeadMemory { keys, key_row, .. } = (memory.at)(run);
        let size = Size { m: queries.count, n: part.len().next_multiple_of(LANES), k: dim };
        let right = Right::rows(&keys[part.start..], key_row);
        let to = &mut scores[run * memory.len + part.start - first..];
        assert!((size.m - 1) * width + size.n <= to.len(), "attention: the scores do not fit");
        let to = Target { data: to.as_mut_ptr(), row: width };
        // SAFETY: the scores were found to fit, and are borrowed by this call alone.
        unsafe { gemm_into(isa, size, left, right, to, Start::Zero, Sum::over_head(dim)) };
    }
    let rows = &mut scores[..queries.count * width];
    softmax_rows(isa, rows, width, queries.seen - first, queries.step, queries.window);
}

/// Writes the attended value of each query row to `out`.
///
/// # Safety
/// `out` must be writable for `queries.count` rows of `dim` columns, by no one else now.
unsafe fn attend<'a>(
    isa: Isa,
    dim: usize,
    queries: Queries,
    memory: &Runs<impl Fn(usize) -> HeadMemory<'a>>,
    out: Target,
    scores: &mut Vec<f32>,
) {
    probabilities(isa, dim, queries, memory, scores);
    let (first, width) = (queries.first(), queries.width());
    let mut start = Start::Zero;
    for (run, part) in queries.parts(memory.len) {
        let HeadMemory { values, value_row, .. } = (memory.at)(run);
        let size = Size { m: queries.count, n: dim, k: part.len() };
        let left = Left::rows(&scores[run * memory.len + part.start - first..], width);
        let right = Right::rows(&values[part.start * value_row..], value_row);
        // SAFETY: promised by the caller.
        unsafe { gemm_into(isa, size, left, right, out, start, Sum::Chain) };
        start = Start::Resume;
    }
}

/// The query heads of key head `kv`, for `rows` consecutive positions of one sequence, the first at `start`. `qkv` and
/// `out` begin at the first row; `memory` gives keys and values of the key head, these rows included.
///
/// # Safety
/// `out` must be writable for `rows` rows in the columns of these heads, by no one else now.
pub(crate) unsafe fn attend_heads<'a>(
    isa: Isa,
    (config, layer, kv): (&DecoderConfig, usize, usize),
    (qkv, start, rows): (&[f32], usize, usize),
    memory: &Runs<impl Fn(usize) -> HeadMemory<'a>>,
    out: Target,
    scores: &mut Vec<f32>,
) {
    let (dim, width, group) = (config.head_dim(), config.qkv_width(), config.group());
    let window = config.window_of(layer).unwrap_or(usize::MAX);
    if rows == 1 {
        // One position: the heads of the group are the rows.
        let column = kv * group * dim;
        let data = &qkv[column..];
        let queries = Queries { data, row: dim, count: group, seen: start + 1, step: 0, window };
        let out = Target { row: dim, ..out.from(0, column) };
        // SAFETY: the heads of the group lie side by side in the promised row.
        return unsafe { attend(isa, dim, queries, memory, out, scores) };
    }
    for head in kv * group..(kv + 1) * group {
        for block in (0..rows).step_by(QUERY_BLOCK) {
            let queries = Queries {
                data: &qkv[block * width + head * dim..],
                row: width,
                count: QUERY_BLOCK.min(rows - block),
                seen: start + block + 1,
                step: 1,
                window,
            };
            // SAFETY: rows and columns of this block and head are among those promised.
            unsafe { attend(isa, dim, queries, memory, out.from(block, head * dim), scores) };
        }
    }
}

impl Device {
    /// Whether so many multiply-adds of attention are shared by threads.
    pub(crate) fn splits(&self, multiply_adds: usize) -> bool {
        self.workers().threads() > 1 && multiply_adds >= WORTH_SPLITTING
    }

    /// Calls `work(scratch, sequence, kv)` for every key head of every sequence, on the device's threads where
    /// `multiply_adds` are worth it.
    pub(crate) fn for_heads<T: Default + Send>(
        &self,
        multiply_adds: usize,
        (sequences, kv_heads): (usize, usize),
        spaces: &Scratch<T>,
        work: impl Fn(&mut T, usize, usize) + Sync,
    ) {
        let heads = (0..sequences).flat_map(|sequence| (0..kv_heads).map(move |kv| (sequence, kv)));
        if !self.splits(multiply_adds) {
            return spaces.lend(|space| heads.for_each(|(sequence, kv)| work(space, sequence, kv)));
        }
        let mut heads: Vec<_> = heads.collect();
        self.workers().for_each(&mut heads, |_, &mut (sequence, kv)| {
            spaces.lend(|space| work(space, sequence, kv));
        });
    }
}

/// Multiply-adds of attention for `rows` positions from `start` on.
pub(crate) fn multiply_adds(config: &DecoderConfig, layer: usize, start: usize, rows: usize) -> usize {
    let seen = (start + rows).min(config.window_of(layer).unwrap_or(usize::MAX));
    2 * rows * seen * config.attention_width()
}

/// At least `len` floats and the slack that products may read behind them; what is in them is left over.
pub fn room(buffer: &mut Vec<f32>, len: usize) -> &mut [f32] {
    let want = len + crate::gemm::SLACK;
    if buffer.len() < want {
        buffer.resize(want, 0.0);
    }
    buffer
}
