//! Register tiles for AVX-512 (up to 14 rows by 32 columns) and AVX2 with FMA (up to 6 rows by 16 columns at a time).

// Intrinsics on raw pointers; `gemm` checks all bounds before it calls a tile.
#![allow(unsafe_code)]

use super::tile::{Join, LANES, Tile, TileFn};
use std::arch::x86_64::*;

/// Steps of k between a column's prefetch and its use.
const AHEAD: usize = 48;

macro_rules! forms {
    ($tile:ident: $($m:literal)*) => { [$([$tile::<$m, 1>, $tile::<$m, 2>]),*] };
}

pub(super) static AVX512: [[TileFn; 2]; 14] = forms!(avx512: 1 2 3 4 5 6 7 8 9 10 11 12 13 14);
pub(super) static AVX2: [[TileFn; 2]; 6] = forms!(avx2: 1 2 3 4 5 6);

#[target_feature(enable = "avx512f")]
unsafe fn avx512<const M: usize, const V: usize>(t: Tile) {
    // SAFETY: the caller promised the extents of `Tile`; every access below is inside them.
    unsafe {
        let mut acc = [[_mm512_setzero_ps(); V]; M];
        if t.join == Join::Resume {
            for (m, row) in acc.iter_mut().enumerate() {
                for (v, sum) in row.iter_mut().enumerate() {
                    *sum = _mm512_loadu_ps(t.c.add(m * t.c_row + v * LANES));
                }
            }
        }
        let (mut a, mut b) = (t.a, t.b);
        for _ in 0..t.k {
            let mut columns = [_mm512_setzero_ps(); V];
            for (v, column) in columns.iter_mut().enumerate() {
                *column = _mm512_loadu_ps(b.add(v * LANES));
                // Weights stream past once per step when sampling; pages end the hardware's own prefetching.
                _mm_prefetch::<_MM_HINT_T0>(b.wrapping_add(AHEAD * t.b_row + v * LANES).cast());
            }
            for (m, row) in acc.iter_mut().enumerate() {
                let x = _mm512_set1_ps(*a.add(m * t.a_row));
                for (sum, column) in row.iter_mut().zip(columns) {
                    *sum = _mm512_fmadd_ps(x, column, *sum);
                }
            }
            a = a.wrapping_add(t.a_step);
            b = b.wrapping_add(t.b_row);
        }
        if t.join == Join::Add {
            for (m, row) in acc.iter_mut().enumerate() {
                for (v, sum) in row.iter_mut().enumerate() {
                    *sum = _mm512_add_ps(*sum, _mm512_loadu_ps(t.c.add(m * t.c_row + v * LANES)));
                }
            }
        }
        for (m, row) in acc.iter().enumerate() {
            for (v, sum) in row.iter().enumerate() {
                _mm512_storeu_ps(t.c.add(m * t.c_row + v * LANES), *sum);
            }
        }
    }
}

#[target_feature(enable = "avx2,fma")]
unsafe fn avx2<const M: usize, const V: usize>(t: Tile) {
    for v in 0..V {
        // SAFETY: the caller promised `V` vectors of sixteen columns; this is the `v`-th.
        unsafe { avx2_column::<M>(Tile { b: t.b.add(v * LANES), c: t.c.add(v * LANES), ..t }) }
    }
}

#[inline]
#[target_feature(enable = "avx2,fma")]
unsafe fn avx2_column<const M: usize>(t: Tile) {
    // SAFETY: the caller promised the extents of `Tile` for sixteen columns; every access below is inside them.
    unsafe {
        let mut acc = [[_mm256_setzero_ps(); 2]; M];
        if t.join == Join::Resume {
            for (m, row) in acc.iter_mut().enumerate() {
                for (v, sum) in row.iter_mut().enumerate() {
                    *sum = _mm256_loadu_ps(t.c.add(m * t.c_row + v * 8));
                }
            }
        }
        let (mut a, mut b) = (t.a, t.b);
        for _ in 0..t.k {
            let columns = [_mm256_loadu_ps(b), _mm256_loadu_ps(b.add(8))];
            for (m, row) in acc.iter_mut().enumerate() {
                let x = _mm256_set1_ps(*a.add(m * t.a_row));
                for (sum, column) in row.iter_mut().zip(columns) {
                    *sum = _mm256_fmadd_ps(x, column, *sum);
                }
            }
            a = a.wrapping_add(t.a_step);
            b = b.wrapping_add(t.b_row);
        }
        if t.join == Join::Add {
            for (m, row) in acc.iter_mut().enumerate() {
                for (v, sum) in row.iter_mut().enumerate() {
                    *sum = _mm256_add_ps(*sum, _mm256_loadu_ps(t.c.add(m * t.c_row + v * 8)));
                }
            }
        }
        for (m, row) in acc.iter().enumerate() {
            for (v, sum) in row.iter().enumerate() {
                _mm256_storeu_ps(t.c.add(m * t.c_row + v * 8), *sum);
            }
        }
    }
}
