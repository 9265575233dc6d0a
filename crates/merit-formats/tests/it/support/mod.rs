//! Tiny decoders of every family with made-up weights.

use merit_formats::{
    Activation, DecoderConfig, Family, FormatError, NamedTensor, RopeScaling, Style, TensorRole, Window,
    expected_tensors,
};
use std::borrow::Cow;

/// A decoder with a head of eight values and rows that are whole blocks of 32.
pub(crate) fn tiny(family: Family) -> DecoderConfig {
    let style = match family {
        Family::Llama => Style::default(),
        Family::Qwen2 => Style { qkv_bias: true, tied: false, ..Style::default() },
        Family::Qwen3 => Style { head_dim: Some(24), qk_norm: true, ..Style::default() },
        Family::Gemma3 => Style {
            head_dim: Some(24),
            qk_norm: true,
            post_norms: true,
            activation: Activation::GeluTanh,
            embedding_scale: Some(8.0),
            window: Some(Window { size: 5, every: 3, rope_base: 5e3 }),
            ..Style::default()
        },
    };
    DecoderConfig {
        vocab: 53,
        layers: 4,
        d_model: 64,
        heads: 4,
        kv_heads: 2,
        d_ff: 96,
        rope_base: 2e4,
        norm_eps: 1e-6,
        max_context: 128,
        value_head: false,
        style: Style { family, ..style },
    }
}

/// Every tiny decoder with a name: each family, and what else families can say.
pub(crate) fn all_tiny() -> Vec<(&'static str, DecoderConfig)> {
    let changed = |family: Family, change: fn(&mut DecoderConfig)| {
        let mut config = tiny(family);
        change(&mut config);
        config
    };
    vec![
        ("llama", tiny(Family::Llama)),
        ("llama-untied", changed(Family::Llama, |c| c.style.tied = false)),
        (
            "llama-linear",
            changed(Family::Llama, |c| c.style.rope_scaling = RopeScaling::Linear { factor: 2.0 }),
        ),
        (
            "llama3",
            changed(Family::Llama, |c| {
                c.max_context = 16_384;
                c.style.rope_scaling = RopeScaling::Llama3 {
                    factor: 32.0,
                    low_freq_factor: 1.0,
                    high_freq_factor: 4.0,
                    original_context: 8192,
                };
            }),
        ),
        ("qwen2", tiny(Family::Qwen2)),
        ("qwen3", tiny(Family::Qwen3)),
        ("gemma3", tiny(Family::Gemma3)),
        (
            "gemma3-linear",
            changed(Family::Gemma3, |c| c.style.rope_scaling = RopeScaling::Linear { factor: 8.0 }),
        ),
    ]
}

/// Numbers that look random and are the same everywhere: a finalised counter (splitmix64) to [-1, 1).
pub(crate) fn noise(seed: u64, index: u64) -> f32 {
    let mut z =
        seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(index.wrapping_mul(0xbf58_476d_1ce4_e5b9));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 40) as f32 / (1 << 23) as f32 - 1.0
}

/// Made-up weights; gains lie about 1.
pub(crate) fn weights(config: &DecoderConfig) -> Vec<Result<NamedTensor<'static>, FormatError>> {
    let make = |(seed, expected): (usize, merit_formats::ExpectedTensor)| {
        let values = (0..expected.shape.iter().product::<usize>() as u64).map(|index| {
            let noise = noise(seed as u64 + 1, index);
            match expected.role {
                TensorRole::Matrix => noise * 0.3,
                TensorRole::Bias => noise * 0.1,
                TensorRole::Gain => 1.0 + noise * 0.2,
            }
        });
        let values = Cow::Owned(values.collect());
        Ok(NamedTensor { name: expected.name, shape: expected.shape, values })
    };
    expected_tensors(config).into_iter().enumerate().map(make).collect()
}
