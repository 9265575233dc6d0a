//! Products with activations in bf16: the codes of a group are summed first, then scaled.
//!
//! For each output element, group after group: the even inputs of the group times their codes in one chain of fused
//! multiply-adds from zero, the odd ones in another; the two added; that times the factor on the end of the element's chain;
//! then the sum of the group's activations times the lowest value. Codes are whole numbers that bfloat16 holds, so weights are
//! not rounded at all. This is how AMX tiles add, so both give the same bits.

// Works on raw pointers; `product_bf16` stays inside panels, rows and results.
#![allow(unsafe_code)]

use super::kernel::Form;
use super::lanes::{Lanes, Portable};
#[cfg(target_arch = "x86_64")]
use super::lanes_x86::{Avx2, Avx512};
use super::scheme::{self, Codes, Rule, Scheme};
#[cfg(target_arch = "x86_64")]
use super::tiles;
use super::walk::{Tile, Visit, finish, start, walk};
use crate::isa::{Isa, Kind};
use merit_formats::Encoding;

/// What one instruction set has for one encoding, activations in bf16.
pub(super) struct SumForms {
    /// By height, lowest first.
    pub(super) tiles: &'static [Form],
    /// Up to sixteen rows in AMX tiles, by one, two and four strips.
    #[cfg(target_arch = "x86_64")]
    pub(super) amx: [unsafe fn(&Tile, &tiles::Left); 3],
}

impl SumForms {
    /// `None` for plain numbers, which have no codes.
    pub(super) fn of(isa: Isa, encoding: Encoding) -> Option<Self> {
        Some(match encoding {
            Encoding::F32 | Encoding::F16 | Encoding::Bf16 => return None,
            Encoding::Q8_0 => Self::with::<scheme::Q8_0>(isa),
            Encoding::Q4_0 => Self::with::<scheme::Q4_0>(isa),
            Encoding::Q4_1 => Self::with::<scheme::Q4_1>(isa),
            Encoding::Q5_0 => Self::with::<scheme::Q5_0>(isa),
            Encoding::Q5_1 => Self::with::<scheme::Q5_1>(isa),
            Encoding::Q4K => Self::with::<scheme::Q4K>(isa),
            Encoding::Q5K => Self::with::<scheme::Q5K>(isa),
            Encoding::Q6K => Self::with::<scheme::Q6K>(isa),
        })
    }

    fn with<S: Scheme>(isa: Isa) -> Self {
        let tiles: &'static [Form] = match isa.kind() {
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => {
                const {
                    &[
                        (1, [Some(avx512::<S, 1, 1>), Some(avx512::<S, 1, 2>), Some(avx512::<S, 1, 4>)]),
                        (2, [Some(avx512::<S, 2, 1>), Some(avx512::<S, 2, 2>), None]),
                        (4, [Some(avx512::<S, 4, 1>), Some(avx512::<S, 4, 2>), None]),
                        (8, [Some(avx512::<S, 8, 1>), None, None]),
                    ]
                }
            }
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => {
                const { &[(1, [Some(avx2::<S, 1, 1>), None, None]), (2, [Some(avx2::<S, 2, 1>), None, None])] }
            }
            Kind::Portable => {
                const {
                    &[
                        (1, [Some(tile::<Portable, S, 1, 1>), None, None]),
                        (4, [Some(tile::<Portable, S, 4, 1>), None, None]),
                    ]
                }
            }
        };
        Self {
            tiles,
            #[cfg(target_arch = "x86_64")]
            amx: [tiles::tile::<S, 1>, tiles::tile::<S, 2>, tiles::tile::<S, 4>],
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512dq,avx2,fma")]
unsafe fn avx512<S: Scheme, const M: usize, const V: usize>(t: &Tile) {
    // SAFETY: as the caller promised.
    unsafe { tile::<Avx512, S, M, V>(t) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn avx2<S: Scheme, const M: usize, const V: usize>(t: &Tile) {
    // SAFETY: as the caller promised.
    unsafe { tile::<Avx2, S, M, V>(t) }
}

struct Sums<L: Lanes, const M: usize, const V: usize> {
    sums: [[L::Floats; V]; M],
    even: [[L::Floats; V]; M],
    odd: [[L::Floats; V]; M],
    x: *const f32,
    group_sums: *const f32,
}

impl<L: Lanes, S: Scheme, const M: usize, const V: usize> Visit<L, S, V> for Sums<L, M, V> {
    const STEP: usize = 2;

    #[inline(always)]
    unsafe fn inputs(&mut self, codes: &mut [Codes<L>; V], _: &[[L::Floats; 2]; V]) {
        // SAFETY: as the caller promises; each call moves on by two inputs of `M` rows.
        unsafe {
            for chains in [&mut self.even, &mut self.odd] {
                let mut numbers = [L::splat(0.0); V];
                for (v, numbers) in numbers.iter_mut().enumerate() {
                    *numbers = S::code::<L>(&mut codes[v]);
                }
                for (m, row) in chains.iter_mut().enumerate() {
                    let left = L::splat(*self.x.add(m));
                    for (sum, numbers) in row.iter_mut().zip(numbers) {
                        *sum = L::fma(left, numbers, *sum);
                    }
                }
                self.x = self.x.add(M);
            }
        }
    }

    #[inline(always)]
    unsafe fn group(&mut self, scales: &[[L::Floats; 2]; V]) {
        // SAFETY: as the caller promises; `group_sums` has one sum for each row and group.
        unsafe {
            for m in 0..M {
                for (v, [factor, low]) in scales.iter().enumerate() {
                    let both = L::add(self.even[m][v], self.odd[m][v]);
                    self.sums[m][v] = L::fma(*factor, both, self.sums[m][v]);
                    if S::RULE == Rule::Affine {
                        self.sums[m][v] = L::fma(*low, L::splat(*self.group_sums.add(m)), self.sums[m][v]);
                    }
                    (self.even[m][v], self.odd[m][v]) = (L::splat(0.0), L::splat(0.0));
                }
            }
            if S::RULE == Rule::Affine {
                self.group_sums = self.group_sums.add(M);
            }
        }
    }
}

#[inline(always)]
unsafe fn tile<L: Lanes, S: Scheme, const M: usize, const V: usize>(t: &Tile) {
    // SAFETY: as the caller promised.
    unsafe {
        let zero = [[L::splat(0.0); V]; M];
        let sums = start::<L, M, V>(t);
        let mut visitor = Sums::<L, M, V> { sums, even: zero, odd: zero, x: t.x, group_sums: t.group_sums };
        walk::<L, S, V, _>(t, &mut visitor);
        finish::<L, M, V>(t, visitor.sums);
    }
}
