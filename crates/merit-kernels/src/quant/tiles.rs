//! Up to sixteen rows by strips of a panel in AMX tiles: codes become tiles of bf16, whose products with the rows are scaled.
//!
//! The three stages of a group follow each other at a distance, so that no tile is loaded right behind the stores that fill it.

// Tile instructions have no intrinsics; assembly and vector code on raw pointers inside the extents of `Tile` and `Left`.
#![allow(unsafe_code)]

use super::lanes::{LANES, Lanes as _};
use super::lanes_x86::Avx512;
use super::scheme::{Codes, LINE, Rule, Scheme};
use super::walk::{Tile, Visit, load, save, walk};
use std::arch::asm;
use std::arch::x86_64::__m512;

/// Rows of a tile.
const ROWS: usize = 16;
/// Groups whose scales are kept.
const RING: usize = 4;

/// Sixteen rows by sixteen columns of f32, or sixteen pairs of inputs by sixteen columns of bf16.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Square([f32; ROWS * LANES]);

const ZERO: Square = Square([0.0; ROWS * LANES]);

/// The rows of a product in bf16, row-major.
pub(super) struct Left {
    pub(super) data: *const u16,
    pub(super) row_bytes: usize,
}

#[repr(C, align(64))]
struct Configuration([u8; 64]);

/// The tiles of this thread; given back when dropped, so that the system need not save them.
#[derive(Default)]
pub(super) struct Configured(Option<(usize, usize)>);

impl Configured {
    /// Tiles 0 to 3 are results, 4 the left matrix, 5 to 7 the right one; the system must have permitted tiles.
    pub(super) fn set(&mut self, rows: usize, group: usize) {
        if self.0 == Some((rows, group)) {
            return;
        }
        let mut bytes = [0; 64];
        bytes[0] = 1;
        let (result, right) = ((rows, LINE), (group / 2, LINE));
        let sizes = [result, result, result, result, (rows, 2 * group), right, right, right];
        for (tile, (height, width)) in sizes.into_iter().enumerate() {
            (bytes[16 + 2 * tile], bytes[48 + tile]) = (width as u8, height as u8);
        }
        let configuration = Configuration(bytes);
        // SAFETY: a valid configuration of 64 bytes; the caller has asked for permission.
        unsafe { asm!("ldtilecfg [{}]", in(reg) &raw const configuration, options(nostack, readonly)) };
        self.0 = Some((rows, group));
    }
}

impl Drop for Configured {
    fn drop(&mut self) {
        if self.0.is_some() {
            // SAFETY: `ldtilecfg` was legal before; nothing is kept in tiles between products.
            unsafe { asm!("tilerelease", options(nomem, nostack)) };
        }
    }
}

/// Groups of `V` strips on their way.
struct Groups<const V: usize> {
    sums: [Square; V],
    /// Codes in bf16, of the group that is being filled and of the one before.
    right: [[Square; V]; 2],
    /// Products of the two groups before.
    results: [[Square; V]; 2],
    scales: [[[[f32; LANES]; 2]; V]; RING],
    left: *const u16,
    row_bytes: usize,
    group_sums: *const f32,
    /// Groups that were filled.
    filled: usize,
    /// Pairs of inputs of the group that is being filled.
    pairs: usize,
}

macro_rules! multiply {
    ($self:ident, $left:expr, $right:expr, $results:expr, $($line:literal)*) => {
        asm!(
            $($line,)*
            left = in(reg) $left,
            row = in(reg) $self.row_bytes,
            right = in(reg) $right,
            results = in(reg) $results,
            line = in(reg) LINE,
            out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
            out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
            options(nostack),
        )
    };
}

impl<const V: usize> Groups<V> {
    /// The rows' inputs of a group times its codes.
    #[inline(always)]
    unsafe fn multiply<S: Scheme>(&mut self, group: usize) {
        let left = self.left.wrapping_add(group * S::SHAPE.group());
        let (right, results) = (self.right[group % 2].as_ptr(), self.results[group % 2].as_mut_ptr());
        // SAFETY: the left rows have the inputs of every group; both buffers have `V` squares. The tiles were set up by whoever
        // called the kernel.
        unsafe {
            match V {
                1 => multiply!(self, left, right, results,
                    "tileloadd tmm4, [{left} + {row}]"
                    "tilezero tmm0"
                    "tileloadd tmm5, [{right} + {line}]"
                    "tdpbf16ps tmm0, tmm4, tmm5"
                    "tilestored [{results} + {line}], tmm0"),
                2 => multiply!(self, left, right, results,
                    "tileloadd tmm4, [{left} + {row}]"
                    "tilezero tmm0"
                    "tileloadd tmm5, [{right} + {line}]"
                    "tdpbf16ps tmm0, tmm4, tmm5"
                    "tilezero tmm1"
                    "tileloadd tmm6, [{right} + {line} + 1024]"
                    "tdpbf16ps tmm1, tmm4, tmm6"
                    "tilestored [{results} + {line}], tmm0"
                    "tilestored [{results} + {line} + 1024], tmm1"),
                _ => multiply!(self, left, right, results,
                    "tileloadd tmm4, [{left} + {row}]"
                    "tilezero tmm0"
                    "tileloadd tmm5, [{right} + {line}]"
                    "tdpbf16ps tmm0, tmm4, tmm5"
                    "tilezero tmm1"
                    "tileloadd tmm6, [{right} + {line} + 1024]"
                    "tdpbf16ps tmm1, tmm4, tmm6"
                    "tilezero tmm2"
                    "tileloadd tmm7, [{right} + {line} + 2048]"
                    "tdpbf16ps tmm2, tmm4, tmm7"
                    "tilezero tmm3"
                    "tileloadd tmm5, [{right} + {line} + 3072]"
                    "tdpbf16ps tmm3, tmm4, tmm5"
                    "tilestored [{results} + {line}], tmm0"
                    "tilestored [{results} + {line} + 1024], tmm1"
                    "tilestored [{results} + {line} + 2048], tmm2"
                    "tilestored [{results} + {line} + 3072], tmm3"),
            }
        }
    }

