//! Products across the rows of both sides, `xᵀ y`: the gradients of weights, each element one chain over the rows.

// Hands raw pointers to the register tiles, after checking the extents of all three matrices.
#![allow(unsafe_code)]

use super::Isa;
use super::gemm::{DEPTH, Heights, Left, LeftLayout, PANEL, Right, Size, Start, Sum, gemm_into, one_depth};
use super::tile::{Join, LANES, Tile, Tiles};
use crate::target::Target;
use std::cell::RefCell;

/// Results of fewer elements are computed without copies.
const WORTH_COPYING: usize = 1 << 17;
/// Columns of a right matrix that are copied together.
const ACROSS: usize = 512;

/// `c += xᵀ y` for row-major `x` (`k × m`) and `y` (`k × n`, readable `SLACK` further) with row strides of their own, both read
/// across their rows, into part of a result that other threads write other parts of.
///
/// Long strides are hard on the caches, so for large results each depth of both sides is first copied straight.
///
/// # Safety
/// `c` must be writable for `m` rows of `n` columns, by no one else now.
pub(crate) unsafe fn gemm_across_into(
    isa: Isa,
    size: Size,
    (x, x_row): (&[f32], usize),
    (y, y_row): (&[f32], usize),
    c: Target,
) {
    let Size { m, n, k } = size;
    if m == 0 || n == 0 || k == 0 {
        return;
    }
    if m * n < WORTH_COPYING {
        // SAFETY: the caller's promise.
        return unsafe {
            gemm_into(isa, size, Left::columns(x, x_row), Right::rows(y, y_row), c, Start::Resume, Sum::Chain)
        };
    }
    let long_enough = x.len() >= (k - 1) * x_row + m && y.len() >= (k - 1) * y_row + n;
    assert!(long_enough, "product: an input is too short");
    let tiles = Tiles::of(isa);
    let heights = Heights::new(m, tiles.forms.len());
    COPIES.with_borrow_mut(|(left, right)| {
        for k0 in (0..k).step_by(DEPTH) {
            let depth = DEPTH.min(k - k0);
            copy_left(Rows { data: &x[k0 * x_row..], row: x_row, count: depth }, m, heights, left);
            for n0 in (0..n).step_by(ACROSS) {
                let width = ACROSS.min(n - n0);
                let lines = Rows { data: &y[k0 * y_row..], row: y_row, count: depth };
                copy_right(lines, n0..n0 + width, right);
                let tile = Tile {
                    k: depth,
                    a: left.as_ptr(),
                    a_row: 1,
                    a_step: 0,
                    b: right.as_ptr(),
                    b_row: PANEL,
                    c: c.from(0, n0).data,
                    c_row: c.row,
                    join: Join::Resume,
                };
                // SAFETY: the copies hold `depth` steps of all tiles and panels; `c` is promised.
                unsafe { one_depth(&tiles, tile, (m, width), depth * PANEL, LeftLayout::Tiles, Sum::Chain) };
            }
        }
    });
}

/// Rows of a matrix with a stride.
#[derive(Clone, Copy)]
struct Rows<'a> {
    data: &'a [f32],
    row: usize,
    count: usize,
}

impl<'a> Rows<'a> {
    fn iter(self) -> impl Iterator<Item = &'a [f32]> {
        (0..self.count).map(move |row| &self.data[row * self.row..])
    }
}

thread_local! {
    static COPIES: RefCell<(Vec<f32>, Vec<f32>)> = const { RefCell::new((Vec::new(), Vec::new())) };
}

/// Tile by tile, `[k][rows of the tile]`. Sixteen floats are copied for each line of up to fourteen: the next line, or the
/// slack behind the last, takes the surplus.
fn copy_left(x: Rows, m: usize, heights: Heights, to: &mut Vec<f32>) {
    to.resize(to.len().max(x.count * m + LANES), 0.0);
    let mut at = 0;
    for tile in 0..heights.tiles {
        let (first, past) = (heights.first_row(tile), heights.first_row(tile + 1));
        let rows = past - first;
        let copied = if first + LANES <= m { LANES } else { rows };
        for line in x.iter() {
            if copied == LANES {
                to[at..at + LANES].copy_from_slice(&line[first..first + LANES]);
            } else {
                to[at..at + rows].copy_from_slice(&line[first..past]);
            }
            at += rows;
        }
    }
}

/// Panel by panel, `[k][32]`; columns behind the last are left over.
fn copy_right(y: Rows, columns: std::ops::Range<usize>, to: &mut Vec<f32>) {
    let len = y.count * columns.len().next_multiple_of(PANEL);
    to.resize(to.len().max(len), 0.0);
    for (first, panel) in columns.clone().step_by(PANEL).zip(to.chunks_exact_mut(y.count * PANEL)) {
        let width = PANEL.min(columns.end - first);
        let lines = y.iter().zip(panel.as_chunks_mut::<PANEL>().0);
        if width == PANEL {
            lines.for_each(|(line, to)| to.copy_from_slice(&line[first..first + PANEL]));
        } else {
            lines.for_each(|(line, to)| to[..width].copy_from_slice(&line[first..first + width]));
        }
    }
}
