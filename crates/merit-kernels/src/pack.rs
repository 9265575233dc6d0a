//! Right matrices copied into panels of 32 columns, so that a product reads them in one straight line.

use super::gemm::{PANEL, Right};
use crate::Workers;

/// A matrix of `k` rows in panels `[n / 32][k][32]`, padded with zeros.
#[derive(Debug, Clone, Default)]
pub struct Packed {
    data: Vec<f32>,
    k: usize,
}

impl Packed {
    /// As the right side of a product.
    pub fn as_right(&self) -> Right<'_> {
        Right { data: &self.data, row: PANEL, panel: self.k * PANEL }
    }

    /// Takes new values: a `k × n` matrix, row-major, or its transpose when `transposed`. Memory is kept.
    pub fn fill(&mut self, workers: &Workers, data: &[f32], (k, n): (usize, usize), transposed: bool) {
        self.k = k;
        self.data.resize(n.div_ceil(PANEL) * k * PANEL, 0.0);
        let mut panels: Vec<&mut [f32]> = self.data.chunks_exact_mut((k * PANEL).max(1)).collect();
        workers.for_each(&mut panels, |p, panel| {
            let (first, width) = (p * PANEL, PANEL.min(n - p * PANEL));
            if transposed {
                return transpose(&data[first * k..], width, k, k, panel, PANEL);
            }
            for (row, line) in panel.chunks_exact_mut(PANEL).enumerate() {
                line[..width].copy_from_slice(&data[row * n + first..row * n + first + width]);
            }
        });
    }
}

/// Writes `to[c * to_row + r] = from[r * from_row + c]` for `rows × columns`, block by block to be kind to the cache.
pub fn transpose(from: &[f32], rows: usize, columns: usize, from_row: usize, to: &mut [f32], to_row: usize) {
    const BLOCK: usize = 16;
    for r0 in (0..rows).step_by(BLOCK) {
        for c0 in (0..columns).step_by(BLOCK) {
            let r_end = (r0 + BLOCK).min(rows);
            for c in c0..(c0 + BLOCK).min(columns) {
                let line = &mut to[c * to_row + r0..c * to_row + r_end];
                for (r, slot) in line.iter_mut().enumerate() {
                    *slot = from[(r0 + r) * from_row + c];
                }
            }
        }
    }
}
