//! Where the gradients of a backward pass go: all weights, or an adapter's.
//!
//! The passes hand over what a gradient is made of; what is not trained is not computed.

use crate::block::Net;
use crate::layout::Layout;
use crate::lora_gradient::{AdapterSpace, PackedAdapter};
use crate::packed::Fused;
use std::ops::Range;

/// The gradient under construction, aligned with what is trained.
pub(crate) enum Gradients<'a> {
    All { layout: &'a Layout, values: &'a mut [f32] },
    Adapter { adapter: &'a PackedAdapter, values: &'a mut [f32], space: &'a mut AdapterSpace },
}

impl Gradients<'_> {
    /// A matrix of a block: `dw += xᵀ dy`.
    pub(crate) fn linear(
        &mut self,
        net: &Net,
        (layer, fused): (usize, Fused),
        rows: usize,
        x: &[f32],
        dy: &[f32],
    ) {
        match self {
            Self::All { layout, values } => {
                let (inputs, outputs) = fused.size(net.config());
                let dw = &mut values[fused.place(&layout.blocks[layer])];
                net.device.gradient(net.packed.precision, rows, (x, inputs), (dy, outputs), dw);
            }
            Self::Adapter { adapter, values, space } => {
                adapter.gradient(net, (layer, fused), rows, (x, dy), values, space);
            }
        }
    }

    /// The gradient of the output head, `[vocab, d]`, if it is trained.
    pub(crate) fn head(&mut self) -> Option<&mut [f32]> {
        self.vector(|layout| Some(layout.head.clone()))
    }

    /// The gradient of the embedding, if it is trained.
    pub(crate) fn embedding(&mut self) -> Option<&mut [f32]> {
        self.vector(|layout| Some(layout.embedding.clone()))
    }

    /// The gradient of the value head's weight and of its bias, if there is one.
    pub(crate) fn value(&mut self) -> Option<(&mut [f32], &mut f32)> {
        let (place, values) = match self {
            Self::All { layout, values } => (layout.value.clone()?, values),
            Self::Adapter { adapter, values, .. } => (adapter.value()?, values),
        };
        let (weight, bias) = values[place.start..=place.end].split_at_mut(place.len());
        Some((weight, &mut bias[0]))
    }

    /// A vector of the decoder that may be absent, or not trained.
    pub(crate) fn vector(
        &mut self,
        place: impl FnOnce(&Layout) -> Option<Range<usize>>,
    ) -> Option<&mut [f32]> {
        match self {
            Self::All { layout, values } => Some(&mut values[place(layout)?]),
            Self::Adapter { .. } => None,
        }
    }

    /// A gain; where gains are not trained, scratch of the same length.
    pub(crate) fn gain(&mut self, len: usize, place: impl FnOnce(&Layout) -> Range<usize>) -> &mut [f32] {
        match self {
            Self::All { layout, values } => &mut values[place(layout)],
            Self::Adapter { space, .. } => space.unused(len),
        }
    }
}
