//! Matrix products whose every element is one sequential chain of fused multiply-adds over k = 0..K, or a sum of chains over
//! 32 of them where weights are multiplied and K is long.
//!
//! In: a strided left matrix, a right matrix in panels of 32 columns. Out: `c = a b` or `c += a b`. Tiling over rows and
//! columns, and blocking over k with the sums kept in `c`, leave the order of each element's additions as it is; so a row of
//! the result has the same bits whether it was computed alone or among a thousand.

// Hands raw pointers to the register tiles, after checking the extents of all three matrices.
#![allow(unsafe_code)]

use super::Isa;
use super::tile::{Join, LANES, Tile, TileFn, Tiles};
use crate::target::Target;

/// Columns of a panel of the right matrix.
pub const PANEL: usize = 32;
/// Floats that may be read behind the last column of a right matrix: allocate this much more.
pub const SLACK: usize = PANEL;
/// Depth of one pass over k: the rows of a tile and 32 columns of this depth stay in the first-level cache.
pub(crate) const DEPTH: usize = 256;
/// Columns that are finished for the rows of a tile before the next rows begin: long runs of a row are written at once,
/// and as many columns of one depth stay in the second-level cache.
const GROUP: usize = 512;
const WIDEST: usize = 14 * PANEL;

/// `a[m, k] = data[m * row + k * step]`.
#[derive(Clone, Copy)]
pub struct Left<'a> {
    /// All elements, from the first on.
    pub data: &'a [f32],
    /// Floats from one row to the next.
    pub row: usize,
    /// Floats from one step of the sum to the next.
    pub step: usize,
}

impl<'a> Left<'a> {
    /// A row-major matrix.
    pub fn rows(data: &'a [f32], row: usize) -> Self {
        Self { data, row, step: 1 }
    }

    /// The transpose of a row-major matrix.
    pub fn columns(data: &'a [f32], row: usize) -> Self {
        Self { data, row: 1, step: row }
    }
}

/// `b[k, n] = data[(n / 32) * panel + k * row + n % 32]`; columns are read in sixteens, so what lies behind the last
/// column must be readable (its values do not matter).
#[derive(Clone, Copy)]
pub struct Right<'a> {
    /// All elements, from the first on.
    pub data: &'a [f32],
    /// Floats from one step of the sum to the next.
    pub row: usize,
    /// Floats from one panel to the next.
    pub panel: usize,
}

impl<'a> Right<'a> {
    /// A row-major matrix read in place.
    pub fn rows(data: &'a [f32], row: usize) -> Self {
        Self { data, row, panel: PANEL }
    }
}

/// What a product does to the memory it lands in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// `c = a b`
    Zero,
    /// `c += a b`: the chain of each element starts from the value in `c`.
    Resume,
}

/// In which order the products of an element are added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sum {
    /// One on the end of the other, over all of k: sums may be interrupted and go on.
    Chain,
    /// Chains of `PIECE` from zero, one after the other added to the sum: over long sums the rounding errors stay small.
    Pieces,
}

/// Products in one piece of a long sum; the groups of quantised weights are no longer.
pub(crate) const PIECE: usize = 32;
/// Sums of more products are added in pieces.
const LONG: usize = 512;
/// Scores of wider heads are added in pieces.
const WIDE_HEAD: usize = 128;

impl Sum {
    /// The order for a product with weights over `k` inputs.
    pub(crate) fn over(k: usize) -> Self {
        if k > LONG { Self::Pieces } else { Self::Chain }
    }

    /// The order for the product of a query and a key of `dim` numbers.
    pub(crate) fn over_head(dim: usize) -> Self {
        if dim > WIDE_HEAD { Self::Pieces } else { Self::Chain }
    }
}

/// The sizes of a product: `c` is `m × n`, the sum runs over `k`.
#[derive(Clone, Copy)]
pub struct Size {
    /// Rows of the result.
    pub m: usize,
    /// Columns of the result.
    pub n: usize,
    /// Length of the sum.
    pub k: usize,
}

/// Computes the product into the row-major `c` with row stride `c_row`.
pub fn gemm(isa: Isa, size: Size, a: Left, b: Right, c: &mut [f32], c_row: usize, start: Start) {
    let Size { m, n, .. } = size;
    if m == 0 || n == 0 {
        return;
    }
    assert!((m - 1) * c_row + n <= c.len(), "product: the result does not fit");
    // SAFETY: the result was found to fit, and is borrowed by this call alone.
    unsafe { gemm_into(isa, size, a, b, Target { data: c.as_mut_ptr(), row: c_row }, start, Sum::Chain) };
}

/// The same into part of a result that other threads write other parts of.
///
/// # Safety
/// `c` must be writable for `m` rows of `n` columns, by no one else now.
pub(crate) unsafe fn gemm_into(isa: Isa, size: Size, a: Left, b: Right, c: Target, start: Start, sum: Sum) {
    let Size { m, n, k } = size;
    if m == 0 || n == 0 {
        return;
    }
    if k == 0 && start == Start::Zero {
        // SAFETY: row `row < m` of `n` columns.
        (0..m).for_each(|row| unsafe { c.from(row, 0).data.write_bytes(0, n) });
    }
    check_extents(size, a, b);
    let tiles = Tiles::of(isa);
    for k0 in (0..k).step_by(DEPTH) {
        let tile = Tile {
            k: DEPTH.min(k - k0),
            a: a.data[k0 * a.step..].as_ptr(),
            a_row: a.row,
            a_step: a.step,
            b: b.data[k0 * b.row..].as_ptr(),
            b_row: b.row,
            c: c.data,
            c_row: c.row,
            join: match (start, sum) {
                (Start::Zero, _) if k0 == 0 => Join::Replace,
                (_, Sum::Chain) => Join::Resume,
                (_, Sum::Pieces) => Join::Add,
            },
        };
        // SAFETY: `check_extents` found all rows, columns and k of both inputs inside their slices; `c` is promised.
        unsafe { one_depth(&tiles, tile, (m, n), b.panel, LeftLayout::Strided, sum) };
    }
}

