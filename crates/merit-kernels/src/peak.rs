//! What this machine does at best on one thread, measured now: the yardstick for achieved shares of peak.
//!
//! Each figure is the best of several bursts of a few milliseconds, by the wall clock; other work on the machine lowers it.

// Calls functions compiled for detected CPU features.
#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
use crate::dot::Unit;
use crate::isa::Kind;
use crate::{Device, Dot, Isa, Matrix, Precision, Start};
use std::hint::black_box;
use std::time::Instant;

const BURSTS: usize = 20;
const CHAINS: usize = 12;
const LANES: usize = 16;

fn best_rate(amount: f64, mut burst: impl FnMut()) -> f64 {
    burst();
    let rate = |burst: &mut dyn FnMut()| {
        let start = Instant::now();
        burst();
        amount / start.elapsed().as_secs_f64()
    };
    (0..BURSTS).map(|_| rate(&mut burst)).fold(0.0, f64::max)
}

fn multiply_add(isa: Isa, rounds: usize, factor: f32) -> f32 {
    match isa.kind() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: an `Isa` of this kind is only made after the features were detected.
        Kind::Avx512 => unsafe { x86::avx512(rounds, factor) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        Kind::Avx2 => unsafe { x86::avx2(rounds, factor) },
        Kind::Portable => {
            let mut chains = [[1.0_f32; LANES]; CHAINS];
            for _ in 0..rounds {
                chains.iter_mut().flatten().for_each(|x| *x = x.mul_add(factor, factor));
            }
            chains.iter().flatten().sum()
        }
    }
}

/// Chains of fused multiply-adds in registers, nothing read or written.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::CHAINS;
    use std::arch::x86_64::*;

    #[target_feature(enable = "avx512f")]
    pub(super) fn avx512(rounds: usize, factor: f32) -> f32 {
        let factor = _mm512_set1_ps(factor);
        let mut chains = [factor; CHAINS];
        for _ in 0..rounds {
            for chain in &mut chains {
                *chain = _mm512_fmadd_ps(*chain, factor, factor);
            }
        }
        chains.into_iter().map(|chain| _mm512_reduce_add_ps(chain)).sum()
    }

    #[target_feature(enable = "avx2,fma")]
    pub(super) fn avx2(rounds: usize, factor: f32) -> f32 {
        let factor = _mm256_set1_ps(factor);
        // Two halves of sixteen lanes; twelve of their chains fill the registers.
        let mut chains = [factor; CHAINS];
        for _ in 0..2 * rounds {
            for chain in &mut chains {
                *chain = _mm256_fmadd_ps(*chain, factor, factor);
            }
        }
        chains.into_iter().map(|chain| _mm256_cvtss_f32(chain)).sum()
    }
}

/// Floating-point operations a second of fused multiply-adds in f32, two for each.
pub fn f32_flops_per_s(isa: Isa) -> f64 {
    const ROUNDS: usize = 20_000;
    let flops = (2 * ROUNDS * CHAINS * LANES) as f64;
    best_rate(flops, || {
        black_box(multiply_add(isa, ROUNDS, black_box(0.5)));
    })
}

/// Floating-point operations a second of a unit for bf16: of AMX a loop of nothing but products, of the others a product
/// whose operands stay in the cache.
pub fn bf16_flops_per_s(dot: Dot) -> f64 {
    match dot.unit() {
        #[cfg(target_arch = "x86_64")]
        Unit::Amx => {
            const ROUNDS: usize = 10_000;
            best_rate(crate::amx::LOOP_FLOPS * ROUNDS as f64, || crate::amx::loop_of_products(ROUNDS))
        }
        _ => {
            let (device, size) = (Device::single().with_dot(dot), 256);
            let matrix = Matrix::pack(&vec![0.5; size * size], size, size, Precision::Bf16, false);
            let (x, mut y) = (vec![0.5; size * size], vec![0.0; size * size]);
            let flops = (2 * size * size * size) as f64;
            best_rate(flops, || device.product(&matrix, size, &x, &mut y, Start::Zero))
        }
    }
}

/// Bytes a second of copying memory that no cache holds, counting those read and those written.
pub fn copied_bytes_per_s() -> f64 {
    const FLOATS: usize = 1 << 24;
    let (from, mut to) = (vec![1.0_f32; FLOATS], vec![0.0_f32; FLOATS]);
    best_rate((8 * FLOATS) as f64, || {
        to.copy_from_slice(black_box(&from));
        black_box(&mut to);
    })
}
