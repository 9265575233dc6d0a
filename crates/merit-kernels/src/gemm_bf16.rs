//! Matrix products of operands rounded to bf16, with sums in f32, in the chain of the chosen unit.
//!
//! In: f32 activations, rounded here on the way into scratch of the thread, and a right matrix in tiles. Out: `c = a b` or
//! `c += a b`. The sum advances in steps of 32 from its beginning; blocks, chunks and threads choose only which elements are
//! computed together, so a row of the result has the same bits whether it was computed alone or among a thousand.

// Hands raw pointers to the units, after checking the extents of all three matrices.
#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
use crate::amx::TilesOfThread;
use crate::bf16::{Cut, DEPTH, LINES, Line, Source};
use crate::dot::{Dot, Unit};
#[cfg(target_arch = "x86_64")]
use crate::dot_x86;
use crate::gemm::{Size, Start};
use crate::target::Target;
use crate::tile_runs::TileRuns;
use crate::{Isa, dot_portable};
use std::cell::RefCell;
use std::ops::Range;

/// Rows of a block of results, and its columns.
const BLOCK: usize = 2 * LINES;
/// Most steps of the sum that a block takes at a time: 32 rows of this depth stay in the first-level cache.
const DEEP: usize = 20;
/// Columns that are finished for some rows before the next rows begin: long runs of a result's row are written at once.
const GROUP: usize = 512;
/// Most floats of a row that are rounded together.
const CHUNK_DEPTH: usize = 1024;
/// About how many activations are rounded together: a quarter of a second-level cache.
const CHUNK: usize = 1 << 18;
/// Columns of a side of a gradient that are rounded together.
const CHUNK_COLUMNS: usize = 512;

/// One block of results.
///
/// Its maker promises: `a` is readable for `steps` tiles, and again `a_tile` lines further where there are more
/// than 16 rows; `b` likewise, `b_tile` further where it is wide; `c` is writable (and readable) for `rows` rows of 16
/// columns, or 32 where it is wide; `steps` and `rows` are at least 1, `rows` at most 32.
#[derive(Clone, Copy)]
pub(crate) struct Block {
    pub(crate) steps: usize,
    pub(crate) a: *const Line,
    pub(crate) a_tile: usize,
    pub(crate) b: *const Line,
    pub(crate) b_tile: usize,
    pub(crate) c: *mut f32,
    pub(crate) c_row: usize,
    pub(crate) rows: usize,
    pub(crate) wide: bool,
    /// Continue from what `c` holds; otherwise start from zero.
    pub(crate) resume: bool,
}

/// The unit, ready on this thread.
enum Ready {
    #[cfg(target_arch = "x86_64")]
    Amx(TilesOfThread),
    #[cfg(target_arch = "x86_64")]
    Avx512Bf16,
    Portable(Isa),
}

impl Ready {
    fn new(isa: Isa, dot: Dot) -> Self {
        match dot.unit() {
            #[cfg(target_arch = "x86_64")]
            Unit::Amx => Self::Amx(TilesOfThread::new()),
            #[cfg(target_arch = "x86_64")]
            Unit::Avx512Bf16 => Self::Avx512Bf16,
            Unit::Portable => Self::Portable(isa),
        }
    }

    /// # Safety
    /// All that `Block` promises.
    unsafe fn run(&mut self, block: Block) {
        // SAFETY: passed on; a `Dot` is only made for what was detected.
        unsafe {
            match self {
                #[cfg(target_arch = "x86_64")]
                Self::Amx(tiles) => tiles.run(block),
                #[cfg(target_arch = "x86_64")]
                Self::Avx512Bf16 => dot_x86::run(block),
                Self::Portable(isa) => dot_portable::run(*isa, block),
            }
        }
    }
}

thread_local! {
    static SIDES: RefCell<(TileRuns, TileRuns)> = RefCell::default();
}

