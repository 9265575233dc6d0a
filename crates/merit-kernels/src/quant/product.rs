//! Products with quantised matrices: rows cut into tiles, columns shared out among threads, single rows of weights read back.

// Hands raw pointers to the kernels, after checking the extents of rows and result.
#![allow(unsafe_code)]

use super::QuantMatrix;
use super::kernel::{Form, Forms};
use super::lanes::LANES;
use super::repack::Panels;
use super::transpose::transpose_simd;
use super::walk::{MOST_STRIPS, Tile};
use crate::gemm::{Start, Sum};
use crate::target::Target;
use crate::{Isa, Workers};
use std::cell::RefCell;
use std::ops::Range;

/// Multiply-adds below which a product is not worth a second thread.
const WORTH_SPLITTING: usize = 100_000;

thread_local! {
    static COPIES: RefCell<Vec<f32>> = const { RefCell::new(Vec::new()) };
}

/// Rows that are computed together, and where their copy of the activations begins.
#[derive(Clone, Copy)]
pub(super) struct RowTile {
    pub(super) first: usize,
    pub(super) rows: usize,
    pub(super) height: usize,
    pub(super) x: usize,
}

/// Strips of one panel.
pub(super) struct Strips<'a> {
    pub(super) part: &'a Panels,
    pub(super) range: Range<usize>,
    /// The first one's first column in the result.
    pub(super) column: usize,
}

impl QuantMatrix {
    /// `out (+)= x w` for `rows` rows of `x`, each element added over the inputs in the order of `gemm`.
    pub(crate) fn product(
        &self,
        (isa, workers): (Isa, &Workers),
        rows: usize,
        x: &[f32],
        out: &mut [f32],
        start: Start,
    ) {
        let target = self.check(rows, x, out);
        let Some(part) = self.parts.first() else { return };
        // All encodings have tiles of the same heights.
        let heights = || Forms::of(isa, part.encoding).tiles.iter().map(|form| form.0);
        let tiles = row_tiles(rows, self.depth(), heights);
        // Taken, not borrowed: while it waits for the others, a thread may begin another product.
        let mut copies = COPIES.take();
        let x = if rows == 1 && self.depth() == self.inputs {
            x
        } else {
            copy_rows(isa, x, (self.inputs, self.depth()), &tiles, &mut copies)
        };
        workers.for_each(&mut self.shares(workers, rows), |_, share| {
            self.for_panels(share.clone(), |strips| {
                let forms = Forms::of(isa, strips.part.encoding).tiles;
                for tile in &tiles {
                    let x = &x[tile.x..];
                    assert!(
                        x.len() >= strips.part.depth() * tile.height,
                        "product: copied rows are too short"
                    );
                    let c = target.from(tile.first, strips.column);
                    // SAFETY: `x` is the copy of these rows, the result was found to fit, and no other share has its columns.
                    unsafe { run_forms(&strips, forms, tile, (x.as_ptr(), std::ptr::null()), c, start) };
                }
            });
        });
        COPIES.set(copies);
    }

    /// The result as a target, after checking that rows and result are there.
    pub(super) fn check(&self, rows: usize, x: &[f32], out: &mut [f32]) -> Target {
        assert!(x.len() >= rows * self.inputs, "product: the activations are too short");
        assert!(out.len() >= rows * self.outputs, "product: the result does not fit");
        Target { data: out.as_mut_ptr(), row: self.outputs }
    }

    /// Inputs with those that fill up the last block.
    pub(super) fn depth(&self) -> usize {
        self.parts.iter().map(Panels::depth).max().unwrap_or(self.inputs)
    }

    /// Contiguous runs of strips, one for each thread.
    pub(super) fn shares(&self, workers: &Workers, rows: usize) -> Vec<Range<usize>> {
        let strips: usize = self.parts.iter().map(Panels::strips).sum();
        let worth = rows * self.inputs * self.outputs >= WORTH_SPLITTING;
        let count = if worth { workers.threads().clamp(1, strips.max(1)) } else { 1 };
        (0..count).map(|share| share * strips / count..(share + 1) * strips / count).collect()
    }

    /// Calls `work` with the strips of a share, panel by panel.
    pub(super) fn for_panels(&self, share: Range<usize>, mut work: impl FnMut(Strips)) {
        let (mut first_strip, mut first_column) = (0, 0);
        for part in &self.parts {
            let in_part = |strip: usize| strip.clamp(first_strip, first_strip + part.strips()) - first_strip;
            let (mut strip, end) = (in_part(share.start), in_part(share.end));
            while strip < end {
                let past = end.min(strip - strip % MOST_STRIPS + MOST_STRIPS);
                work(Strips { part, range: strip..past, column: first_column + strip * LANES });
                strip = past;
            }
            first_strip += part.strips();
            first_column += part.outputs;
        }
    }

