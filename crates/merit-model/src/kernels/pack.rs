//! Right matrices copied into panels of 32 columns, so that a product reads them in one straight line.

use super::gemm::{PANEL, Right};

/// A matrix of `k` rows in panels `[n / 32][k][32]`, padded with zeros.
#[derive(Debug, Clone)]
pub(crate) struct Packed {
    data: Vec<f32>,
    k: usize,
}

impl Packed {
    pub(crate) fn as_right(&self) -> Right<'_> {
        Right { data: &self.data, row: PANEL, panel: self.k * PANEL }
    }
}

/// Packs the row-major `k × n` matrix `b[k, n] = data[k * stride + n]`.
pub(crate) fn pack(data: &[f32], k: usize, n: usize, stride: usize) -> Packed {
    let mut packed = vec![0.0; n.div_ceil(PANEL) * k * PANEL];
    for (p, panel) in packed.chunks_exact_mut(k * PANEL).enumerate() {
        let (first, width) = (p * PANEL, PANEL.min(n - p * PANEL));
        for (row, line) in panel.chunks_exact_mut(PANEL).enumerate() {
            let from = row * stride + first;
            line[..width].copy_from_slice(&data[from..from + width]);
        }
    }
    Packed { data: packed, k }
}

/// Packs the transpose: `b[k, n] = data[n * stride + k]`.
pub(crate) fn pack_transposed(data: &[f32], k: usize, n: usize, stride: usize) -> Packed {
    let mut packed = vec![0.0; n.div_ceil(PANEL) * k * PANEL];
    for (p, panel) in packed.chunks_exact_mut(k * PANEL).enumerate() {
        let (first, width) = (p * PANEL, PANEL.min(n - p * PANEL));
        transpose(&data[first * stride..], width, k, stride, panel, PANEL);
    }
    Packed { data: packed, k }
}

/// Writes `to[c * to_row + r] = from[r * from_row + c]` for `rows × columns`, block by block to be kind to the cache.
pub(crate) fn transpose(
    from: &[f32],
    rows: usize,
    columns: usize,
    from_row: usize,
    to: &mut [f32],
    to_row: usize,
) {
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
