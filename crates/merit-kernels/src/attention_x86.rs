//! One position's attention over one page of floats, for AVX-512.
//!
//! The same chains as the tiles of products, in forms that suit a few rows: sixteen sums at a time, and the memory that is
//! needed next asked for on the way, since caches of many sequences do not stay near.

// Intrinsics on raw pointers; the callers below check all bounds first.
#![allow(unsafe_code)]

use crate::attention_one_x86::{Attended, Sides, Stretch};
use crate::gemm::{PIECE, Sum};
use crate::page::{LANES, PAGE, PageLayout};
use crate::tile::Join;
use std::arch::x86_64::*;

/// Rows, and vectors of columns, of one tile.
const MOST: usize = 4;

/// Memory that will be read soon: lines of `vectors` vectors, `row` numbers apart. Any address will do.
#[derive(Clone, Copy)]
struct Ahead {
    data: *const f32,
    row: usize,
    vectors: usize,
}

impl Ahead {
    const NOTHING: Self = Self { data: std::ptr::null(), row: 0, vectors: 0 };
}

/// Walks over memory that will be read soon, a few vectors at a time.
struct Walk {
    ahead: Ahead,
    vector: usize,
}

impl Walk {
    #[inline(always)]
    fn step<const V: usize>(&mut self) {
        if self.ahead.vectors == 0 {
            return;
        }
        for _ in 0..V {
            // SAFETY: a prefetch reads nothing and may point anywhere.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(self.ahead.data.wrapping_add(self.vector * LANES).cast()) };
            self.vector += 1;
            if self.vector == self.ahead.vectors {
                self.vector = 0;
                self.ahead.data = self.ahead.data.wrapping_add(self.ahead.row);
            }
        }
    }
}

/// `to[m, n] (+)= Σ_k a[m, k] b[k, n]`, k ascending; the last `n` of a row are written under a mask.
#[derive(Clone, Copy)]
struct Strip {
    k: usize,
    a: *const f32,
    a_row: usize,
    b: *const f32,
    b_row: usize,
    to: *mut f32,
    to_row: usize,
    /// Columns of the last vector.
    last: __mmask16,
    join: Join,
    ahead: Ahead,
}

type StripFn = unsafe fn(Strip);

macro_rules! forms {
    ($($m:literal)*) => { [$([strip::<$m, 1>, strip::<$m, 2>, strip::<$m, 3>, strip::<$m, 4>]),*] };
}

const FORMS: [[StripFn; MOST]; MOST] = forms!(1 2 3 4);

#[target_feature(enable = "avx512f")]
unsafe fn strip<const M: usize, const V: usize>(s: Strip) {
    // SAFETY: the caller promised the extents of `Strip`; every access below is inside them.
    unsafe {
        let masks: [__mmask16; V] = std::array::from_fn(|v| if v + 1 == V { s.last } else { !0 });
        let mut acc = [[_mm512_setzero_ps(); V]; M];
        if s.join == Join::Resume {
            for (m, row) in acc.iter_mut().enumerate() {
                for (v, sum) in row.iter_mut().enumerate() {
                    *sum = _mm512_maskz_loadu_ps(masks[v], s.to.add(m * s.to_row + v * LANES));
                }
            }
        }
        let (mut a, mut b, mut walk) = (s.a, s.b, Walk { ahead: s.ahead, vector: 0 });
        for _ in 0..s.k {
            let mut columns = [_mm512_setzero_ps(); V];
            for (v, column) in columns.iter_mut().enumerate() {
                *column = _mm512_loadu_ps(b.add(v * LANES));
            }
            walk.step::<V>();
            for (m, row) in acc.iter_mut().enumerate() {
                let x = _mm512_set1_ps(*a.add(m * s.a_row));
                for (sum, column) in row.iter_mut().zip(columns) {
                    *sum = _mm512_fmadd_ps(x, column, *sum);
                }
            }
            a = a.wrapping_add(1);
            b = b.wrapping_add(s.b_row);
        }
        if s.join == Join::Add {
            for (m, row) in acc.iter_mut().enumerate() {
                for (v, sum) in row.iter_mut().enumerate() {
                    let before = _mm512_maskz_loadu_ps(masks[v], s.to.add(m * s.to_row + v * LANES));
                    *sum = _mm512_add_ps(*sum, before);
                }
            }
        }
        for (m, row) in acc.iter().enumerate() {
            for (v, sum) in row.iter().enumerate() {
                _mm512_mask_storeu_ps(s.to.add(m * s.to_row + v * LANES), masks[v], *sum);
            }
        }
    }
}

