//! Attention of new positions over keys and values that lie in pages of a fixed number of positions.
//!
//! In: rows `q | k | v` of new positions, and the pages of their sequences, these positions written. Out: rows of attended
//! values. The pages of one sequence may lie anywhere and be shared with others.

// Lets threads write different parts of one result.
#![allow(unsafe_code)]

use crate::Device;
use crate::attention::{HeadMemory, Queries, Runs, attend_heads, multiply_adds, room};
use crate::attention_whole::AttentionSpaces;
use crate::target::Target;
use merit_formats::DecoderConfig;

/// Positions of one page.
pub const PAGE: usize = 64;

/// Where a page keeps what: per layer and key head, keys by dimension, then values by position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageLayout {
    layers: usize,
    kv_heads: usize,
    dim: usize,
    /// `dim` rounded up to whole vectors.
    value_row: usize,
}

impl PageLayout {
    /// The pages of this decoder.
    pub fn of(config: &DecoderConfig) -> Self {
        let dim = config.head_dim();
        Self { layers: config.layers, kv_heads: config.kv_heads, dim, value_row: dim.next_multiple_of(16) }
    }

    /// Floats of one page.
    pub fn floats(&self) -> usize {
        self.layers * self.kv_heads * self.head_floats()
    }

    fn head_floats(&self) -> usize {
        PAGE * (self.dim + self.value_row)
    }

    fn head<'a>(&self, page: &'a [f32], layer: usize, kv: usize) -> HeadMemory<'a> {
        let at = (layer * self.kv_heads + kv) * self.head_floats();
        let (keys, values) = page[at..at + self.head_floats()].split_at(PAGE * self.dim);
        HeadMemory { keys, key_row: PAGE, values, value_row: self.value_row }
    }

    /// Says that position `slot` of a page will be stored soon.
    pub fn expect(&self, page: &[f32], layer: usize, slot: usize) {
        #[cfg(target_arch = "x86_64")]
        for kv in 0..self.kv_heads {
            let head = self.head(page, layer, kv);
            crate::attention_x86::ask_for(&head.keys[slot..], self.dim, PAGE);
            let values = &head.values[slot * self.value_row..];
            crate::attention_x86::ask_for(values, self.value_row.div_ceil(16), 16);
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = (page, layer, slot);
    }

    /// Stores position `slot` of a page in one layer; `keys` and `values` hold all heads.
    pub fn write(&self, page: &mut [f32], layer: usize, slot: usize, keys: &[f32], values: &[f32]) {
        let (heads, floats) = (self.kv_heads * self.head_floats(), self.head_floats());
        let layer = &mut page[layer * heads..(layer + 1) * heads];
        let rows = keys.chunks_exact(self.dim).zip(values.chunks_exact(self.dim));
        for (head, (keys, values)) in layer.chunks_exact_mut(floats).zip(rows) {
            let (to_keys, to_values) = head.split_at_mut(PAGE * self.dim);
            for (line, &key) in to_keys.chunks_exact_mut(PAGE).zip(keys) {
                line[slot] = key;
            }
            to_values[slot * self.value_row..][..self.dim].copy_from_slice(values);
        }
    }
}

/// New positions of one sequence, and the pages that hold it from its first position on, the new ones included.
#[derive(Debug, Clone, Copy)]
pub struct Reading<'a> {
    /// Page i holds positions from `i * PAGE` on.
    pub pages: &'a [&'a [f32]],
    /// The first new position.
    pub start: usize,
    /// How many are new; at least one.
    pub rows: usize,
}

