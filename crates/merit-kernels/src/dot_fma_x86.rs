//! Blocks of bf16 results by fused multiply-adds of f32 on AVX-512 and AVX2, in the order in which AMX adds.
//!
//! The left side of a step is widened to f32 once and then broadcast from memory; the right side is widened in registers.

// Intrinsics on raw pointers, whose extents the caller has checked.
#![allow(unsafe_code)]

use crate::bf16::{DEPTH, LINES, Line};
use crate::gemm_bf16::Block;
use std::arch::x86_64::*;
use std::mem::MaybeUninit;

/// The bits of the odd number of a pair.
const ODD: i32 = 0xffff_0000_u32 as i32;

/// The rows of a step as f32: the sixteen even numbers of each, then its sixteen odd ones.
#[repr(align(64))]
struct Widened<const ROWS: usize>(MaybeUninit<[[f32; DEPTH]; ROWS]>);

/// # Safety
/// All that `Block` promises; the CPU must have AVX-512F.
pub(crate) unsafe fn avx512(block: Block) {
    let mut row = 0;
    while row < block.rows {
        // SAFETY: the rows lie in one left tile of the block, the columns of tiles are its one or two.
        row += unsafe {
            match ((block.rows - row).min(LINES - row % LINES), block.wide) {
                (1, false) => strip512::<1, 1>(block, row, 0),
                (1, true) => strip512::<1, 2>(block, row, 0),
                (2 | 3, false) => strip512::<2, 1>(block, row, 0),
                (2 | 3, true) => strip512::<2, 2>(block, row, 0),
                (4..8, false) => strip512::<4, 1>(block, row, 0),
                (4..8, true) => strip512::<4, 2>(block, row, 0),
                // Sixteen sums a column fill the registers.
                (_, wide) => {
                    (0..1 + usize::from(wide)).fold(0, |_, column| strip512::<8, 1>(block, row, column))
                }
            }
        };
    }
}

/// # Safety
/// All that `Block` promises; the CPU must have AVX2 and FMA.
pub(crate) unsafe fn avx2(block: Block) {
    let mut row = 0;
    while row < block.rows {
        // SAFETY: the rows lie in one left tile of the block, the columns of tiles are its one or two.
        row += unsafe {
            match (block.rows - row).min(LINES - row % LINES) {
                1 => strip256::<1>(block, row),
                2 | 3 => strip256::<2>(block, row),
                _ => strip256::<4>(block, row),
            }
        };
    }
}

/// `ROWS` rows of `V` columns of tiles; says how many rows that were.
///
/// # Safety
/// All that `Block` promises; `ROWS` rows from `row` lie in the block and in one left tile, and it has `V` columns of tiles from `column`.
/// The CPU must have AVX-512F.
#[target_feature(enable = "avx512f")]
unsafe fn strip512<const ROWS: usize, const V: usize>(t: Block, row: usize, column: usize) -> usize {
    // SAFETY: every access is at a row, column or step inside the extents of the block.
    unsafe {
        let a = t.a.add(row / LINES * t.a_tile + row % LINES);
        let b = t.b.add(column * t.b_tile);
        let c = t.c.add(row * t.c_row + column * LINES);
        let mask = _mm512_set1_epi32(ODD);
        let mut sums = [[_mm512_setzero_ps(); V]; ROWS];
        if t.resume {
            for (r, sums) in sums.iter_mut().enumerate() {
                for (v, sum) in sums.iter_mut().enumerate() {
                    *sum = _mm512_loadu_ps(c.add(r * t.c_row + v * LINES));
                }
            }
        }
        let mut left = Widened::<ROWS>(MaybeUninit::uninit());
        let left = left.0.as_mut_ptr().cast::<f32>();
        for step in 0..t.steps {
            for r in 0..ROWS {
                let pairs = _mm512_loadu_si512(a.add(step * LINES + r).cast());
                _mm512_store_ps(left.add(r * DEPTH), _mm512_castsi512_ps(_mm512_slli_epi32(pairs, 16)));
                let odd = _mm512_and_si512(pairs, mask);
                _mm512_store_ps(left.add(r * DEPTH + LINES), _mm512_castsi512_ps(odd));
            }
            let mut even = [[_mm512_setzero_ps(); V]; ROWS];
            let mut odd = [[_mm512_setzero_ps(); V]; ROWS];
            for p in 0..LINES {
                let mut right = [[_mm512_setzero_ps(); 2]; V];
                for (v, right) in right.iter_mut().enumerate() {
                    let pairs = _mm512_loadu_si512(b.add(v * t.b_tile + step * LINES + p).cast());
                    right[0] = _mm512_castsi512_ps(_mm512_slli_epi32(pairs, 16));
                    right[1] = _mm512_castsi512_ps(_mm512_and_si512(pairs, mask));
                }
                for r in 0..ROWS {
                    let x = _mm512_set1_ps(*left.add(r * DEPTH + p));
                    let y = _mm512_set1_ps(*left.add(r * DEPTH + LINES + p));
                    for v in 0..V {
                        even[r][v] = _mm512_fmadd_ps(x, right[v][0], even[r][v]);
                        odd[r][v] = _mm512_fmadd_ps(y, right[v][1], odd[r][v]);
                    }
                }
            }
            for r in 0..ROWS {
                for v in 0..V {
                    sums[r][v] = _mm512_add_ps(sums[r][v], _mm512_add_ps(even[r][v], odd[r][v]));
                }
            }
        }
        for (r, sums) in sums.iter().enumerate() {
            for (v, sum) in sums.iter().enumerate() {
                _mm512_storeu_ps(c.add(r * t.c_row + v * LINES), *sum);
            }
        }
    }
    ROWS
}

