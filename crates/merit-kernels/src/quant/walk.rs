//! The way through a panel, whatever is done on it: groups and lines of codes in order, and where a tile's sums begin and end.

// Works on raw pointers; `product` stays inside panels, rows and results.
#![allow(unsafe_code)]

use super::lanes::{LANES, Lanes};
use super::scheme::{Codes, LINE, Scheme};
use crate::gemm::Sum;

/// Most strips of a tile, and of a panel.
pub(super) const MOST_STRIPS: usize = 4;
/// Groups between a line's prefetch and its use.
const AHEAD: usize = 4;

/// The operands of one tile.
#[derive(Clone, Copy)]
pub(super) struct Tile {
    /// First byte of the panel.
    pub(super) panel: *const u8,
    /// Strips of the panel.
    pub(super) strips: usize,
    /// The first strip of the tile.
    pub(super) strip: usize,
    /// Blocks of the panel along the inputs.
    pub(super) blocks: usize,
    /// `x[input * height + row]`, for all inputs of all blocks, where `height` is the form's.
    pub(super) x: *const f32,
    /// Sums of the rounded activations of each group of 32 inputs, `[group][height]`; only read where activations are bf16.
    pub(super) group_sums: *const f32,
    /// Row-major result at the first column of the tile.
    pub(super) c: *mut f32,
    pub(super) c_row: usize,
    /// Rows of the result; those of the form above are computed and dropped.
    pub(super) rows: usize,
    /// Columns of the result; the rest of the last strip is dropped.
    pub(super) columns: usize,
    /// Continue from what `c` holds; otherwise start from zero.
    pub(super) resume: bool,
    /// In which order products with `f32` activations are added.
    pub(super) sum: Sum,
}

/// What is done with the codes of `V` strips on the way through a panel.
pub(super) trait Visit<L: Lanes, S: Scheme, const V: usize> {
    /// Inputs that are taken at once.
    const STEP: usize;

    /// Takes the next `STEP` inputs of each strip.
    ///
    /// # Safety
    /// The CPU has the features of `L`; the extents of the tile hold.
    unsafe fn inputs(&mut self, codes: &mut [Codes<L>; V], scales: &[[L::Floats; 2]; V]);

    /// Ends a group.
    ///
    /// # Safety
    /// As `inputs`.
    unsafe fn group(&mut self, scales: &[[L::Floats; 2]; V]);
}

/// Goes through `V` strips of a panel, input after input.
///
/// # Safety
/// The extents of `Tile` must hold, and the CPU must have the features of `L`.
#[inline(always)]
pub(super) unsafe fn walk<L: Lanes, S: Scheme, const V: usize, T: Visit<L, S, V>>(t: &Tile, visitor: &mut T) {
    let shape = &S::SHAPE;
    let mut at = t.panel;
    let ahead = AHEAD * t.strips * shape.group_bytes();
    // SAFETY: `at` passes over `blocks` blocks of `strips` strips, the panel that the caller promised; `strip + V` is at most
    // `strips`. Prefetches may point anywhere.
    unsafe {
        for _ in 0..t.blocks {
            let head = at.add(t.strip * shape.head_bytes());
            at = at.add(t.strips * shape.head_bytes());
            for _ in 0..shape.groups {
                let mut scales = [[L::splat(0.0); 2]; V];
                let mut codes = [Codes::<L> { at, words: L::words(at), high: L::words(at) }; V];
                let group = at.add(t.strip * shape.scale_bytes());
                L::prefetch(group.wrapping_add(ahead));
                at = at.add(t.strips * shape.scale_bytes());
                for (v, scales) in scales.iter_mut().enumerate() {
                    let head = head.add(v * shape.head_bytes());
                    *scales = S::scales::<L>(head, group.add(v * shape.scale_bytes()));
                }
                if shape.high_bits > 0 {
                    for (v, codes) in codes.iter_mut().enumerate() {
                        codes.high = L::words(at.add((t.strip + v) * LINE));
                    }
                    at = at.add(t.strips * LINE);
                }
                for _ in 0..shape.runs {
                    for (v, codes) in codes.iter_mut().enumerate() {
                        codes.at = at.add((t.strip + v) * LINE);
                        codes.words = L::words(codes.at);
                        L::prefetch(codes.at.wrapping_add(ahead));
                    }
                    at = at.add(t.strips * LINE);
                    for _ in 0..shape.run / T::STEP {
                        visitor.inputs(&mut codes, &scales);
                    }
                }
                visitor.group(&scales);
            }
        }
    }
}

/// What the sums of a tile start from.
///
/// # Safety
/// The extents of the result hold.
#[inline(always)]
pub(super) unsafe fn start<L: Lanes, const M: usize, const V: usize>(t: &Tile) -> [[L::Floats; V]; M] {
    // SAFETY: `load` stays inside the result.
    unsafe {
        let mut sums = [[L::splat(0.0); V]; M];
        if t.resume {
            for (m, row) in sums.iter_mut().enumerate() {
                for (v, sum) in row.iter_mut().enumerate() {
                    *sum = load::<L>(t, m, v * LANES);
                }
            }
        }
        sums
    }
}

/// Writes the sums of a tile.
///
/// # Safety
/// The extents of the result hold.
#[inline(always)]
pub(super) unsafe fn finish<L: Lanes, const M: usize, const V: usize>(t: &Tile, sums: [[L::Floats; V]; M]) {
    for (m, row) in sums.into_iter().enumerate() {
        for (v, sum) in row.into_iter().enumerate() {
            // SAFETY: `save` stays inside the result.
            unsafe { save::<L>(t, m, v * LANES, sum) };
        }
    }
}

/// The sums that the result holds; what is outside it counts as zero.
///
/// # Safety
/// The extents of the result hold.
#[inline(always)]
pub(super) unsafe fn load<L: Lanes>(t: &Tile, row: usize, column: usize) -> L::Floats {
    // SAFETY: sixteen floats of the result or of the buffer, which takes only columns of the result.
    unsafe {
        if row >= t.rows || column >= t.columns {
            return L::splat(0.0);
        }
        let from = t.c.add(row * t.c_row + column);
        if column + LANES <= t.columns {
            return L::floats(from.cast());
        }
        let mut buffer = [0.0_f32; LANES];
        std::ptr::copy_nonoverlapping(from, buffer.as_mut_ptr(), t.columns - column);
        L::floats(buffer.as_ptr().cast())
    }
}

/// Writes sums; what is outside the result is dropped.
///
/// # Safety
/// The extents of the result hold.
#[inline(always)]
pub(super) unsafe fn save<L: Lanes>(t: &Tile, row: usize, column: usize, sums: L::Floats) {
    // SAFETY: as `load`.
    unsafe {
        if row >= t.rows || column >= t.columns {
            return;
        }
        let to = t.c.add(row * t.c_row + column);
        if column + LANES <= t.columns {
            return L::store(to, sums);
        }
        let mut buffer = [0.0_f32; LANES];
        L::store(buffer.as_mut_ptr(), sums);
        std::ptr::copy_nonoverlapping(buffer.as_ptr(), to, t.columns - column);
    }
}