/// Rows `rows` of `x` (each `k` long) times columns `columns` of the right matrix; `columns` begins at a multiple of 32.
///
/// # Safety
/// `target`, the first element of the whole result, must be writable for these rows and columns, by no one else now.
pub(crate) unsafe fn product(
    (isa, dot): (Isa, Dot),
    k: usize,
    (x, rows): (&[f32], Range<usize>),
    (right, columns): (&TileRuns, Range<usize>),
    target: Target,
    start: Start,
) {
    if k == 0 && start == Start::Zero {
        for row in rows.clone() {
            // SAFETY: the caller's promise.
            unsafe { target.from(row, columns.start).data.write_bytes(0, columns.len()) };
        }
    }
    let mut ready = Ready::new(isa, dot);
    SIDES.with_borrow_mut(|(left, _)| {
        let (deep, tall) =
            (even_part(k, CHUNK_DEPTH), (CHUNK / k.clamp(1, CHUNK_DEPTH)).next_multiple_of(BLOCK));
        for r0 in rows.clone().step_by(tall) {
            let height = tall.min(rows.end - r0);
            for k0 in (0..k).step_by(deep) {
                let depth = deep.min(k - k0);
                left.make_room(height, depth);
                let source = Source::new(x.get(r0 * k + k0..).unwrap_or_default(), k, height, depth);
                left.fill(isa, Cut::Along, source, height);
                let resume = start == Start::Resume || k0 > 0;
                let size = Size { m: height, n: columns.len(), k: depth };
                let right = Part { runs: right, run: columns.start / LINES, step: k0 / DEPTH };
                let left = Part { runs: left, run: 0, step: 0 };
                // SAFETY: the caller's promise, for part of its rows and columns.
                unsafe { blocks(&mut ready, size, left, right, target.from(r0, columns.start), resume) };
            }
        }
    });
}

/// Adds `xᵀ dy` to rows `rows` and columns `columns` of a matrix, where `x` is `k × inputs` and `dy` is `k × outputs`.
///
/// # Safety
/// `target`, the first element of the whole matrix, must be writable for these rows and columns, by no one else now.
pub(crate) unsafe fn gradient(
    (isa, dot): (Isa, Dot),
    k: usize,
    (x, inputs, rows): (&[f32], usize, Range<usize>),
    (dy, outputs, columns): (&[f32], usize, Range<usize>),
    target: Target,
) {
    let mut ready = Ready::new(isa, dot);
    let keep_left = rows.len() <= columns.len();
    let deep = even_part(k, CHUNK_DEPTH);
    SIDES.with_borrow_mut(|(left, right)| {
        for k0 in (0..k).step_by(deep) {
            let depth = deep.min(k - k0);
            let fill_left = |left: &mut TileRuns, rows: Range<usize>| {
                left.make_room(rows.len(), depth);
                let source = Source::new(&x[k0 * inputs + rows.start..], inputs, depth, rows.len());
                left.fill(isa, Cut::AcrossTransposed, source, rows.len());
            };
            let fill_right = |right: &mut TileRuns, columns: Range<usize>| {
                right.make_room(columns.len(), depth);
                let source = Source::new(&dy[k0 * outputs + columns.start..], outputs, depth, columns.len());
                right.fill(isa, Cut::Across, source, columns.len());
            };
            if keep_left {
                fill_left(left, rows.clone());
            } else {
                fill_right(right, columns.clone());
            }
            let long = if keep_left { columns.clone() } else { rows.clone() };
            for first in long.clone().step_by(CHUNK_COLUMNS) {
                let part = first..long.end.min(first + CHUNK_COLUMNS);
                let (m, n) = if keep_left { (rows.clone(), part) } else { (part, columns.clone()) };
                if keep_left {
                    fill_right(right, n.clone());
                } else {
                    fill_left(left, m.clone());
                }
                let size = Size { m: m.len(), n: n.len(), k: depth };
                let left = Part { runs: left, run: 0, step: 0 };
                let right = Part { runs: right, run: 0, step: 0 };
                // SAFETY: the caller's promise, for part of its rows and columns.
                unsafe { blocks(&mut ready, size, left, right, target.from(m.start, n.start), true) };
            }
        }
    });
}