    /// Writes the weights of one output into `to`, which has as many places as there are inputs.
    pub(crate) fn read_output(&self, isa: Isa, output: usize, to: &mut [f32]) {
        assert!(output < self.outputs && to.len() == self.inputs, "no such row of weights");
        let mut column = output;
        let part = self.parts.iter().find(|part| {
            let inside = column < part.outputs;
            column -= if inside { 0 } else { part.outputs };
            inside
        });
        let part = part.expect("the parts have as many outputs as the matrix");
        let mut expanded = COPIES.take();
        expanded.resize(expanded.len().max(part.depth() * LANES), 0.0);
        // SAFETY: the strip lies in its panel, and the copy has sixteen places for each input of its blocks.
        unsafe {
            (Forms::of(isa, part.encoding).expand)(&part.tile(column / LANES), expanded.as_mut_ptr());
        }
        let lanes = expanded.chunks_exact(LANES);
        to.iter_mut().zip(lanes).for_each(|(value, lanes)| *value = lanes[column % LANES]);
        COPIES.set(expanded);
    }
}

/// Tiles of the tallest form, then the lowest that holds the rest.
pub(super) fn row_tiles<I: Iterator<Item = usize>>(
    rows: usize,
    depth: usize,
    heights: impl Fn() -> I,
) -> Vec<RowTile> {
    let tallest = heights().max().unwrap_or(1);
    let (mut tiles, mut first, mut x) = (Vec::with_capacity(rows.div_ceil(tallest)), 0, 0);
    while first < rows {
        let rest = (rows - first).min(tallest);
        let height = heights().find(|&height| height >= rest).unwrap_or(tallest);
        tiles.push(RowTile { first, rows: rest, height, x });
        first += rest;
        x += depth * height;
    }
    tiles
}

/// Tile after tile, `[input][row of the tile]`, filled up with zeros.
pub(super) fn copy_rows<'a>(
    isa: Isa,
    x: &[f32],
    (inputs, depth): (usize, usize),
    tiles: &[RowTile],
    to: &'a mut Vec<f32>,
) -> &'a [f32] {
    let len = tiles.last().map_or(0, |tile| tile.x + depth * tile.height);
    to.resize(to.len().max(len), 0.0);
    for tile in tiles {
        let copy = &mut to[tile.x..tile.x + depth * tile.height];
        if tile.rows < tile.height || inputs < depth {
            copy.fill(0.0);
        }
        let rows = &x[tile.first * inputs..(tile.first + tile.rows) * inputs];
        transpose_simd(isa, rows, tile.rows, inputs, copy, tile.height);
    }
    &to[..len]
}

/// One tile of rows by strips of one panel.
///
/// # Safety
/// `x` and, where the forms read them, the sums of groups are those of the tile's rows; `c` is the place of the first row and
/// strip in a result that has all of them; the forms are those of a detected instruction set.
pub(super) unsafe fn run_forms(
    strips: &Strips,
    forms: &[Form],
    rows: &RowTile,
    (x, group_sums): (*const f32, *const f32),
    c: Target,
    start: Start,
) {
    let form = forms.iter().find(|form| form.0 == rows.height);
    let (_, widths) = form.expect("row tiles have heights of forms");
    let mut strip = strips.range.start;
    while strip < strips.range.end {
        let fits = |log: &usize| strip + (1 << log) <= strips.range.end && widths[*log].is_some();
        let log = (0..widths.len()).rev().find(fits).unwrap_or(0);
        let run = widths[log].expect("each height has a tile of one strip");
        let tile = Tile { x, group_sums, ..strips.tile(strip, 1 << log, rows, c, start) };
        // SAFETY: as the caller promised.
        unsafe { run(&tile) };
        strip += 1 << log;
    }
}

impl Strips<'_> {
    /// A tile of these rows and `width` strips, where `c` is the place of the first row and of the first strip of all.
    pub(super) fn tile(&self, strip: usize, width: usize, rows: &RowTile, c: Target, start: Start) -> Tile {
        Tile {
            c: c.from(0, (strip - self.range.start) * LANES).data,
            c_row: c.row,
            rows: rows.rows,
            columns: (width * LANES).min(self.part.outputs - strip * LANES),
            resume: start == Start::Resume,
            // A depth that is filled up to whole blocks is long exactly where its inputs are.
            sum: Sum::over(self.part.depth()),
            ..self.part.tile(strip)
        }
    }
}
