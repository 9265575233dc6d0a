//! How much memory a model needs: to be sampled, to be trained whole, to be trained by an adapter. Estimates, from the shape.

use merit_formats::{DecoderConfig, Description, Encoding};
use merit_kernels::{PAGE, PageLayout, Precision};
use serde::Serialize;

/// Bytes by use; activations of training come on top and grow with the batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) struct Need {
    /// Positions that the cache is counted for.
    pub(super) context: usize,
    /// Keys and values of one sequence of that length, in 32 bits; half of it where products round to bfloat16.
    pub(super) cache_bytes: u64,
    /// Weights as stored and the cache of one sequence.
    pub(super) sample_bytes: u64,
    /// The same with weights in 32 bits.
    pub(super) sample_f32_bytes: u64,
    /// Weights, gradients and both moments in 32 bits, and the weights once more, laid out in bfloat16 for both passes.
    pub(super) train_full_bytes: u64,
    /// Weights in 32 bits and laid out in bfloat16, and what is trained: an adapter on every projection.
    pub(super) train_lora_bytes: u64,
    /// Rank of that adapter.
    pub(super) lora_rank: usize,
    pub(super) lora_parameters: u64,
}

/// Bytes of one trained number: itself, its gradient, two moments.
const TRAINED: u64 = 16;
/// Bytes of a weight under training: in 32 bits, and in bfloat16 for the pass there and the pass back.
const HELD: u64 = 4 + 2 * 2;

pub(super) fn need(config: &DecoderConfig, about: &Description, context: usize, rank: usize) -> Need {
    let parameters = config.parameters() as u64;
    let context = context.min(config.max_context);
    let page = PageLayout::of(config, Precision::F32).bytes() as u64;
    let cache_bytes = context.div_ceil(PAGE) as u64 * page;
    let adapter = adapter_parameters(config, rank);
    Need {
        context,
        cache_bytes,
        sample_bytes: as_stored(config, about) + cache_bytes,
        sample_f32_bytes: 4 * parameters + embedding(config) + cache_bytes,
        train_full_bytes: (TRAINED + 2 * 2) * parameters,
        train_lora_bytes: HELD * parameters + TRAINED * adapter,
        lora_rank: rank,
        lora_parameters: adapter,
    }
}

/// The weights as a sampler holds them. Plain 32-bit embeddings that are read as the head too are laid out once more.
fn as_stored(config: &DecoderConfig, about: &Description) -> u64 {
    let is_plain = about.encodings.iter().all(|share| share.encoding == Encoding::F32);
    about.weight_bytes as u64 + if is_plain && config.style.tied { embedding(config) } else { 0 }
}

fn embedding(config: &DecoderConfig) -> u64 {
    4 * config.vocab as u64 * config.d_model as u64
}

/// `rank (in + out)` for each of the seven projections of every block.
fn adapter_parameters(config: &DecoderConfig, rank: usize) -> u64 {
    let (d, ff, q) = (config.d_model, config.d_ff, config.attention_width());
    let kv = config.kv_heads * config.head_dim();
    let sums = [d + q, d + kv, d + kv, q + d, d + ff, d + ff, ff + d];
    config.layers as u64 * rank as u64 * sums.iter().sum::<usize>() as u64
}
