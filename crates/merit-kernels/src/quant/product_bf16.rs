//! Products with quantised matrices and activations in bf16: rounding the rows, and choosing between tiles and vectors.

// Hands raw pointers to the kernels, after checking the extents of rows and result.
#![allow(unsafe_code)]

use super::QuantMatrix;
use super::product::{RowTile, Strips, copy_rows, row_tiles, run_forms};
use super::sums::SumForms;
#[cfg(target_arch = "x86_64")]
use super::tiles;
use crate::gemm::Start;
use crate::isa::per_isa;
use crate::target::Target;
use crate::{Isa, Workers};
use std::cell::RefCell;

/// Inputs whose activations are summed for one lowest value.
const GROUP: usize = 32;
/// Rows of an AMX tile.
const TILE_ROWS: usize = 16;
/// Activations below 2^-100 count as zero: then no sum of products falls below the normal range, where units differ.
const SMALLEST: u32 = (127 - 100) << 23;

/// Rows in bf16, in the forms that the kernels read.
#[derive(Default)]
struct Rounded {
    /// Row-major, the numbers as f32.
    values: Vec<f32>,
    /// Tile after tile, `[input][row of the tile]`.
    columns: Vec<f32>,
    /// Row-major, the numbers as 16 bits.
    bits: Vec<u16>,
    /// Tile after tile, `[group][row of the tile]`.
    group_sums: Vec<f32>,
}

thread_local! {
    static ROUNDED: RefCell<Rounded> = RefCell::default();
}

impl QuantMatrix {
    /// Whether all parts have codes.
    pub(crate) fn has_codes(&self) -> bool {
        self.parts.iter().all(|part| part.encoding.block() > 1)
    }

    /// As `product`, with activations rounded to bf16; only where all parts have codes. `amx`: the unit is there and wanted.
    pub(crate) fn product_bf16(
        &self,
        (isa, workers, amx): (Isa, &Workers, bool),
        rows: usize,
        x: &[f32],
        out: &mut [f32],
        start: Start,
    ) {
        assert!(self.has_codes(), "plain numbers are multiplied in f32");
        let target = self.check(rows, x, out);
        let Some(part) = self.parts.first() else { return };
        let forms = SumForms::of(isa, part.encoding).expect("a part with codes").tiles;
        // Filling tiles takes as long as a few rows in vectors.
        let most = if amx { 4 } else { usize::MAX };
        let vectors = || forms.iter().map(|form| form.0).filter(move |height| *height <= most);
        let tiles = row_tiles(rows, self.inputs, || vectors().chain(amx.then_some(TILE_ROWS)));
        let mut rounded = ROUNDED.take();
        rounded.fill(isa, &x[..rows * self.inputs], self.inputs, &tiles, amx);
        let (rows_of, with) = (&rounded, (isa, amx));
        workers.for_each(&mut self.shares(workers, rows), |_, share| {
            // SAFETY: the result was found to fit, and no other share has these columns.
            unsafe { self.run_share(with, share.clone(), &tiles, rows_of, target, start) };
        });
        ROUNDED.set(rounded);
    }

    /// # Safety
    /// `out` has all rows and columns, and no other thread has those of these strips.
    unsafe fn run_share(
        &self,
        (isa, amx): (Isa, bool),
        share: std::ops::Range<usize>,
        tiles: &[RowTile],
        rounded: &Rounded,
        out: Target,
        start: Start,
    ) {
        #[cfg(target_arch = "x86_64")]
        let mut configured = tiles::Configured::default();
        self.for_panels(share, |strips| {
            let forms = SumForms::of(isa, strips.part.encoding).expect("a part with codes");
            for tile in tiles {
                let c = out.from(tile.first, strips.column);
                let group_sums = rounded.group_sums[tile.x / GROUP..].as_ptr();
                #[cfg(target_arch = "x86_64")]
                if amx && tile.height == TILE_ROWS {
                    configured.set(tile.rows, strips.part.group());
                    // SAFETY: `fill` has made bits and sums for these rows; the rest as the caller promised.
                    unsafe { run_amx(&strips, &forms, (tile, rounded, self.inputs), (c, group_sums), start) };
                    continue;
                }
                let x = if tiles.len() == 1 && tile.rows == 1 { &rounded.values } else { &rounded.columns };
                let x = x[tile.x..].as_ptr();
                // SAFETY: `fill` has made columns and sums for these rows; the rest as the caller promised.
                unsafe { run_forms(&strips, forms.tiles, tile, (x, group_sums), c, start) };
            }
        });
    }
}

