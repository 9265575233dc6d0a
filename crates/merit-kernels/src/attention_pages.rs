//! Attention of new positions over keys and values that lie in pages of a fixed number of positions.
//!
//! In: rows `q | k | v` of new positions, and the pages of their sequences, these positions written. Out: rows of attended
//! values. The pages of one sequence may lie anywhere and be shared with others.

// Lets threads write different parts of one result.
#![allow(unsafe_code)]

use crate::attention::{Queries, Runs, attend_heads, multiply_adds, room};
use crate::attention_whole::AttentionSpaces;
use crate::page::{PAGE, PageData, PageLayout};
use crate::softmax::softmax_rows;
use crate::target::Target;
use crate::{Device, Precision};
use merit_formats::DecoderConfig;

/// New positions of one sequence, and the pages that hold it from its first position on, the new ones included.
#[derive(Debug, Clone, Copy)]
pub struct Reading<'a> {
    /// Page i holds positions from `i * PAGE` on.
    pub pages: &'a [&'a PageData],
    /// The first new position.
    pub start: usize,
    /// How many are new; at least one.
    pub rows: usize,
}

impl Device {
    /// Attends from the new rows of each sequence, which lie one behind the other in `qkv` and `out`.
    pub fn attend_pages(
        &self,
        (config, layer, layout): (&DecoderConfig, usize, PageLayout),
        readings: &[Reading],
        qkv: &[f32],
        out: &mut [f32],
        spaces: &AttentionSpaces,
    ) {
        let (width, out_width) = (config.qkv_width(), config.attention_width());
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
            let (qkv, out) = (&qkv[first * width..], target.from(first, 0));
            #[cfg(target_arch = "x86_64")]
            if rows == 1 && self.isa().kind() == crate::isa::Kind::Avx512 {
                let one = One { isa: self.isa(), config, layout, layer, readings, index, kv };
                // SAFETY: as below, for one row.
                return unsafe {
                    match layout.precision() {
                        Precision::F32 => one.attend::<f32>(qkv, out, &mut space.scores),
                        Precision::Bf16 => one.attend::<u16>(qkv, out, &mut space.scores),
                    }
                };
            }
            let (isa, head, rows) = (self.isa(), (config, layer, kv), (qkv, start, rows));
            // SAFETY: all rows were found to fit; no other piece has the rows of this sequence in these columns.
            unsafe {
                match layout.precision() {
                    Precision::F32 => {
                        let at = |page: usize| layout.memory(layout.head(pages[page], (layer, kv)));
                        attend_heads(isa, head, rows, &Runs { len: PAGE, at }, out, &mut space.scores);
                    }
                    Precision::Bf16 => {
                        layout.widen(pages, (layer, kv), &mut space.keys);
                        let at = |page: usize| layout.widened(&space.keys, page);
                        attend_heads(isa, head, rows, &Runs { len: PAGE, at }, out, &mut space.scores);
                    }
                }
            };
        });
    }
}

/// One position of one key head, over its pages.
#[cfg(target_arch = "x86_64")]
struct One<'a> {
    isa: crate::Isa,
    config: &'a DecoderConfig,
    layout: PageLayout,
    layer: usize,
    readings: &'a [Reading<'a>],
    index: usize,
    kv: usize,
}

#[cfg(target_arch = "x86_64")]
impl One<'_> {
    /// From and to the row of this sequence.
    ///
    /// # Safety
    /// The processor has AVX-512; `out` is writable in the columns of the query heads, by no one else now.
    unsafe fn attend<T: crate::attention_x86::Vector>(
        &self,
        qkv: &[f32],
        out: Target,
        scores: &mut Vec<f32>,
    ) {
        use crate::attention_x86::{Ahead, few_rows};
        use crate::gemm::Sum;
        use crate::tile::Join;
        let (config, layout) = (self.config, self.layout);
        let (dim, group, value_row) = (config.head_dim(), config.group(), layout.value_row());
        let column = self.kv * group * dim;
        let Reading { pages, start, .. } = self.readings[self.index];
        let window = config.window_of(self.layer).unwrap_or(usize::MAX);
        let data = &qkv[column..];
        let queries = Queries { data, row: dim, count: group, seen: start + 1, step: 0, window };
        let head = |run: usize| layout.head::<T>(pages[run], (self.layer, self.kv));
        let (first, width, count) = (queries.first(), queries.width(), queries.count);
        let scores = room(scores, count * width);
        for (run, part) in queries.parts(PAGE) {
            let (keys, values) = head(run);
            let wide = part.len().next_multiple_of(16);
            // As many vectors of values follow as there are of keys.
            let data = values[part.start * value_row..].as_ptr();
            let ahead = Ahead { data, row: wide, vectors: wide / 16 };
            let size = (count, wide, dim);
            let to = scores[run * PAGE + part.start - first..].as_mut_ptr();
            let (left, right) = ((queries.data, queries.row), (&keys[part.start..], PAGE));
            // SAFETY: `room` holds all rows of scores.
            unsafe { few_rows(size, left, right, (to, width), (Join::Replace, Sum::over_head(dim)), ahead) };
        }
        let rows = &mut scores[..count * width];
        softmax_rows(self.isa, rows, width, queries.seen - first, queries.step, queries.window);
        let out = out.from(0, column);
        for (index, (run, part)) in queries.parts(PAGE).enumerate() {
            let (_, values) = head(run);
            let ahead = self.next_keys::<T>(run).map_or(Ahead::NOTHING, |keys| Ahead {
                data: keys[part.start..].as_ptr(),
                row: PAGE,
                vectors: part.len().div_ceil(16),
            });
            let join = if index == 0 { Join::Replace } else { Join::Resume };
            let left = (&scores[run * PAGE + part.start - first..], width);
            let right = (&values[part.start * value_row..], value_row);
            let size = (count, dim, part.len());
            // SAFETY: promised by the caller; the heads of the group lie side by side.
            unsafe { few_rows(size, left, right, (out.data, dim), (join, Sum::Chain), ahead) };
        }
    }

    /// The keys in the same page of the key head that comes next.
    fn next_keys<T: crate::page::Cell>(&self, page: usize) -> Option<&[T]> {
        let last = self.kv + 1 == self.config.kv_heads;
        let (index, kv) = if last { (self.index + 1, 0) } else { (self.index, self.kv + 1) };
        let page = self.readings.get(index)?.pages.get(page)?;
        Some(self.layout.head(page, (self.layer, kv)).0)
    }
}
