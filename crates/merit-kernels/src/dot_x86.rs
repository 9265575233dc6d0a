//! Blocks of bf16 results by VDPBF16PS: eight rows by 32 columns in registers.

// Intrinsics on raw pointers, whose extents the caller has checked.
#![allow(unsafe_code)]

use crate::bf16::LINES;
use crate::gemm_bf16::Block;
use std::arch::x86_64::*;

/// # Safety
/// All that `Block` promises; the CPU must have the features.
pub(crate) unsafe fn run(block: Block) {
    let mut row = 0;
    while row < block.rows {
        // SAFETY: `Strip` covers rows of the block, all of one left tile.
        row += unsafe {
            match (block.rows - row).min(LINES - row % LINES) {
                1 => strip::<1>(block, row),
                2 | 3 => strip::<2>(block, row),
                4..8 => strip::<4>(block, row),
                _ => strip::<8>(block, row),
            }
        };
    }
}

unsafe fn strip<const ROWS: usize>(block: Block, row: usize) -> usize {
    // SAFETY: as promised to `run`.
    unsafe { if block.wide { columns::<ROWS, 2>(block, row) } else { columns::<ROWS, 1>(block, row) } };
    ROWS
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512bf16")]
unsafe fn columns<const ROWS: usize, const V: usize>(t: Block, row: usize) {
    // SAFETY: every access is at a row, column or step inside the extents of the block.
    unsafe {
        let c = t.c.add(row * t.c_row);
        let a = t.a.add(row / LINES * t.a_tile + row % LINES).cast::<i32>();
        let mut sums = [[_mm512_setzero_ps(); V]; ROWS];
        if t.resume {
            for (r, sums) in sums.iter_mut().enumerate() {
                for (v, sum) in sums.iter_mut().enumerate() {
                    *sum = _mm512_loadu_ps(c.add(r * t.c_row + v * LINES));
                }
            }
        }
        for step in 0..t.steps {
            for p in 0..LINES {
                let mut right = [_mm512_setzero_si512(); V];
                for (v, right) in right.iter_mut().enumerate() {
                    *right = _mm512_load_si512(t.b.add(v * t.b_tile + step * LINES + p).cast());
                }
                for (r, sums) in sums.iter_mut().enumerate() {
                    let left = _mm512_set1_epi32(*a.add((step * LINES + r) * LINES + p));
                    for (sum, right) in sums.iter_mut().zip(right) {
                        *sum = _mm512_dpbf16_ps(*sum, bf16(left), bf16(right));
                    }
                }
            }
        }
        for (r, sums) in sums.iter().enumerate() {
            for (v, sum) in sums.iter().enumerate() {
                _mm512_storeu_ps(c.add(r * t.c_row + v * LINES), *sum);
            }
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn bf16(vector: __m512i) -> __m512bh {
    // SAFETY: both types are plain vectors of 64 bytes.
    unsafe { std::mem::transmute::<__m512i, __m512bh>(vector) }
}
