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

#[cfg(test)]
pub(crate) mod tests {
    use super::super::pack;
    use super::*;
    use merit_core::Seed;

    pub(crate) fn random(name: &str, len: usize) -> Vec<f32> {
        let mut stream = Seed::root(5).child(name, len as u64).stream();
        (0..len).map(|_| stream.normal() as f32).collect()
    }

    /// The chain that every element must follow, by definition.
    pub(crate) fn naive(size: Size, a: Left, b: impl Fn(usize, usize) -> f32, c: &mut [f32], start: Start) {
        let Size { m, n, k } = size;
        for row in 0..m {
            for col in 0..n {
                let mut sum = if start == Start::Resume { c[row * n + col] } else { 0.0 };
                for i in 0..k {
                    sum = a.data[row * a.row + i * a.step].mul_add(b(i, col), sum);
                }
                c[row * n + col] = sum;
            }
        }
    }

    fn check(size: Size) {
        let Size { m, n, k } = size;
        let (a, b, c) = (random("a", m * k), random("b", k * n), random("c", m * n));
        let mut slack = b.clone();
        slack.resize(b.len() + SLACK, f32::NAN);
        let transposed: Vec<f32> = (0..n * k).map(|i| b[(i % k) * n + i / k]).collect();
        let flipped: Vec<f32> = (0..m * k).map(|i| a[(i % m) * k + i / m]).collect();
        for start in [Start::Zero, Start::Resume] {
            let mut want = c.clone();
            naive(size, Left::rows(&a, k), |i, j| b[i * n + j], &mut want, start);
            for isa in Isa::available() {
                let packed = pack::pack(&b, k, n);
                let repacked = pack::pack_transposed(&transposed, k, n);
                for (left, right) in [
                    (Left::rows(&a, k), packed.as_right()),
                    (Left::rows(&a, k), repacked.as_right()),
                    (Left::columns(&flipped, m), Right::rows(&slack, n)),
                ] {
                    let mut got = c.clone();
                    gemm(isa, size, left, right, &mut got, n, start);
                    let same = got.iter().zip(&want).all(|(x, y)| x.to_bits() == y.to_bits());
                    assert!(same, "{isa:?} {m}x{n}x{k}");
                }
            }
        }
    }

    #[test]
    fn every_instruction_set_and_shape_follows_the_same_chain() {
        for m in [1, 2, 5, 13, 14, 15, 16, 29, 130] {
            for n in [1, 15, 16, 17, 32, 37, 48, 65] {
                for k in [1, 3, 24, 300] {
                    check(Size { m, n, k });
                }
            }
        }
    }

    #[test]
    fn long_sums_of_weights_are_added_in_pieces_on_every_instruction_set() {
        assert_eq!((Sum::over(512), Sum::over(513)), (Sum::Chain, Sum::Pieces));
        for (m, n, k) in [(1, 16, 513), (5, 37, 600), (15, 64, 1024), (30, 33, 777)] {
            let size = Size { m, n, k };
            let (a, b, c) = (random("a", m * k), random("b", k * n), random("c", m * n));
            for start in [Start::Zero, Start::Resume] {
                let mut want = if start == Start::Zero { vec![0.0; m * n] } else { c.clone() };
                for first in (0..k).step_by(PIECE) {
                    let piece = Size { k: PIECE.min(k - first), ..size };
                    let mut chains = vec![0.0; m * n];
                    let left = Left::rows(&a[first..], k);
                    naive(piece, left, |i, j| b[(first + i) * n + j], &mut chains, Start::Zero);
                    want.iter_mut().zip(&chains).for_each(|(sum, chain)| *sum += chain);
                }
                let packed = pack::pack(&b, k, n);
                for isa in Isa::available() {
                    let mut got = c.clone();
                    let target = Target { data: got.as_mut_ptr(), row: n };
                    let left = Left::rows(&a, k);
                    // SAFETY: the result has `m` rows of `n` columns.
                    unsafe { gemm_into(isa, size, left, packed.as_right(), target, start, Sum::Pieces) };
                    // Equal as numbers: an empty piece may turn -0 into 0.
                    assert_eq!(got, want, "{isa:?} {m}x{n}x{k}");
                }
            }
        }
    }

    #[test]
    fn an_empty_sum_is_zero() {
        let mut c = [3.0; 4];
        let size = Size { m: 2, n: 2, k: 0 };
        gemm(Isa::best(), size, Left::rows(&[], 0), Right::rows(&[], 2), &mut c, 2, Start::Zero);
        assert_eq!(c, [0.0; 4]);
    }

    #[test]
    #[should_panic(expected = "the left matrix is too short")]
    fn a_short_matrix_is_refused() {
        let size = Size { m: 2, n: 16, k: 2 };
        gemm(
            Isa::best(),
            size,
            Left::rows(&[0.0; 3], 2),
            Right::rows(&[0.0; 64], 16),
            &mut [0.0; 32],
            16,
            Start::Zero,
        );
    }
}
