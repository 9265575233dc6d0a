//! One position's attention over one page of bfloat16, for AVX-512.
//!
//! A line of a page holds two numbers for each of sixteen places: a shift makes floats of the first ones, a mask of the
//! second ones. Chains are those of the tiles of products. The memory that is needed next is asked for on the way, line by
//! line, since the pages of many sequences do not stay near.

// Intrinsics on raw pointers; the callers below check all bounds first.
#![allow(unsafe_code)]

use crate::attention_one_x86::{Attended, Sides, Stretch};
use crate::gemm::{PIECE, Sum};
use crate::page::{LANES, PageLayout};
use crate::tile::Join;
use std::arch::x86_64::*;

/// Rows, and vectors of columns, of one tile.
const MOST: usize = 4;

/// `to[m, n] (+)= Σ_k a[m, k] b[k, n]`, where line `i` of vector `v` of `b` holds k = 2i and 2i + 1.
#[derive(Clone, Copy)]
struct Tile {
    k: usize,
    a: *const f32,
    a_row: usize,
    b: *const u32,
    /// Pairs from a line of a vector to its next.
    b_line: usize,
    /// Pairs from a line of a vector to that of the next vector.
    b_vector: usize,
    to: *mut f32,
    to_row: usize,
    /// Columns of the last vector.
    last: __mmask16,
    join: Join,
    /// What will be read soon: a line of it for each line that is read. Any address will do.
    ahead: *const u32,
}

type TileFn = unsafe fn(Tile);

macro_rules! forms {
    ($($m:literal)*) => { [$([tile::<$m, 1>, tile::<$m, 2>, tile::<$m, 3>, tile::<$m, 4>]),*] };
}

const FORMS: [[TileFn; MOST]; MOST] = forms!(1 2 3 4);

#[target_feature(enable = "avx512f")]
unsafe fn tile<const M: usize, const V: usize>(t: Tile) {
    // SAFETY: the caller promised the extents of `Tile`; every access below is inside them, and a prefetch may point anywhere.
    unsafe {
        let masks: [__mmask16; V] = std::array::from_fn(|v| if v + 1 == V { t.last } else { !0 });
        let mut acc = [[_mm512_setzero_ps(); V]; M];
        if t.join == Join::Resume {
            for (m, row) in acc.iter_mut().enumerate() {
                for (v, sum) in row.iter_mut().enumerate() {
                    *sum = _mm512_maskz_loadu_ps(masks[v], t.to.add(m * t.to_row + v * LANES));
                }
            }
        }
        let upper = _mm512_set1_epi32(!0xffff);
        let (mut a, mut b, mut ahead) = (t.a, t.b, t.ahead);
        for _ in 0..t.k / 2 {
            let (mut first, mut second) = ([_mm512_setzero_ps(); V], [_mm512_setzero_ps(); V]);
            for v in 0..V {
                let line = _mm512_load_si512(b.wrapping_add(v * t.b_vector).cast());
                first[v] = _mm512_castsi512_ps(_mm512_slli_epi32::<16>(line));
                second[v] = _mm512_castsi512_ps(_mm512_and_si512(line, upper));
                _mm_prefetch::<_MM_HINT_T0>(ahead.wrapping_add(v * LANES).cast());
            }
            for (m, row) in acc.iter_mut().enumerate() {
                let x = _mm512_set1_ps(*a.wrapping_add(m * t.a_row));
                for (sum, column) in row.iter_mut().zip(first) {
                    *sum = _mm512_fmadd_ps(x, column, *sum);
                }
            }
            for (m, row) in acc.iter_mut().enumerate() {
                let x = _mm512_set1_ps(*a.wrapping_add(m * t.a_row + 1));
                for (sum, column) in row.iter_mut().zip(second) {
                    *sum = _mm512_fmadd_ps(x, column, *sum);
                }
            }
            a = a.wrapping_add(2);
            b = b.wrapping_add(t.b_line);
            ahead = ahead.wrapping_add(V * LANES);
        }
        if t.k % 2 == 1 {
            for (m, row) in acc.iter_mut().enumerate() {
                let x = _mm512_set1_ps(*a.wrapping_add(m * t.a_row));
                for (v, sum) in row.iter_mut().enumerate() {
                    let line = _mm512_load_si512(b.wrapping_add(v * t.b_vector).cast());
                    *sum = _mm512_fmadd_ps(x, _mm512_castsi512_ps(_mm512_slli_epi32::<16>(line)), *sum);
                }
            }
        }
        if t.join == Join::Add {
            for (m, row) in acc.iter_mut().enumerate() {
                for (v, sum) in row.iter_mut().enumerate() {
                    let before = _mm512_maskz_loadu_ps(masks[v], t.to.add(m * t.to_row + v * LANES));
                    *sum = _mm512_add_ps(*sum, before);
                }
            }
        }
        for (m, row) in acc.iter().enumerate() {
            for (v, sum) in row.iter().enumerate() {
                _mm512_mask_storeu_ps(t.to.add(m * t.to_row + v * LANES), masks[v], *sum);
            }
        }
    }
}

