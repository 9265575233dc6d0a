//! The inner loops: up to sixteen rows by up to four strips of a panel in registers, and the forms of each instruction set.
//!
//! Weights are made in registers, one input of sixteen columns at a time, and used by all rows at once; each output element
//! is added in the order of `gemm` on the decoded weights.

// Works on raw pointers; `product` stays inside panels, rows and results.
#![allow(unsafe_code)]

use super::lanes::{LANES, Lanes, Portable};
#[cfg(target_arch = "x86_64")]
use super::lanes_x86::{Avx2, Avx512};
use super::scheme::{self, Codes, Scheme};
use super::walk::{Tile, Visit, finish, start, walk};
use crate::gemm::{PIECE, Sum};
use crate::isa::{Isa, Kind};
use merit_formats::Encoding;

/// # Safety
/// The extents of `Tile` must hold, and the CPU must have the features of the form.
pub(super) type TileFn = unsafe fn(&Tile);
/// # Safety
/// As `TileFn`; room for sixteen floats an input at the second pointer.
pub(super) type ExpandFn = unsafe fn(&Tile, *mut f32);

/// A tile's height, and its code for one, two and four strips; `None` where narrower tiles are as good.
pub(super) type Form = (usize, [Option<TileFn>; 3]);

/// What one instruction set has for one encoding.
pub(super) struct Forms {
    /// By height, lowest first; each has a tile of one strip.
    pub(super) tiles: &'static [Form],
    /// Writes the weights of one strip as floats, `[input][16]`.
    pub(super) expand: ExpandFn,
}

impl Forms {
    pub(super) fn of(isa: Isa, encoding: Encoding) -> Self {
        match encoding {
            Encoding::F32 => Self::with::<scheme::F32>(isa),
            Encoding::F16 => Self::with::<scheme::F16>(isa),
            Encoding::Bf16 => Self::with::<scheme::Bf16>(isa),
            Encoding::Q8_0 => Self::with::<scheme::Q8_0>(isa),
            Encoding::Q4_0 => Self::with::<scheme::Q4_0>(isa),
            Encoding::Q4_1 => Self::with::<scheme::Q4_1>(isa),
            Encoding::Q5_0 => Self::with::<scheme::Q5_0>(isa),
            Encoding::Q5_1 => Self::with::<scheme::Q5_1>(isa),
            Encoding::Q4K => Self::with::<scheme::Q4K>(isa),
            Encoding::Q5K => Self::with::<scheme::Q5K>(isa),
            Encoding::Q6K => Self::with::<scheme::Q6K>(isa),
        }
    }