#[cfg(target_arch = "x86_64")]
unsafe fn run_amx(
    strips: &Strips,
    forms: &SumForms,
    (rows, rounded, inputs): (&RowTile, &Rounded, usize),
    (c, group_sums): (Target, *const f32),
    start: Start,
) {
    let bits = &rounded.bits[rows.first * inputs..(rows.first + rows.rows) * inputs];
    let left = tiles::Left { data: bits.as_ptr(), row_bytes: 2 * inputs };
    let mut strip = strips.range.start;
    while strip < strips.range.end {
        let log = (strips.range.end - strip).ilog2().min(2);
        let tile = super::walk::Tile { group_sums, ..strips.tile(strip, 1 << log, rows, c, start) };
        // SAFETY: as the caller promised; tiles are configured for these rows and this group.
        unsafe { (forms.amx[log as usize])(&tile, &left) };
        strip += 1 << log;
    }
}

impl Rounded {
    fn fill(&mut self, isa: Isa, x: &[f32], inputs: usize, tiles: &[RowTile], amx: bool) {
        self.values.clear();
        self.values.extend_from_slice(x);
        round(isa, &mut self.values);
        // One row is its own column, and tiles of the unit read rows.
        let in_vectors = |tile: &RowTile| !(amx && tile.height == TILE_ROWS);
        if x.len() > inputs && tiles.iter().any(in_vectors) {
            copy_rows(isa, &self.values, (inputs, inputs), tiles, &mut self.columns);
        }
        if amx {
            self.bits.resize(self.bits.len().max(x.len()), 0);
            let bits = self.bits.iter_mut().zip(&self.values);
            bits.for_each(|(bits, value)| *bits = (value.to_bits() >> 16) as u16);
        }
        let groups = inputs / GROUP;
        let len = tiles.last().map_or(0, |tile| (tile.x + tile.height * inputs) / GROUP);
        self.group_sums.resize(self.group_sums.len().max(len), 0.0);
        for tile in tiles {
            let sums = &mut self.group_sums[tile.x / GROUP..][..groups * tile.height];
            for row in 0..tile.rows {
                let first = (tile.first + row) * inputs;
                let values = self.values[first..first + inputs].as_chunks::<GROUP>().0;
                let to = sums[row..].iter_mut().step_by(tile.height);
                values.iter().zip(to).for_each(|(values, sum)| *sum = tree_sum(values));
            }
        }
    }
}

/// Halves onto each other until one number is left.
fn tree_sum(values: &[f32; GROUP]) -> f32 {
    let mut sums = *values;
    for width in [16, 8, 4, 2, 1] {
        for i in 0..width {
            sums[i] += sums[i + width];
        }
    }
    sums[0]
}

per_isa! {
    /// To the nearest numbers of bfloat16, ties to even.
    fn round(values: &mut [f32]) {
        for value in values {
            let bits = value.to_bits();
            let magnitude = bits & 0x7fff_ffff;
            let nearest = (bits.wrapping_add(0x7fff + (bits >> 16 & 1))) & 0xffff_0000;
            let number = if magnitude > 0x7f80_0000 { bits | 0x0040_0000 } else { nearest };
            *value = f32::from_bits(if magnitude < SMALLEST { 0 } else { number & 0xffff_0000 });
        }
    }
}