/// The length of the fewest nearly equal parts that are not longer than `most`, in whole steps.
fn even_part(len: usize, most: usize) -> usize {
    len.div_ceil(len.div_ceil(most).max(1)).next_multiple_of(DEPTH).max(DEPTH)
}

/// The tiles of one side, from a run and a step on.
#[derive(Clone, Copy)]
struct Part<'a> {
    runs: &'a TileRuns,
    run: usize,
    step: usize,
}

impl Part<'_> {
    /// Checks that `runs` runs of `steps` tiles follow `run` and `step`.
    fn check(self, places: usize, steps: usize) {
        assert!(self.step + steps <= self.runs.steps(), "product: the sums have different lengths");
        let last = self.run + (places - 1) / LINES;
        assert!(self.runs.from(last, self.step).len() >= steps * LINES, "product: too few tiles");
    }
}

/// All blocks of `size.m` rows and `size.n` columns, from the first element of `c` on.
///
/// # Safety
/// `c` must be writable for these rows and columns, by no one else now.
unsafe fn blocks(ready: &mut Ready, size: Size, left: Part, right: Part, c: Target, resume: bool) {
    let steps = size.k.div_ceil(DEPTH);
    left.check(size.m, steps);
    right.check(size.n, steps);
    let whole = size.m - size.m % BLOCK;
    let deep = even_part(size.k, DEEP * DEPTH) / DEPTH;
    for s0 in (0..steps).step_by(deep) {
        // The last, lower block of rows goes by itself: another height costs the unit a new configuration.
        for rows in [0..whole, whole..size.m] {
            for g0 in (0..size.n).step_by(GROUP) {
                let group = g0..size.n.min(g0 + GROUP);
                for m0 in rows.clone().step_by(BLOCK) {
                    for n0 in group.clone().step_by(BLOCK) {
                        let next = if n0 + BLOCK < group.end { (m0, n0 + BLOCK) } else { (m0 + BLOCK, g0) };
                        c.from(next.0, next.1).prefetch(BLOCK.min(rows.end.saturating_sub(next.0)));
                        let block = Block {
                            steps: deep.min(steps - s0),
                            a: left.runs.from(left.run + m0 / LINES, left.step + s0).as_ptr(),
                            a_tile: left.runs.run(),
                            b: right.runs.from(right.run + n0 / LINES, right.step + s0).as_ptr(),
                            b_tile: right.runs.run(),
                            c: c.from(m0, n0).data,
                            c_row: c.row,
                            rows: BLOCK.min(rows.end - m0),
                            wide: size.n - n0 > LINES,
                            resume: resume || s0 > 0,
                        };
                        // SAFETY: both sides were checked for `steps` tiles of every run of the block, `c` is promised.
                        unsafe { one_block(ready, block, BLOCK.min(size.n - n0)) };
                    }
                }
            }
        }
    }
}

/// # Safety
/// As for `Block`, except that `c` need have only `width` columns.
#[inline]
unsafe fn one_block(ready: &mut Ready, block: Block, width: usize) {
    if width.is_multiple_of(LINES) {
        // SAFETY: the caller's promise.
        return unsafe { ready.run(block) };
    }
    let mut buffer = [0.0_f32; BLOCK * BLOCK];
    let copied = Block { c: buffer.as_mut_ptr(), c_row: BLOCK, ..block };
    // SAFETY: `c` goes through the buffer, `width` columns of each row, because whole tiles would reach behind the row.
    unsafe {
        for row in 0..block.rows {
            let from = block.c.add(row * block.c_row);
            std::ptr::copy_nonoverlapping(from, copied.c.add(row * BLOCK), width);
        }
        ready.run(copied);
        for row in 0..block.rows {
            let to = block.c.add(row * block.c_row);
            std::ptr::copy_nonoverlapping(copied.c.add(row * BLOCK), to, width);
        }
    }
}
