//! Matrix products whose every element is one sequential chain of fused multiply-adds over k = 0..K.
//!
//! In: a strided left matrix, a right matrix in panels of 32 columns. Out: `c = a b` or `c += a b`. Tiling over rows and
//! columns, and blocking over k with the sums kept in `c`, leave the chain of each element as it is; so a row of the result
//! has the same bits whether it was computed alone or among a thousand.

// Hands raw pointers to the register tiles, after checking the extents of all three matrices.
#![allow(unsafe_code)]

use super::Isa;
use super::tile::{LANES, Tile, Tiles};
use crate::target::Target;
use std::cell::RefCell;

/// Columns of a panel of the right matrix.
pub const PANEL: usize = 32;
/// Floats that may be read behind the last column of a right matrix: allocate this much more.
pub const SLACK: usize = PANEL;
/// Depth of one pass over k: the rows of a tile and 32 columns of this depth stay in the first-level cache.
const DEPTH: usize = 256;
/// Columns that are finished for the rows of a tile before the next rows begin: long runs of a row are written at once,
/// and as many columns of one depth stay in the second-level cache.
const GROUP: usize = 512;
const WIDEST: usize = 14 * PANEL;
/// Results of fewer elements are computed by `gemm_across` without copies.
const WORTH_COPYING: usize = 1 << 17;
/// Columns of a right matrix that are copied together by `gemm_across`.
const ACROSS: usize = 512;

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
    unsafe { gemm_into(isa, size, a, b, Target { data: c.as_mut_ptr(), row: c_row }, start) };
}

/// The same into part of a result that other threads write other parts of.
///
/// # Safety
/// `c` must be writable for `m` rows of `n` columns, by no one else now.
pub(crate) unsafe fn gemm_into(isa: Isa, size: Size, a: Left, b: Right, c: Target, start: Start) {
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
            resume: start == Start::Resume || k0 > 0,
        };
        // SAFETY: `check_extents` found all rows, columns and k of both inputs inside their slices; `c` is promised.
        unsafe { one_depth(&tiles, tile, (m, n), b.panel, LeftLayout::Strided) };
    }
}

/// `c += xᵀ y` for row-major `x` (`k × m`) and `y` (`k × n`, readable `SLACK` further), both read across their rows.
pub fn gemm_across(isa: Isa, size: Size, x: &[f32], y: &[f32], c: &mut [f32]) {
    assert!(size.m * size.n <= c.len(), "product: the result does not fit");
    let target = Target { data: c.as_mut_ptr(), row: size.n };
    // SAFETY: the result was found to fit, and is borrowed by this call alone.
    unsafe { gemm_across_into(isa, size, (x, size.m), (y, size.n), target) };
}

/// The same for matrices with row strides of their own, into part of a result that other threads write other parts of.
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
            gemm_into(isa, size, Left::columns(x, x_row), Right::rows(y, y_row), c, Start::Resume)
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
                    resume: true,
                };
                // SAFETY: the copies hold `depth` steps of all tiles and panels; `c` is promised.
                unsafe { one_depth(&tiles, tile, (m, width), depth * PANEL, LeftLayout::Tiles) };
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
struct Heights {
    tiles: usize,
    base: usize,
    taller: usize,
}

impl Heights {
    fn new(m: usize, most: usize) -> Self {
        let tiles = m.div_ceil(most);
        Self { tiles, base: m / tiles, taller: m % tiles }
    }

    fn first_row(self, tile: usize) -> usize {
        tile * self.base + tile.min(self.taller)
    }
}

/// How the left matrix lies: by its strides, or tile after tile as `copy_left` leaves it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LeftLayout {
    Strided,
    Tiles,
}

unsafe fn one_depth(tiles: &Tiles, tile: Tile, (m, n): (usize, usize), panel: usize, left: LeftLayout) {
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
                    one_tile(tiles, part, rows, PANEL.min(n - n0));
                }
            }
        }
    }
}

#[inline]
unsafe fn one_tile(tiles: &Tiles, tile: Tile, rows: usize, width: usize) {
    let run = tiles.forms[rows - 1][width.div_ceil(LANES) - 1];
    if width.is_multiple_of(LANES) {
        // SAFETY: the tile covers `rows` rows and whole vectors inside the checked extents; forms exist only for
        // instruction sets that were detected.
        unsafe { run(tile) };
        return;
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

#[cfg(test)]
mod tests {
    use super::super::pack;
    use super::*;
    use merit_core::Seed;

    fn random(name: &str, len: usize) -> Vec<f32> {
        let mut stream = Seed::root(5).child(name, len as u64).stream();
        (0..len).map(|_| stream.normal() as f32).collect()
    }

    /// The chain that every element must follow, by definition.
    fn naive(Size { m, n, k }: Size, a: Left, b: impl Fn(usize, usize) -> f32, c: &mut [f32], start: Start) {
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
    fn products_across_rows_follow_the_same_chain() {
        for (m, n, k) in
            [(1, 1, 1), (24, 37, 300), (64, 48, 77), (15, 600, 513), (130, 1100, 270), (512, 300, 33)]
        {
            let size = Size { m, n, k };
            let (x, y, c) = (random("x", k * m), random("y", k * n + SLACK), random("c", m * n));
            let mut want = c.clone();
            naive(size, Left::columns(&x, m), |i, j| y[i * n + j], &mut want, Start::Resume);
            for isa in Isa::available() {
                let mut got = c.clone();
                gemm_across(isa, size, &x, &y, &mut got);
                let same = got.iter().zip(&want).all(|(x, y)| x.to_bits() == y.to_bits());
                assert!(same, "{isa:?} {m}x{n}x{k}");
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