/// The product of `m` rows of `a` with `k` rows of `b`, `n` columns wide, into `to`.
///
/// # Safety
/// The processor has AVX-512; `to` is writable for `m` rows of `n` columns, by no one else now.
unsafe fn few_rows(
    (m, n, k): (usize, usize, usize),
    (a, a_row): (&[f32], usize),
    (b, b_row): (&[f32], usize),
    (to, to_row): (*mut f32, usize),
    (join, sum): (Join, Sum),
    ahead: Ahead,
) {
    if m == 0 || n == 0 || k == 0 {
        return;
    }
    assert!((m - 1) * a_row + k <= a.len(), "attention: the left matrix is too short");
    assert!(
        (k - 1) * b_row + n.next_multiple_of(LANES) <= b.len(),
        "attention: the right matrix is too short"
    );
    for m0 in (0..m).step_by(MOST) {
        let rows = MOST.min(m - m0);
        for n0 in (0..n).step_by(MOST * LANES) {
            let width = (n - n0).min(MOST * LANES);
            let vectors = width.div_ceil(LANES);
            // Each block of columns asks for its share of the rows.
            let ahead = Ahead { data: ahead.data.wrapping_add(n0 * ahead.row), ..ahead };
            let ahead = if m0 == 0 { ahead } else { Ahead::NOTHING };
            let strip = Strip {
                k,
                a: a[m0 * a_row..].as_ptr(),
                a_row,
                b: b[n0..].as_ptr(),
                b_row,
                to: to.wrapping_add(m0 * to_row + n0),
                to_row,
                last: !0 >> (vectors * LANES - width),
                join,
                ahead,
            };
            let piece = if sum == Sum::Pieces { PIECE } else { k };
            for k0 in (0..k).step_by(piece) {
                let part = Strip {
                    k: piece.min(k - k0),
                    a: strip.a.wrapping_add(k0),
                    b: strip.b.wrapping_add(k0 * b_row),
                    join: if k0 == 0 { join } else { Join::Add },
                    ahead: Ahead { data: strip.ahead.data.wrapping_add(k0 * ahead.row), ..strip.ahead },
                    ..strip
                };
                // SAFETY: both inputs were found long enough, the result is promised.
                unsafe { FORMS[rows - 1][vectors - 1](part) };
            }
        }
    }
}

impl Attended for f32 {
    unsafe fn score(stretch: &Stretch<Self>, Sides { rows, left, to }: Sides) {
        let Stretch { layout, keys, part, ahead, values_ahead, .. } = stretch;
        let wide = part.len().next_multiple_of(LANES);
        // As many vectors of values follow as there are of keys.
        let row = if *values_ahead { wide } else { PAGE };
        let ahead = Ahead { data: *ahead, row, vectors: wide / LANES };
        let (size, sum) = ((rows, wide, layout.dim()), Sum::over_head(layout.dim()));
        // SAFETY: as promised.
        unsafe { few_rows(size, left, (&keys[part.start..], PAGE), to, (Join::Replace, sum), ahead) };
    }

    unsafe fn mix(stretch: &Stretch<Self>, Sides { rows, left, to }: Sides, join: Join) {
        let Stretch { layout, values, part, ahead, values_ahead, .. } = stretch;
        let (row, vectors) = (layout.value_row(), part.len().div_ceil(LANES));
        let ahead = if *values_ahead {
            Ahead { data: *ahead, row, vectors: row / LANES }
        } else {
            Ahead { data: *ahead, row: PAGE, vectors }
        };
        let (size, right) = ((rows, layout.dim(), part.len()), (&values[part.start * row..], row));
        // SAFETY: as promised.
        unsafe { few_rows(size, left, right, to, (join, Sum::Chain), ahead) };
    }

    fn keys_from(_: PageLayout, position: usize) -> usize {
        position
    }

    fn values_from(layout: PageLayout, position: usize) -> usize {
        position * layout.value_row()
    }
}

/// Asks for one number of each of `rows` lines, `row` numbers apart, to be written soon.
pub(crate) fn ask_for<T>(data: &[T], rows: usize, row: usize) {
    for i in 0..rows {
        // SAFETY: a prefetch reads nothing and may point anywhere.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(data.as_ptr().wrapping_add(i * row).cast()) };
    }
}
