//! Where families of decoders differ from the plain Llama form.

use serde::{Deserialize, Serialize};

/// What a decoder does differently; the default is Llama with a tied head.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Style {
    /// Whose names and conventions its files follow.
    pub family: Family,
    /// Width of one head; absent: `d_model / heads`.
    pub head_dim: Option<usize>,
    /// Whether the embedding is also the output head.
    pub tied: bool,
    /// A bias on query, key and value (Qwen2).
    pub qkv_bias: bool,
    /// Each query and key head is normalised before it is turned (Qwen3, Gemma3).
    pub qk_norm: bool,
    /// What attention and feed-forward say is normalised before it joins the residual stream (Gemma3).
    pub post_norms: bool,
    /// The gate of the feed-forward.
    pub activation: Activation,
    /// The embedding is multiplied by this on its way in; absent: not at all (Gemma: the root of the width).
    pub embedding_scale: Option<f32>,
    /// Scores are multiplied by this; absent: one over the root of the head's width.
    pub query_scale: Option<f32>,
    /// How angles are stretched for long contexts.
    pub rope_scaling: RopeScaling,
    /// Layers that see only the nearest positions; absent: every layer sees everything.
    pub window: Option<Window>,
}

impl Default for Style {
    fn default() -> Self {
        Self {
            family: Family::Llama,
            head_dim: None,
            tied: true,
            qkv_bias: false,
            qk_norm: false,
            post_norms: false,
            activation: Activation::Silu,
            embedding_scale: None,
            query_scale: None,
            rope_scaling: RopeScaling::None,
            window: None,
        }
    }
}

impl Style {
    /// Whether this is the default, which files need not mention.
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }
}

/// A family of decoders, by the names in its files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// Llama and SmolLM2.
    Llama,
    Qwen2,
    /// Qwen3, dense.
    Qwen3,
    /// Gemma 3, text.
    Gemma3,
}

/// The gate of a feed-forward.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Activation {
    /// `x / (1 + e^-x)`
    Silu,
    /// The Gaussian error unit by its tanh formula.
    GeluTanh,
}

/// How rotary angles are stretched.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum RopeScaling {
    None,
    /// Every angle divided by `factor`; layers with a window are left as they are.
    Linear {
        factor: f32,
    },
    /// Llama 3.1's: low frequencies divided by `factor`, high ones kept, a ramp between.
    Llama3 {
        /// The divisor of low frequencies.
        factor: f32,
        /// Wavelengths longer than `original_context / low_freq_factor` are divided.
        low_freq_factor: f32,
        /// Wavelengths shorter than `original_context / high_freq_factor` are kept.
        high_freq_factor: f32,
        /// The context that the model was first trained on.
        original_context: usize,
    },
}

/// Layers that see only the nearest positions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// How many positions such a layer sees, its own included.
    pub size: usize,
    /// Every so many layers one sees everything: layer i is whole if `(i + 1) % every == 0`.
    pub every: usize,
    /// Base of the rotary angles in layers with a window.
    pub rope_base: f32,
}
