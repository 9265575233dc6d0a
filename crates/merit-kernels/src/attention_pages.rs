//! Attention of new positions over keys and values that lie in pages of a fixed number of positions.
//!
//! In: rows `q | k | v` of new positions, and the pages of their sequences, these positions written. Out: rows of attended
//! values. The pages of one sequence may lie anywhere and be shared with others.

// Lets threads write different parts of one result.
#![allow(unsafe_code)]

use crate::attention::{Runs, attend_heads, multiply_adds};
use crate::attention_whole::AttentionSpaces;
use crate::page::{PAGE, PageData, PageLayout};
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
        // One thread takes all heads of a sequence together; several share them.
        let together = if self.splits(work) { 1 } else { config.kv_heads };
        let units = (readings.len(), config.kv_heads / together);
        self.for_heads(work, units, spaces, |space, index, unit| {
            let heads = unit * together..(unit + 1) * together;
            let (Reading { pages, start, rows }, first) = (readings[index], firsts[index]);
            let (qkv, out) = (&qkv[first * width..], target.from(first, 0));
            #[cfg(target_arch = "x86_64")]
            if rows == 1 && self.isa().kind() == crate::isa::Kind::Avx512 {
                let one = crate::attention_one_x86::One { config, layout, layer, readings, index, heads };
                // SAFETY: as below, for one row.
                return unsafe {
                    match layout.precision() {
                        Precision::F32 => one.attend::<f32>(qkv, out, &mut space.scores),
                        Precision::Bf16 => one.attend::<u32>(qkv, out, &mut space.scores),
                    }
                };
            }
            for kv in heads {
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
                }
            }
        });
    }
}
