//! What the tests of this crate call by name because no public function shows it alone: the tiles of bf16, one transposition
//! and one softmax. No part of the interface.

// Calls a function compiled for a detected CPU feature.
#![allow(unsafe_code)]

pub use crate::bf16::{BLANK, Cut, Cutter, LINES, Line, Source, round};
pub use crate::quant::transpose::transpose_simd;

/// The softmax of rows that all see the entries `low..live`; without AVX-512 it is false, and the scores stay.
#[cfg(target_arch = "x86_64")]
pub fn softmax_alike(scores: &mut [f32], low: usize, live: usize) -> bool {
    let permitted = crate::Isa::best().kind() == crate::isa::Kind::Avx512;
    if permitted {
        // SAFETY: the processor was asked.
        unsafe { crate::softmax_x86::softmax_alike(scores, low, live) };
    }
    permitted
}
