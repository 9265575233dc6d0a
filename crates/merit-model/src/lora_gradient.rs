//! The gradient of an adapter: from what a fused matrix read and what came back to its thin matrices.

use crate::block::Net;
use crate::lora::AdapterLayout;
use crate::packed::Fused;
use merit_kernels::attention::room;
use merit_kernels::{Matrix, Precision, Start};
use std::ops::Range;

/// An adapter's thin matrices as the backward pass reads them.
#[derive(Debug)]
pub(crate) struct PackedAdapter {
    pub(crate) layout: AdapterLayout,
    pub(crate) rank: usize,
    pub(crate) scale: f32,
    pub(crate) matrices: Vec<Vec<(Matrix, Matrix)>>,
}

/// Scratch of an adapter's gradients.
#[derive(Debug, Default)]
pub(crate) struct AdapterSpace {
    dy: Vec<f32>,
    xa: Vec<f32>,
    dyb: Vec<f32>,
    unused: Vec<f32>,
}

impl AdapterSpace {
    /// Room for a gradient that is not kept.
    pub(crate) fn unused(&mut self, len: usize) -> &mut [f32] {
        &mut room(&mut self.unused, len)[..len]
    }
}

impl PackedAdapter {
    pub(crate) fn value(&self) -> Option<Range<usize>> {
        self.layout.value.clone()
    }

    /// Adds the gradients of the targets inside one fused matrix, whose input was `x` and whose output's gradient is `dy`.
    pub(crate) fn gradient(
        &self,
        net: &Net,
        (layer, fused): (usize, Fused),
        rows: usize,
        (x, dy): (&[f32], &[f32]),
        values: &mut [f32],
        space: &mut AdapterSpace,
    ) {
        let (device, rank, wide) = (net.device, self.rank, fused.size(net.config()).1);
        let parts = self.layout.blocks[layer].iter().zip(&self.matrices[layer]);
        for (part, (a, b)) in parts.filter(|(part, _)| part.fused == fused) {
            let columns = part.columns.len();
            let dy = if columns == wide {
                dy
            } else {
                let own = room(&mut space.dy, rows * columns);
                for (own, row) in own.chunks_exact_mut(columns).zip(dy.chunks_exact(wide)).take(rows) {
                    own.copy_from_slice(&row[part.columns.clone()]);
                }
                own
            };
            let (xa, dyb) = (room(&mut space.xa, rows * rank), room(&mut space.dyb, rows * rank));
            device.product(a, rows, x, xa, Start::Zero);
            device.scale(self.scale, &mut xa[..rows * rank]);
            device.gradient(Precision::F32, rows, (xa, rank), (dy, columns), &mut values[part.b.clone()]);
            device.product_back(b, rows, dy, dyb, Start::Zero);
            device.scale(self.scale, &mut dyb[..rows * rank]);
            device.gradient(Precision::F32, rows, (x, part.inputs), (dyb, rank), &mut values[part.a.clone()]);
        }
    }
}