/// `ROWS` rows of all columns of the block, eight at a time; says how many rows that were.
///
/// # Safety
/// All that `Block` promises; `ROWS` rows from `row` lie in the block and in one left tile. The CPU must have AVX2 and FMA.
#[target_feature(enable = "avx2,fma")]
unsafe fn strip256<const ROWS: usize>(t: Block, row: usize) -> usize {
    for column in 0..1 + usize::from(t.wide) {
        for half in 0..2 {
            // SAFETY: half of a column of tiles of the block.
            unsafe {
                let b = t.b.add(column * t.b_tile).cast::<i32>().add(half * LINES / 2);
                let c = t.c.add(row * t.c_row + column * LINES + half * LINES / 2);
                eight::<ROWS>(t, t.a.add(row / LINES * t.a_tile + row % LINES), b, c);
            }
        }
    }
    ROWS
}

/// # Safety
/// `a` begins at a row of the block's left side, `b` and `c` at eight of its columns; `ROWS` rows follow.
#[inline]
#[target_feature(enable = "avx2,fma")]
unsafe fn eight<const ROWS: usize>(t: Block, a: *const Line, b: *const i32, c: *mut f32) {
    // SAFETY: every access is at a row, column or step inside the extents of the block.
    unsafe {
        let mask = _mm256_set1_epi32(ODD);
        let mut sums = [_mm256_setzero_ps(); ROWS];
        if t.resume {
            for (r, sum) in sums.iter_mut().enumerate() {
                *sum = _mm256_loadu_ps(c.add(r * t.c_row));
            }
        }
        let mut left = Widened::<ROWS>(MaybeUninit::uninit());
        let left = left.0.as_mut_ptr().cast::<f32>();
        for step in 0..t.steps {
            for r in 0..ROWS {
                for part in [0, LINES / 2] {
                    let pairs = a.add(step * LINES + r).cast::<i32>().add(part);
                    let pairs = _mm256_loadu_si256(pairs.cast());
                    let to = left.add(r * DEPTH + part);
                    _mm256_store_ps(to, _mm256_castsi256_ps(_mm256_slli_epi32(pairs, 16)));
                    _mm256_store_ps(to.add(LINES), _mm256_castsi256_ps(_mm256_and_si256(pairs, mask)));
                }
            }
            let mut even = [_mm256_setzero_ps(); ROWS];
            let mut odd = [_mm256_setzero_ps(); ROWS];
            for p in 0..LINES {
                let pairs = _mm256_loadu_si256(b.add((step * LINES + p) * LINES).cast());
                let first = _mm256_castsi256_ps(_mm256_slli_epi32(pairs, 16));
                let second = _mm256_castsi256_ps(_mm256_and_si256(pairs, mask));
                for r in 0..ROWS {
                    let x = _mm256_set1_ps(*left.add(r * DEPTH + p));
                    even[r] = _mm256_fmadd_ps(x, first, even[r]);
                    let y = _mm256_set1_ps(*left.add(r * DEPTH + LINES + p));
                    odd[r] = _mm256_fmadd_ps(y, second, odd[r]);
                }
            }
            for r in 0..ROWS {
                sums[r] = _mm256_add_ps(sums[r], _mm256_add_ps(even[r], odd[r]));
            }
        }
        for (r, sum) in sums.iter().enumerate() {
            _mm256_storeu_ps(c.add(r * t.c_row), *sum);
        }
    }
}