    /// The products of a group, scaled, on the end of the chains.
    #[inline(always)]
    unsafe fn add<S: Scheme>(&mut self, group: usize) {
        let group_sums = self.group_sums.wrapping_add(group * ROWS);
        // SAFETY: squares have sixteen rows; `group_sums` has sixteen for each group.
        unsafe {
            for v in 0..V {
                let [factor, low] = self.scales[group % RING][v].each_ref();
                let (factor, low) =
                    (Avx512::floats(factor.as_ptr().cast()), Avx512::floats(low.as_ptr().cast()));
                let (products, sums) = (&self.results[group % 2][v].0, &mut self.sums[v].0);
                for m in 0..ROWS {
                    let at = sums.as_mut_ptr().add(m * LANES);
                    let product = Avx512::floats(products.as_ptr().add(m * LANES).cast());
                    let mut sum = Avx512::fma(factor, product, Avx512::floats(at.cast()));
                    if S::RULE == Rule::Affine {
                        sum = Avx512::fma(low, Avx512::splat(*group_sums.add(m)), sum);
                    }
                    Avx512::store(at, sum);
                }
            }
        }
    }
}

impl<S: Scheme, const V: usize> Visit<Avx512, S, V> for Groups<V> {
    const STEP: usize = 2;

    #[inline(always)]
    unsafe fn inputs(&mut self, codes: &mut [Codes<Avx512>; V], _: &[[__m512; 2]; V]) {
        let right = self.right[self.filled % 2].as_mut_ptr();
        for (v, codes) in codes.iter_mut().enumerate() {
            // SAFETY: a group has at most sixteen pairs of inputs, and a square as many rows.
            unsafe {
                let (even, odd) = (S::code(codes), S::code(codes));
                Avx512::store_pairs(right.add(v).cast::<u8>().add(self.pairs * LINE), even, odd);
            }
        }
        self.pairs += 1;
    }

    #[inline(always)]
    unsafe fn group(&mut self, scales: &[[__m512; 2]; V]) {
        // SAFETY: the group before was filled, and the one before that multiplied.
        unsafe {
            for (from, to) in scales.iter().zip(&mut self.scales[self.filled % RING]) {
                from.iter().zip(to).for_each(|(scale, place)| Avx512::store(place.as_mut_ptr(), *scale));
            }
            if self.filled >= 2 {
                self.add::<S>(self.filled - 2);
            }
            if self.filled >= 1 {
                self.multiply::<S>(self.filled - 1);
            }
            (self.filled, self.pairs) = (self.filled + 1, 0);
        }
    }
}

/// # Safety
/// The extents of `Tile`, `V` strips wide, and of the rows hold; AVX-512 and AMX are there, and `Configured` has set up tiles.
#[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512dq,avx2,fma")]
pub(super) unsafe fn tile<S: Scheme, const V: usize>(t: &Tile, left: &Left) {
    let mut groups = Groups {
        sums: [ZERO; V],
        right: [[ZERO; V]; 2],
        results: [[ZERO; V]; 2],
        scales: [[[[0.0; LANES]; 2]; V]; RING],
        left: left.data,
        row_bytes: left.row_bytes,
        group_sums: t.group_sums,
        filled: 0,
        pairs: 0,
    };
    // SAFETY: as the caller promised; behind the walk every group is filled.
    unsafe {
        if t.resume {
            for (v, sums) in groups.sums.iter_mut().enumerate() {
                for (m, sum) in sums.0.chunks_exact_mut(LANES).take(t.rows).enumerate() {
                    Avx512::store(sum.as_mut_ptr(), load::<Avx512>(t, m, v * LANES));
                }
            }
        }
        walk::<Avx512, S, V, _>(t, &mut groups);
        let count = groups.filled;
        if count >= 2 {
            groups.add::<S>(count - 2);
        }
        if count >= 1 {
            groups.multiply::<S>(count - 1);
            groups.add::<S>(count - 1);
        }
        for (v, sums) in groups.sums.iter().enumerate() {
            for (m, sum) in sums.0.chunks_exact(LANES).take(t.rows).enumerate() {
                save::<Avx512>(t, m, v * LANES, Avx512::floats(sum.as_ptr().cast()));
            }
        }
    }
}
