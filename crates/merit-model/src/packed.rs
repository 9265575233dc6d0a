//! Weights laid out for the products of one policy version, made once and shared by all threads.

use crate::Weights;
use crate::kernels::pack::{Packed, pack, pack_transposed};

/// The matrices of one block, each as the right side of a product.
#[derive(Debug, Clone)]
pub(crate) struct BlockMatrices {
    pub(crate) qkv: Packed,
    pub(crate) output: Packed,
    pub(crate) gate_up: Packed,
    pub(crate) down: Packed,
}

/// Packed matrices for the forward pass and, where training needs them, their transposes.
#[derive(Debug, Clone)]
pub(crate) struct PackedWeights {
    pub(crate) forward: Vec<BlockMatrices>,
    /// Empty unless made for training.
    pub(crate) backward: Vec<BlockMatrices>,
    /// The embedding transposed: hidden state to logits.
    pub(crate) head: Packed,
    /// The embedding itself: gradient of logits to gradient of hidden state. Only for training.
    pub(crate) head_backward: Option<Packed>,
}

impl PackedWeights {
    pub(crate) fn for_sampling(weights: &Weights) -> Self {
        let config = weights.config();
        let (d, vocab) = (config.d_model, config.vocab);
        let embedding = &weights.values()[weights.layout().embedding.clone()];
        Self {
            forward: blocks(weights, |data, rows, columns| pack(data, rows, columns, columns)),
            backward: Vec::new(),
            head: pack_transposed(embedding, d, vocab, d),
            head_backward: None,
        }
    }

    pub(crate) fn for_training(weights: &Weights) -> Self {
        let config = weights.config();
        let (d, vocab) = (config.d_model, config.vocab);
        let embedding = &weights.values()[weights.layout().embedding.clone()];
        Self {
            backward: blocks(weights, |data, rows, columns| pack_transposed(data, columns, rows, columns)),
            head_backward: Some(pack(embedding, vocab, d, d)),
            ..Self::for_sampling(weights)
        }
    }
}

fn blocks(weights: &Weights, pack: impl Fn(&[f32], usize, usize) -> Packed) -> Vec<BlockMatrices> {
    let config = weights.config();
    let (d, ff, values) = (config.d_model, config.d_ff, weights.values());
    let block = |place: &crate::layout::BlockLayout| BlockMatrices {
        qkv: pack(&values[place.qkv.clone()], d, config.qkv_width()),
        output: pack(&values[place.output.clone()], d, d),
        gate_up: pack(&values[place.gate_up.clone()], d, 2 * ff),
        down: pack(&values[place.down.clone()], ff, d),
    };
    weights.layout().blocks.iter().map(block).collect()
}