    fn with<S: Scheme>(isa: Isa) -> Self {
        match isa.kind() {
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => Self {
                tiles: const {
                    &[
                        (1, [Some(avx512::<S, 1, 1>), Some(avx512::<S, 1, 2>), Some(avx512::<S, 1, 4>)]),
                        (2, [Some(avx512::<S, 2, 1>), Some(avx512::<S, 2, 2>), None]),
                        (4, [Some(avx512::<S, 4, 1>), Some(avx512::<S, 4, 2>), None]),
                        (8, [Some(avx512::<S, 8, 1>), None, None]),
                        (16, [Some(avx512::<S, 16, 1>), None, None]),
                    ]
                },
                expand: expand_avx512::<S>,
            },
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => Self {
                tiles: const {
                    &[
                        (1, [Some(avx2::<S, 1, 1>), Some(avx2::<S, 1, 2>), None]),
                        (4, [Some(avx2::<S, 4, 1>), None, None]),
                    ]
                },
                expand: expand_avx2::<S>,
            },
            Kind::Portable => Self {
                tiles: const {
                    &[
                        (1, [Some(tile::<Portable, S, 1, 1>), None, None]),
                        (4, [Some(tile::<Portable, S, 4, 1>), None, None]),
                    ]
                },
                expand: expand::<Portable, S>,
            },
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

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512dq,avx2,fma")]
unsafe fn expand_avx512<S: Scheme>(t: &Tile, to: *mut f32) {
    // SAFETY: as the caller promised.
    unsafe { expand::<Avx512, S>(t, to) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn expand_avx2<S: Scheme>(t: &Tile, to: *mut f32) {
    // SAFETY: as the caller promised.
    unsafe { expand::<Avx2, S>(t, to) }
}

/// Each weight on the end of the chain of its element, which is added to the element's sum where a piece ends.
struct Chains<L: Lanes, const M: usize, const V: usize> {
    chains: [[L::Floats; V]; M],
    x: *const f32,
    sum: Sum,
    /// In memory, so that all registers are left to the chains: read and written only through `volatile`.
    sums: *mut [[L::Floats; V]; M],
    /// Inputs since the last piece ended.
    since: usize,
}

impl<L: Lanes, S: Scheme, const M: usize, const V: usize> Visit<L, S, V> for Chains<L, M, V> {
    const STEP: usize = 1;

    #[inline(always)]
    unsafe fn inputs(&mut self, codes: &mut [Codes<L>; V], scales: &[[L::Floats; 2]; V]) {
        // SAFETY: as the caller promises; each call moves on by one input of `M` rows.
        unsafe {
            let mut weights = [L::splat(0.0); V];
            for (v, weights) in weights.iter_mut().enumerate() {
                *weights = S::next::<L>(&mut codes[v], scales[v]);
            }
            for (m, row) in self.chains.iter_mut().enumerate() {
                let left = L::splat(*self.x.add(m));
                for (sum, weights) in row.iter_mut().zip(weights) {
                    *sum = L::fma(left, weights, *sum);
                }
            }
            self.x = self.x.add(M);
        }
    }

    #[inline(always)]
    unsafe fn group(&mut self, _: &[[L::Floats; 2]; V]) {
        const { assert!(PIECE.is_multiple_of(S::SHAPE.group()), "a piece is whole groups") };
        self.since += S::SHAPE.group();
        if self.sum == Sum::Chain || self.since < PIECE {
            return;
        }
        self.since = 0;
        // SAFETY: as the caller promises.
        unsafe { self.end_piece() };
    }
}

impl<L: Lanes, const M: usize, const V: usize> Chains<L, M, V> {
    #[inline(always)]
    unsafe fn end_piece(&mut self) {
        for (m, chains) in self.chains.iter_mut().enumerate() {
            for (v, chain) in chains.iter_mut().enumerate() {
                // SAFETY: the sums outlive this walk and have `M` times `V` places; the caller has the features of `L`.
                unsafe {
                    let sum = &raw mut (*self.sums)[m][v];
                    sum.write_volatile(L::add(*chain, sum.read_volatile()));
                    *chain = L::splat(0.0);
                }
            }
        }
    }
}

#[inline(always)]
unsafe fn tile<L: Lanes, S: Scheme, const M: usize, const V: usize>(t: &Tile) {
    // SAFETY: as the caller promised.
    unsafe {
        let mut sums = start::<L, M, V>(t);
        let chains = if t.sum == Sum::Chain { sums } else { [[L::splat(0.0); V]; M] };
        let mut work = Chains::<L, M, V> { chains, x: t.x, sum: t.sum, sums: &raw mut sums, since: 0 };
        walk::<L, S, V, _>(t, &mut work);
        if t.sum == Sum::Pieces && work.since > 0 {
            work.end_piece();
        }
        finish::<L, M, V>(t, if t.sum == Sum::Chain { work.chains } else { sums });
    }
}

/// Weights as floats, one strip.
struct Expanded(*mut f32);

impl<L: Lanes, S: Scheme> Visit<L, S, 1> for Expanded {
    const STEP: usize = 1;

    #[inline(always)]
    unsafe fn inputs(&mut self, codes: &mut [Codes<L>; 1], scales: &[[L::Floats; 2]; 1]) {
        // SAFETY: the caller promises sixteen places for each input.
        unsafe {
            L::store(self.0, S::next::<L>(&mut codes[0], scales[0]));
            self.0 = self.0.add(LANES);
        }
    }

    #[inline(always)]
    unsafe fn group(&mut self, _: &[[L::Floats; 2]; 1]) {}
}

#[inline(always)]
unsafe fn expand<L: Lanes, S: Scheme>(t: &Tile, to: *mut f32) {
    // SAFETY: as the caller promised.
    unsafe { walk::<L, S, 1, _>(t, &mut Expanded(to)) }
}
