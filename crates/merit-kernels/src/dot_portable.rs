//! Blocks of bf16 results by ordinary fused multiply-adds of f32, in the order in which AMX adds.

// Raw pointers, whose extents the caller has checked, and functions compiled for detected CPU features.
#![allow(unsafe_code)]

use crate::Isa;
use crate::bf16::{LINES, Line, widen};
#[cfg(target_arch = "x86_64")]
use crate::dot_fma_x86;
use crate::gemm_bf16::Block;
use crate::isa::Kind;

/// # Safety
/// All that `Block` promises.
pub(crate) unsafe fn run(isa: Isa, block: Block) {
    // SAFETY: passed on; an `Isa` is only made after its features were detected.
    unsafe {
        match isa.kind() {
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => dot_fma_x86::avx512(block),
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => dot_fma_x86::avx2(block),
            Kind::Portable => strips(block),
        }
    }
}

/// # Safety
/// All that `Block` promises.
unsafe fn strips(block: Block) {
    let mut row = 0;
    while row < block.rows {
        let left = (block.rows - row).min(LINES - row % LINES);
        for column in 0..1 + usize::from(block.wide) {
            // SAFETY: the rows lie in one left tile of the block, the column of tiles is one of its one or two.
            unsafe {
                match left {
                    1 => strip::<1>(block, row, column),
                    2 | 3 => strip::<2>(block, row, column),
                    _ => strip::<4>(block, row, column),
                }
            }
        }
        row += match left {
            1 => 1,
            2 | 3 => 2,
            _ => 4,
        };
    }
}

/// `ROWS` rows of a column of tiles.
///
/// # Safety
/// All that `Block` promises; `ROWS` rows from `row` lie in the block and in one left tile, and it has the column of tiles.
#[inline(always)]
unsafe fn strip<const ROWS: usize>(t: Block, row: usize, column: usize) {
    // SAFETY: every access is at a row, column or step inside the extents of the block.
    unsafe {
        let a = t.a.add(row / LINES * t.a_tile + row % LINES);
        let b = t.b.add(column * t.b_tile);
        let c = t.c.add(row * t.c_row + column * LINES);
        let mut sums = [[0.0_f32; LINES]; ROWS];
        if t.resume {
            for (r, sums) in sums.iter_mut().enumerate() {
                *sums = c.add(r * t.c_row).cast::<[f32; LINES]>().read_unaligned();
            }
        }
        for step in 0..t.steps {
            let left: &[Line; ROWS] = &*a.add(step * LINES).cast();
            let right: &[Line; LINES] = &*b.add(step * LINES).cast();
            one_step(left, right, &mut sums);
        }
        for (r, sums) in sums.iter().enumerate() {
            c.add(r * t.c_row).cast::<[f32; LINES]>().write_unaligned(*sums);
        }
    }
}

#[inline(always)]
fn one_step<const ROWS: usize>(left: &[Line; ROWS], right: &[Line; LINES], sums: &mut [[f32; LINES]; ROWS]) {
    for (left, sums) in left.iter().zip(sums) {
        let (mut even, mut odd) = ([0.0_f32; LINES], [0.0_f32; LINES]);
        for (right, &pair) in right.iter().zip(&left.0) {
            let (a_even, a_odd) = widen(pair);
            for ((even, odd), &pair) in even.iter_mut().zip(&mut odd).zip(&right.0) {
                let (b_even, b_odd) = widen(pair);
                *even = a_even.mul_add(b_even, *even);
                *odd = a_odd.mul_add(b_odd, *odd);
            }
        }
        for ((sum, even), odd) in sums.iter_mut().zip(even).zip(odd) {
            *sum += even + odd;
        }
    }
}