impl Device {
    /// Attends from the new rows of each sequence, which lie one behind the other in `qkv` and `out`.
    pub fn attend_pages(
        &self,
        (config, layer): (&DecoderConfig, usize),
        readings: &[Reading],
        qkv: &[f32],
        out: &mut [f32],
        spaces: &AttentionSpaces,
    ) {
        let (width, out_width, layout) =
            (config.qkv_width(), config.attention_width(), PageLayout::of(config));
        let mut total = 0;
        let mut firsts = Vec::with_capacity(readings.len());
        for reading in readings {
            firsts.push(total);
            total += reading.rows;
        }
        assert!(total * out_width <= out.len(), "attention: the result does not fit");
        let target = Target { data: out.as_mut_ptr(), row: out_width };
        let work = readings.iter().map(|r| multiply_adds(config, layer, r.start, r.rows)).sum();
        self.for_heads(work, (readings.len(), config.kv_heads), spaces, |space, index, kv| {
            let (Reading { pages, start, rows }, first) = (readings[index], firsts[index]);
            let memory = Runs { len: PAGE, at: |page: usize| layout.head(pages[page], layer, kv) };
            #[cfg(target_arch = "x86_64")]
            if rows == 1 && self.isa().kind() == crate::isa::Kind::Avx512 {
                let (next, next_kv) = if kv + 1 < config.kv_heads { (index, kv + 1) } else { (index + 1, 0) };
                let next = |page: usize| {
                    let page = readings.get(next).and_then(|reading| reading.pages.get(page))?;
                    Some(layout.head(page, layer, next_kv))
                };
                let (dim, group) = (config.head_dim(), config.group());
                let column = kv * group * dim;
                let data = &qkv[first * width + column..];
                let window = config.window_of(layer).unwrap_or(usize::MAX);
                let queries = Queries { data, row: dim, count: group, seen: start + 1, step: 0, window };
                let out = target.from(first, column);
                // SAFETY: as below; the heads of the group lie side by side in this row.
                return unsafe {
                    attend_one(self.isa(), dim, queries, (&memory, next), out, &mut space.scores)
                };
            }
            let (head, rows) = ((config, layer, kv), (&qkv[first * width..], start, rows));
            // SAFETY: all rows were found to fit; no other piece has the rows of this sequence in these columns.
            unsafe {
                attend_heads(self.isa(), head, rows, &memory, target.from(first, 0), &mut space.scores)
            };
        });
    }
}

/// One position of one key head, over its pages; `next` gives the pages of the key head that comes next.
///
/// # Safety
/// The processor has AVX-512; `out` is writable for the query heads, side by side, by no one else now.
#[cfg(target_arch = "x86_64")]
unsafe fn attend_one<'a>(
    isa: crate::Isa,
    dim: usize,
    queries: Queries,
    (memory, next): (&Runs<impl Fn(usize) -> HeadMemory<'a>>, impl Fn(usize) -> Option<HeadMemory<'a>>),
    out: Target,
    scores: &mut Vec<f32>,
) {
    use crate::attention_x86::{Ahead, few_rows};
    use crate::gemm::Sum;
    use crate::tile::Join;
    let (first, width, count) = (queries.first(), queries.width(), queries.count);
    let scores = room(scores, count * width);
    for (run, part) in queries.parts(PAGE) {
        let HeadMemory { keys, values, value_row, .. } = (memory.at)(run);
        let wide = part.len().next_multiple_of(16);
        // As many vectors of values follow as there are of keys.
        let ahead = Ahead { data: values[part.start * value_row..].as_ptr(), row: wide, vectors: wide / 16 };
        let size = (count, wide, dim);
        let to = scores[run * PAGE + part.start - first..].as_mut_ptr();
        let (left, right) = ((queries.data, queries.row), (&keys[part.start..], PAGE));
        // SAFETY: `room` holds all rows of scores.
        unsafe { few_rows(size, left, right, (to, width), (Join::Replace, Sum::over_head(dim)), ahead) };
    }
    let rows = &mut scores[..count * width];
    crate::softmax::softmax_rows(isa, rows, width, queries.seen - first, queries.step, queries.window);
    for (index, (run, part)) in queries.parts(PAGE).enumerate() {
        let HeadMemory { values, value_row, .. } = (memory.at)(run);
        let ahead = next(run).map_or(Ahead::NOTHING, |next| Ahead {
            data: next.keys[part.start..].as_ptr(),
            row: PAGE,
            vectors: part.len().div_ceil(16),
        });
        let join = if index == 0 { Join::Replace } else { Join::Resume };
        let left = (&scores[run * PAGE + part.start - first..], width);
        let right = (&values[part.start * value_row..], value_row);
        // SAFETY: promised by the caller.
        unsafe {
            few_rows((count, dim, part.len()), left, right, (out.data, dim), (join, Sum::Chain), ahead)
        };
    }
}
