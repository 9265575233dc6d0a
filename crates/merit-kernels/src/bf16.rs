//! Numbers of sixteen bits: rounding from f32 and back, and the tiles that products of them read.
//!
//! In: f32 matrices, read along or across their rows. Out: tiles of 16 lines, each line sixteen pairs of bf16. A pair holds
//! two neighbours along the sum of the product, the even one in the low half. What lies outside the matrix is zero.

// Intrinsics on raw pointers, inside extents that are checked first.
#![allow(unsafe_code)]

use crate::Isa;
use crate::isa::Kind;

/// Lines of a tile, and pairs of a line.
pub const LINES: usize = 16;
/// Steps of the sum that one tile covers.
pub(crate) const DEPTH: usize = 2 * LINES;

/// Sixteen pairs: one cache line, one vector, one row of a tile register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Line(pub [u32; LINES]);

pub const BLANK: Line = Line([0; LINES]);

/// The nearest bf16, ties to even. Subnormal numbers become zero and signalling NaNs quiet, as the processor's own
/// instruction does.
#[inline(always)]
pub fn round(x: f32) -> u16 {
    let bits = x.to_bits();
    let size = bits & 0x7fff_ffff;
    let rounded = bits.wrapping_add(0x7fff + ((bits >> 16) & 1)) >> 16;
    let kept = if size > 0x7f80_0000 { (bits >> 16) | 0x40 } else { rounded };
    (if size < 0x0080_0000 { (bits >> 16) & 0x8000 } else { kept }) as u16
}

/// The pair as two f32, even first.
#[inline(always)]
pub(crate) fn widen(pair: u32) -> (f32, f32) {
    (f32::from_bits(pair << 16), f32::from_bits(pair & 0xffff_0000))
}

#[inline(always)]
fn pair(even: f32, odd: f32) -> u32 {
    u32::from(round(even)) | (u32::from(round(odd)) << 16)
}

/// A row-major f32 matrix of which a tile is cut.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    pub(crate) data: &'a [f32],
    /// Floats from one row to the next.
    pub(crate) stride: usize,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
}

impl<'a> Source<'a> {
    pub fn new(data: &'a [f32], stride: usize, rows: usize, columns: usize) -> Self {
        let fits = rows == 0 || (columns <= stride && (rows - 1) * stride + columns <= data.len());
        assert!(fits, "product: a matrix is too short");
        Self { data, stride, rows, columns }
    }

    fn row(&self, row: usize, first: usize, most: usize) -> &'a [f32] {
        if row >= self.rows || first >= self.columns {
            return &[];
        }
        let at = row * self.stride;
        &self.data[at + first..at + self.columns.min(first + most)]
    }
}

/// How the sum of the product runs through the source, and what the lines of the tile stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// The sum runs along a row; one line per row.
    Along,
    /// The sum runs along a row; one line per pair of columns.
    AlongTransposed,
    /// The sum runs from row to row; one line per pair of rows.
    Across,
    /// The sum runs from row to row; one line per column.
    AcrossTransposed,
}

/// Cuts tiles out of a source; which instructions do it does not show in the result.
#[derive(Clone, Copy)]
pub struct Cutter {
    #[cfg(target_arch = "x86_64")]
    vectors: bool,
    cut: Cut,
}

impl Cutter {
    pub fn new(isa: Isa, cut: Cut) -> Self {
        #[cfg(target_arch = "x86_64")]
        let vectors = isa.kind() == Kind::Avx512 && is_x86_feature_detected!("avx512bf16");
        #[cfg(not(target_arch = "x86_64"))]
        let _ = (isa, Kind::Portable);
        Self {
            #[cfg(target_arch = "x86_64")]
            vectors,
            cut,
        }
    }

    /// Runs of `run` lines each, all along the sum, for the sixteens of rows or columns from `first` on.
    pub(crate) fn runs(self, source: Source, first: usize, run: usize, lines: &mut [Line]) {
        if matches!(self.cut, Cut::Along | Cut::AlongTransposed) {
            for (index, lines) in lines.chunks_exact_mut(run).enumerate() {
                for (step, tile) in lines.chunks_exact_mut(LINES).enumerate() {
                    self.tile(source, first + index * LINES, step, tile);
                }
            }
            return;
        }
        // Step by step, so that the source is read row by row.
        for step in 0..run / LINES {
            for (index, lines) in lines.chunks_exact_mut(run).enumerate() {
                self.tile(source, first + index * LINES, step, &mut lines[step * LINES..]);
            }
        }
    }

    /// The tile number `step` along the sum, of the sixteen rows or columns that begin at `first`.
    pub fn tile(self, source: Source, first: usize, step: usize, to: &mut [Line]) {
        let to = to.first_chunk_mut::<LINES>().expect("a tile has sixteen lines");
        let (row, column) = match self.cut {
            Cut::Along | Cut::AlongTransposed => (first, step * DEPTH),
            Cut::Across | Cut::AcrossTransposed => (step * DEPTH, first),
        };
        #[cfg(target_arch = "x86_64")]
        if self.vectors {
            // SAFETY: the features were detected by `new`.
            return unsafe { x86::tile(self.cut, source, row, column, to) };
        }
        match self.cut {
            Cut::Along | Cut::AlongTransposed => along(source, row, column, to),
            Cut::Across | Cut::AcrossTransposed => across(source, row, column, to),
        }
        if matches!(self.cut, Cut::AlongTransposed | Cut::AcrossTransposed) {
            transpose(to);
        }
    }
}

fn along(source: Source, row: usize, column: usize, to: &mut [Line; LINES]) {
    for (i, line) in to.iter_mut().enumerate() {
        let values = source.row(row + i, column, DEPTH);
        let at = |k: usize| values.get(k).copied().unwrap_or(0.0);
        line.0 = std::array::from_fn(|p| pair(at(2 * p), at(2 * p + 1)));
    }
}