fn check_extents(Size { m, n, k }: Size, a: Left, b: Right) {
    if k == 0 {
        return;
    }
    assert!((m - 1) * a.row + (k - 1) * a.step < a.data.len(), "product: the left matrix is too short");
    let last = (n - 1) / PANEL;
    let width = (n - last * PANEL).next_multiple_of(LANES);
    assert!(
        last * b.panel + (k - 1) * b.row + width <= b.data.len(),
        "product: the right matrix is too short"
    );
    if last > 0 {
        let end = (last - 1) * b.panel + (k - 1) * b.row + PANEL;
        assert!(end <= b.data.len(), "product: a right panel is too short");
    }
}

/// Splits `m` rows into tiles of nearly equal height, so that no tile is left with a row or two.
#[derive(Clone, Copy)]
pub(crate) struct Heights {
    pub(crate) tiles: usize,
    base: usize,
    taller: usize,
}

impl Heights {
    pub(crate) fn new(m: usize, most: usize) -> Self {
        let tiles = m.div_ceil(most);
        Self { tiles, base: m / tiles, taller: m % tiles }
    }

    pub(crate) fn first_row(self, tile: usize) -> usize {
        tile * self.base + tile.min(self.taller)
    }
}

/// How the left matrix lies: by its strides, or tile after tile as `copy_left` leaves it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum LeftLayout {
    Strided,
    Tiles,
}

/// All rows and columns over one depth of the sum.
///
/// # Safety
/// `tile` must hold the extents of its inputs and result for `m` rows and `n` columns.
pub(crate) unsafe fn one_depth(
    tiles: &Tiles,
    tile: Tile,
    (m, n): (usize, usize),
    panel: usize,
    left: LeftLayout,
    sum: Sum,
) {
    let heights = Heights::new(m, tiles.forms.len());
    for g0 in (0..n).step_by(GROUP) {
        for index in 0..heights.tiles {
            let m0 = heights.first_row(index);
            let rows = heights.first_row(index + 1) - m0;
            let (a, a_step) = match left {
                LeftLayout::Strided => (m0 * tile.a_row, tile.a_step),
                LeftLayout::Tiles => (m0 * tile.k, rows),
            };
            for n0 in (g0..n.min(g0 + GROUP)).step_by(PANEL) {
                // SAFETY: row `m0 < m`, column `n0 < n` and their panel lie inside the checked extents.
                unsafe {
                    let part = Tile {
                        a: tile.a.add(a),
                        a_step,
                        b: tile.b.add(n0 / PANEL * panel),
                        c: tile.c.add(m0 * tile.c_row + n0),
                        ..tile
                    };
                    one_tile(tiles, part, rows, PANEL.min(n - n0), sum);
                }
            }
        }
    }
}

#[inline]
unsafe fn one_tile(tiles: &Tiles, tile: Tile, rows: usize, width: usize, sum: Sum) {
    let form = tiles.forms[rows - 1][width.div_ceil(LANES) - 1];
    let run = |tile: Tile| {
        // SAFETY: tiles cover `rows` rows and whole vectors inside the checked extents, or a buffer of as many; forms exist
        // only for instruction sets that were detected.
        match sum {
            Sum::Chain => unsafe { form(tile) },
            Sum::Pieces => unsafe { in_pieces(form, tile) },
        }
    };
    if width.is_multiple_of(LANES) {
        return run(tile);
    }
    let mut buffer = [0.0_f32; WIDEST];
    // SAFETY: as above for `a` and `b`; `c` is copied through the buffer, `width` columns per row, because whole vectors
    // would reach behind the row.
    unsafe {
        for row in 0..rows {
            std::ptr::copy_nonoverlapping(
                tile.c.add(row * tile.c_row),
                buffer.as_mut_ptr().add(row * PANEL),
                width,
            );
        }
        run(Tile { c: buffer.as_mut_ptr(), c_row: PANEL, ..tile });
        for row in 0..rows {
            std::ptr::copy_nonoverlapping(
                buffer.as_ptr().add(row * PANEL),
                tile.c.add(row * tile.c_row),
                width,
            );
        }
    }
}

/// Piece after piece of the sum, each joined to what the ones before it left in `c`.
///
/// # Safety
/// As for the form.
unsafe fn in_pieces(form: TileFn, tile: Tile) {
    for k in (0..tile.k).step_by(PIECE) {
        let piece = Tile {
            k: PIECE.min(tile.k - k),
            a: tile.a.wrapping_add(k * tile.a_step),
            b: tile.b.wrapping_add(k * tile.b_row),
            join: if k == 0 { tile.join } else { Join::Add },
            ..tile
        };
        // SAFETY: part of the tile that the caller promised.
        unsafe { form(piece) };
    }
}
