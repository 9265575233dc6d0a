//! Small decoders of every family, for the tests of this crate.

use crate::{Activation, DecoderConfig, Family, RopeScaling, Style, Window};

/// Two blocks in the given style; nothing fills a vector.
pub(crate) fn tiny(style: Style) -> DecoderConfig {
    DecoderConfig {
        vocab: 37,
        layers: 2,
        d_model: 24,
        heads: 3,
        kv_heads: 1,
        d_ff: 40,
        rope_base: 1e4,
        norm_eps: 1e-5,
        max_context: 64,
        value_head: false,
        style,
    }
}

/// One style of each family, and one of everything at once.
pub(crate) fn families() -> Vec<Style> {
    let plain = Style::default();
    let llama = Style {
        tied: false,
        rope_scaling: RopeScaling::Llama3 {
            factor: 4.0,
            low_freq_factor: 1.0,
            high_freq_factor: 4.0,
            original_context: 16,
        },
        ..plain.clone()
    };
    let qwen2 = Style { family: Family::Qwen2, qkv_bias: true, ..plain.clone() };
    let qwen3 =
        Style { family: Family::Qwen3, head_dim: Some(10), qk_norm: true, tied: false, ..plain.clone() };
    let gemma3 = Style {
        family: Family::Gemma3,
        head_dim: Some(12),
        qk_norm: true,
        post_norms: true,
        activation: Activation::GeluTanh,
        embedding_scale: Some(4.9),
        query_scale: Some(0.3),
        rope_scaling: RopeScaling::Linear { factor: 2.0 },
        window: Some(Window { size: 5, every: 2, rope_base: 100.0 }),
        ..plain.clone()
    };
    let all = Style { qkv_bias: true, tied: false, ..gemma3.clone() };
    vec![plain, llama, qwen2, qwen3, gemma3, all]
}