fn across(source: Source, row: usize, column: usize, to: &mut [Line; LINES]) {
    for (p, line) in to.iter_mut().enumerate() {
        let even = source.row(row + 2 * p, column, LINES);
        let odd = source.row(row + 2 * p + 1, column, LINES);
        let at = |values: &[f32], i: usize| values.get(i).copied().unwrap_or(0.0);
        line.0 = std::array::from_fn(|i| pair(at(even, i), at(odd, i)));
    }
}

fn transpose(tile: &mut [Line; LINES]) {
    let from = *tile;
    for (i, line) in tile.iter_mut().enumerate() {
        line.0 = std::array::from_fn(|j| from[j].0[i]);
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::*;
    use std::arch::x86_64::*;

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512bf16")]
    pub(super) fn tile(cut: Cut, source: Source, row: usize, column: usize, to: &mut [Line; LINES]) {
        let mut lines = match cut {
            Cut::Along | Cut::AlongTransposed => along(source, row, column),
            Cut::Across | Cut::AcrossTransposed => across(source, row, column),
        };
        if matches!(cut, Cut::AlongTransposed | Cut::AcrossTransposed) {
            lines = transpose(lines);
        }
        for (line, to) in lines.into_iter().zip(to) {
            // SAFETY: a line is sixteen dwords on a boundary of 64 bytes.
            unsafe { _mm512_store_si512((&raw mut to.0).cast(), line) };
        }
    }

    /// Up to sixteen floats of a row, zeros behind its end.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512bf16")]
    fn floats(source: Source, row: usize, column: usize) -> __m512 {
        if row >= source.rows || column >= source.columns {
            return _mm512_setzero_ps();
        }
        let count = (source.columns - column).min(LINES);
        // SAFETY: the mask lets through only what lies inside the row, which `Source::new` found inside the slice.
        unsafe {
            let from = source.data.as_ptr().add(row * source.stride + column);
            if count == LINES {
                return _mm512_loadu_ps(from);
            }
            _mm512_maskz_loadu_ps(((1_u32 << count) - 1) as u16, from)
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512bf16")]
    fn round_two(low: __m512, high: __m512) -> __m512i {
        let both = _mm512_cvtne2ps_pbh(high, low);
        // SAFETY: both types are plain vectors of 64 bytes.
        unsafe { std::mem::transmute::<__m512bh, __m512i>(both) }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512bf16")]
    fn along(source: Source, row: usize, column: usize) -> [__m512i; LINES] {
        let mut lines = [_mm512_setzero_si512(); LINES];
        for (i, line) in lines.iter_mut().enumerate() {
            *line = round_two(floats(source, row + i, column), floats(source, row + i, column + LINES));
        }
        lines
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512bf16")]
    fn across(source: Source, row: usize, column: usize) -> [__m512i; LINES] {
        const WEAVE: [u16; 32] = {
            let mut order = [0; 32];
            let mut i = 0;
            while i < 16 {
                order[2 * i] = i as u16;
                order[2 * i + 1] = 16 + i as u16;
                i += 1;
            }
            order
        };
        // SAFETY: 64 readable bytes.
        let weave = unsafe { _mm512_loadu_si512(WEAVE.as_ptr().cast()) };
        let mut lines = [_mm512_setzero_si512(); LINES];
        for (p, line) in lines.iter_mut().enumerate() {
            let rows =
                round_two(floats(source, row + 2 * p, column), floats(source, row + 2 * p + 1, column));
            *line = _mm512_permutexvar_epi16(weave, rows);
        }
        lines
    }

    /// The transpose of sixteen lines of sixteen dwords: by ones and twos within quarters, then quarters by fours.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512bf16")]
    fn transpose(a: [__m512i; LINES]) -> [__m512i; LINES] {
        let (mut b, mut c) = (a, a);
        for i in 0..8 {
            b[2 * i] = _mm512_unpacklo_epi32(a[2 * i], a[2 * i + 1]);
            b[2 * i + 1] = _mm512_unpackhi_epi32(a[2 * i], a[2 * i + 1]);
        }
        for i in 0..4 {
            c[4 * i] = _mm512_unpacklo_epi64(b[4 * i], b[4 * i + 2]);
            c[4 * i + 1] = _mm512_unpackhi_epi64(b[4 * i], b[4 * i + 2]);
            c[4 * i + 2] = _mm512_unpacklo_epi64(b[4 * i + 1], b[4 * i + 3]);
            c[4 * i + 3] = _mm512_unpackhi_epi64(b[4 * i + 1], b[4 * i + 3]);
        }
        // c[4 i + j] holds columns j, j + 4, j + 8, j + 12 of rows 4 i .. 4 i + 4, a quarter each.
        for j in 0..4 {
            let low =
                (_mm512_shuffle_i32x4::<0x88>(c[j], c[4 + j]), _mm512_shuffle_i32x4::<0xdd>(c[j], c[4 + j]));
            let high = (
                _mm512_shuffle_i32x4::<0x88>(c[8 + j], c[12 + j]),
                _mm512_shuffle_i32x4::<0xdd>(c[8 + j], c[12 + j]),
            );
            b[j] = _mm512_shuffle_i32x4::<0x88>(low.0, high.0);
            b[j + 8] = _mm512_shuffle_i32x4::<0xdd>(low.0, high.0);
            b[j + 4] = _mm512_shuffle_i32x4::<0x88>(low.1, high.1);
            b[j + 12] = _mm512_shuffle_i32x4::<0xdd>(low.1, high.1);
        }
        b
    }
}