/// Where the lines of the right matrix lie, in pairs: from a line of a vector to its next, and to that of the next vector.
#[derive(Clone, Copy)]
struct Lines {
    next: usize,
    vector: usize,
}

/// The product of `m` rows of `a` with a matrix of `k` rows and `n` columns, whose lines `b` holds, into `to`.
///
/// # Safety
/// The processor has AVX-512; `b` begins at a line; `to` is writable for `m` rows of `n` columns, by no one else now.
unsafe fn few_rows(
    (m, n, k): (usize, usize, usize),
    (a, a_row): (&[f32], usize),
    (b, lines): (&[u32], Lines),
    (to, to_row): (*mut f32, usize),
    (join, sum): (Join, Sum),
    ahead: *const u32,
) {
    if m == 0 || n == 0 || k == 0 {
        return;
    }
    assert!((m - 1) * a_row + k <= a.len(), "attention: the left matrix is too short");
    let last = (k.div_ceil(2) - 1) * lines.next + (n.div_ceil(LANES) - 1) * lines.vector;
    assert!(last + LANES <= b.len(), "attention: the right matrix is too short");
    assert!(b.as_ptr().addr().is_multiple_of(64), "attention: the right matrix is not at a line");
    let whole = MOST * LANES;
    if m <= MOST && n <= whole && sum == Sum::Chain {
        let vectors = n.div_ceil(LANES);
        let last = !0 >> (vectors * LANES - n);
        let (a, b, Lines { next: b_line, vector: b_vector }) = (a.as_ptr(), b.as_ptr(), lines);
        // SAFETY: both inputs were found long enough, the result is promised.
        return unsafe {
            FORMS[m - 1][vectors - 1](Tile {
                k,
                a,
                a_row,
                b,
                b_line,
                b_vector,
                to,
                to_row,
                last,
                join,
                ahead,
            })
        };
    }
    for m0 in (0..m).step_by(MOST) {
        let rows = MOST.min(m - m0);
        for n0 in (0..n).step_by(whole) {
            let vectors = (n - n0).min(whole).div_ceil(LANES);
            let b = b[n0 / LANES * lines.vector..].as_ptr();
            // Later rows ask for what they have at hand.
            let ahead = if m0 == 0 { ahead.wrapping_add(n0 / LANES * k.div_ceil(2) * LANES) } else { b };
            let tile = Tile {
                k,
                a: a[m0 * a_row..].as_ptr(),
                a_row,
                b,
                b_line: lines.next,
                b_vector: lines.vector,
                to: to.wrapping_add(m0 * to_row + n0),
                to_row,
                last: !0 >> (vectors * LANES - (n - n0).min(whole)),
                join,
                ahead,
            };
            let piece = if sum == Sum::Pieces { PIECE } else { k };
            for k0 in (0..k).step_by(piece) {
                let part = Tile {
                    k: piece.min(k - k0),
                    a: tile.a.wrapping_add(k0),
                    b: tile.b.wrapping_add(k0 / 2 * lines.next),
                    join: if k0 == 0 { join } else { Join::Add },
                    ahead: tile.ahead.wrapping_add(k0 / 2 * vectors * LANES),
                    ..tile
                };
                // SAFETY: both inputs were found long enough, the result is promised.
                unsafe { FORMS[rows - 1][vectors - 1](part) };
            }
        }
    }
}

impl Attended for u32 {
    unsafe fn score(stretch: &Stretch<Self>, Sides { rows, left, to }: Sides) {
        let Stretch { layout, keys, part, ahead, .. } = stretch;
        let (dim, strip) = (layout.dim(), layout.strip());
        let right = (&keys[part.start / LANES * strip..], Lines { next: LANES, vector: strip });
        let size = (rows, part.len().next_multiple_of(LANES), dim);
        // SAFETY: as promised; strips begin at lines.
        unsafe { few_rows(size, left, right, to, (Join::Replace, Sum::over_head(dim)), *ahead) };
    }

    unsafe fn mix(stretch: &Stretch<Self>, Sides { rows, left, to }: Sides, join: Join) {
        let Stretch { layout, values, part, ahead, .. } = stretch;
        let pair = layout.value_row();
        let right = (&values[part.start / 2 * pair..], Lines { next: pair, vector: LANES });
        // SAFETY: as promised; pairs of positions begin at lines.
        unsafe { few_rows((rows, layout.dim(), part.len()), left, right, to, (join, Sum::Chain), *ahead) };
    }

    fn keys_from(layout: PageLayout, position: usize) -> usize {
        position / LANES * layout.strip()
    }

    fn values_from(layout: PageLayout, position: usize) -> usize {
        position / 2 * layout.value_row()
    }
}
