//! One tile of a matrix product in registers: the portable form, and the table of forms per instruction set.

// Tiles work on raw pointers; `gemm` checks all bounds before it calls one.
#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
use super::tile_x86;
use super::{Isa, isa::Kind};

/// Floats in one column step of a tile.
pub(crate) const LANES: usize = 16;

/// The operands of one tile: `c[m, n] (+)= Σ_k a[m, k] b[k, n]`, k ascending.
#[derive(Clone, Copy)]
pub(crate) struct Tile {
    pub(crate) k: usize,
    pub(crate) a: *const f32,
    pub(crate) a_row: usize,
    pub(crate) a_step: usize,
    pub(crate) b: *const f32,
    pub(crate) b_row: usize,
    pub(crate) c: *mut f32,
    pub(crate) c_row: usize,
    pub(crate) join: Join,
}

/// What becomes of what `c` holds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Join {
    /// Written over.
    Replace,
    /// The chains start from it.
    Resume,
    /// The chains start from zero and are added to it.
    Add,
}

/// Runs a tile of a fixed number of rows and of column vectors.
///
/// # Safety
/// `a` must be readable at `m * a_row + k * a_step`, `b` at `k * b_row .. + 16 * vectors`, `c` writable (and readable) at
/// `m * c_row .. + 16 * vectors`, for all rows `m` of the tile and all `k < tile.k`; the CPU must have the features.
pub(crate) type TileFn = unsafe fn(Tile);

/// The forms of one instruction set: `forms[rows - 1][vectors - 1]`.
pub(crate) struct Tiles {
    pub(crate) forms: &'static [[TileFn; 2]],
}

impl Tiles {
    pub(crate) fn of(isa: Isa) -> Self {
        match isa.kind() {
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => Self { forms: &tile_x86::AVX512 },
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => Self { forms: &tile_x86::AVX2 },
            Kind::Portable => Self { forms: &PORTABLE },
        }
    }
}

static PORTABLE: [[TileFn; 2]; 4] = [
    [portable::<1, 1>, portable::<1, 2>],
    [portable::<2, 1>, portable::<2, 2>],
    [portable::<3, 1>, portable::<3, 2>],
    [portable::<4, 1>, portable::<4, 2>],
];

unsafe fn portable<const M: usize, const V: usize>(t: Tile) {
    for v in 0..V {
        for m in 0..M {
            // SAFETY: within the extents that the caller promised for row `m` and vector `v`.
            unsafe {
                let c = t.c.add(m * t.c_row + v * LANES).cast::<[f32; LANES]>();
                let mut acc = if t.join == Join::Resume { c.read_unaligned() } else { [0.0; LANES] };
                for k in 0..t.k {
                    let a = *t.a.add(m * t.a_row + k * t.a_step);
                    let b = t.b.add(k * t.b_row + v * LANES).cast::<[f32; LANES]>().read_unaligned();
                    for (sum, x) in acc.iter_mut().zip(b) {
                        *sum = a.mul_add(x, *sum);
                    }
                }
                if t.join == Join::Add {
                    for (sum, before) in acc.iter_mut().zip(c.read_unaligned()) {
                        *sum += before;
                    }
                }
                c.write_unaligned(acc);
            }
        }
    }
}
