//! The shape of a decoder.

use crate::{RopeScaling, Style, Window};
use serde::{Deserialize, Serialize};

/// A decoder: RMSNorm, rotary positions, grouped-query attention and a gated feed-forward, in the style of its family.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DecoderConfig {
    /// Entries of the embedding; at least the tokenizer's vocabulary.
    pub vocab: usize,
    /// Blocks of attention and feed-forward.
    pub layers: usize,
    /// Width of the residual stream.
    pub d_model: usize,
    /// Query heads; a multiple of `kv_heads`.
    pub heads: usize,
    /// Key and value heads.
    pub kv_heads: usize,
    /// Width of the gated feed-forward.
    pub d_ff: usize,
    /// Base of the rotary angles.
    #[serde(default = "default_rope_base")]
    pub rope_base: f32,
    /// Added to the mean square before the root.
    #[serde(default = "default_norm_eps")]
    pub norm_eps: f32,
    /// Longest sequence, prompt and answer together.
    pub max_context: usize,
    /// A linear value estimate on the last hidden state.
    #[serde(default)]
    pub value_head: bool,
    /// Where the family differs from the plain form.
    #[serde(default, skip_serializing_if = "Style::is_plain")]
    pub style: Style,
}

/// A shape that cannot work, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("decoder config: {0}")]
pub struct ConfigError(pub String);

fn default_rope_base() -> f32 {
    10_000.0
}

fn default_norm_eps() -> f32 {
    1e-5
}

const MAX_PARAMETERS: u128 = 1 << 33;
/// Tables of rotary angles are made for every position at once.
const MAX_CONTEXT: usize = 1 << 17;
const MAX_HEAD: usize = 1 << 16;

impl DecoderConfig {
    /// Refuses shapes that cannot work, with the reason.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let refuse = |reason: String| Err(ConfigError(reason));
        let sizes = [
            ("vocab", self.vocab),
            ("layers", self.layers),
            ("d_model", self.d_model),
            ("heads", self.heads),
            ("kv_heads", self.kv_heads),
            ("d_ff", self.d_ff),
            ("max_context", self.max_context),
        ];
        if let Some((name, size)) = sizes.iter().find(|(_, size)| *size == 0 || *size > u32::MAX as usize) {
            return refuse(format!("`{name}` is {size}; it must lie between 1 and {}", u32::MAX));
        }
        if self.max_context > MAX_CONTEXT {
            return refuse(format!(
                "`max_context` is {}; at most {MAX_CONTEXT} positions are held",
                self.max_context
            ));
        }
        if self.style.head_dim.is_none() && !self.d_model.is_multiple_of(self.heads) {
            return refuse(format!("`d_model` {} is not a multiple of `heads` {}", self.d_model, self.heads));
        }
        if !self.heads.is_multiple_of(self.kv_heads) {
            return refuse(format!(
                "`heads` {} is not a multiple of `kv_heads` {}",
                self.heads, self.kv_heads
            ));
        }
        if self.head_dim() == 0 || !self.head_dim().is_multiple_of(2) || self.head_dim() > MAX_HEAD {
            let dim = self.head_dim();
            return refuse(format!(
                "a head is {dim} wide; rotary positions need an even number of at most {MAX_HEAD}"
            ));
        }
        if !(self.rope_base.is_finite() && self.rope_base > 1.0) {
            return refuse(format!("`rope_base` is {}; it must be above 1", self.rope_base));
        }
        if !(self.norm_eps.is_finite() && self.norm_eps > 0.0) {
            return refuse(format!("`norm_eps` is {}; it must be positive", self.norm_eps));
        }
        self.check_style()?;
        if self.wide_parameters() > MAX_PARAMETERS {
            return refuse(format!(
                "{} parameters; at most {MAX_PARAMETERS} are held",
                self.wide_parameters()
            ));
        }
        Ok(())
    }

    fn check_style(&self) -> Result<(), ConfigError> {
        let refuse = |reason: String| Err(ConfigError(reason));
        if let Some(Window { size, every, rope_base }) = self.style.window {
            if size == 0 || every == 0 {
                return refuse(format!(
                    "`window` has size {size} and a whole layer every {every}; both must be positive"
                ));
            }
            if !(rope_base.is_finite() && rope_base > 1.0) {
                return refuse(format!("`window.rope_base` is {rope_base}; it must be above 1"));
            }
        }
        let scales =
            [("embedding_scale", self.style.embedding_scale), ("query_scale", self.style.query_scale)];
        for (name, scale) in scales {
            if let Some(scale) = scale
                && !(scale.is_finite() && scale > 0.0)
            {
                return refuse(format!("`{name}` is {scale}; it must be positive"));
            }
        }
        if let RopeScaling::Linear { factor } | RopeScaling::Llama3 { factor, .. } = self.style.rope_scaling
            && !(factor.is_finite() && factor > 0.0)
        {
            return refuse(format!("`rope_scaling.factor` is {factor}; it must be positive"));
        }
        Ok(())
    }

    /// The number of weights.
    pub fn parameters(&self) -> usize {
        usize::try_from(self.wide_parameters()).unwrap_or(usize::MAX)
    }

    fn wide_parameters(&self) -> u128 {
        let [vocab, layers, d, ff] = [self.vocab, self.layers, self.d_model, self.d_ff].map(|x| x as u128);
        let [heads, kv_heads, dim] = [self.heads, self.kv_heads, self.head_dim()].map(|x| x as u128);
        let style = &self.style;
        let qkv = (heads + 2 * kv_heads) * dim;
        let norms = if style.post_norms { 4 * d } else { 2 * d };
        let extras = if style.qkv_bias { qkv } else { 0 } + if style.qk_norm { 2 * dim } else { 0 };
        let block = norms + d * qkv + heads * dim * d + 3 * d * ff + extras;
        let head = if style.tied { 0 } else { vocab * d };
        vocab * d + layers * block + d + head + if self.value_head { d + 1 } else { 0 }
    }

    pub fn head_dim(&self) -> usize {
        self.style.head_dim.unwrap_or(self.d_model / self.heads)
    }

    /// Query heads per key head.
    pub fn group(&self) -> usize {
        self.heads / self.kv_heads
    }

    /// Width of all query heads together, and of what attention hands to its output product.
    pub fn attention_width(&self) -> usize {
        self.heads * self.head_dim()
    }

    /// Width of a row `q | k | v`.
    pub fn qkv_width(&self) -> usize {
        (self.heads + 2 * self.kv_heads) * self.head_dim()
    }

    /// Where key head `kv` starts in a row `q | k | v`.
    pub fn key_column(&self, kv: usize) -> usize {
        (self.heads + kv) * self.head_dim()
    }

    /// Where value head `kv` starts in a row `q | k | v`.
    pub fn value_column(&self, kv: usize) -> usize {
        (self.heads + self.kv_heads + kv) * self.head_dim()
    }

    /// What scores are multiplied by.
    pub fn query_scale(&self) -> f32 {
        self.style.query_scale.unwrap_or_else(|| 1.0 / (self.head_dim() as f32).sqrt())
    }

    /// How many positions a layer sees, its own included; `None`: all.
    pub fn window_of(&self, layer: usize) -> Option<usize> {
        let window = self.style.window?;
        (!(layer + 1).is_multiple_of(window.every)).then_some(window.size)
    }
}

/// As much of a file's context as is held.
pub(crate) fn held_context(context: usize) -> usize {
    context.min(MAX_CONTEXT)
}

/// A head's width for [`Style::head_dim`]: absent where it follows from the others.
pub(crate) fn relative_head_dim(dim: Option<usize>, d_model: usize, heads: usize) -> Option<usize> {
    dim.filter(|dim| dim.checked_mul(heads) != Some(d_model))
}

/// `1 / sqrt(scalar)` for [`Style::query_scale`]: absent where `scalar` is the head's width.
pub(crate) fn relative_query_scale(scalar: f32, head_dim: usize) -> Option<f32> {
    (scalar != head_dim as f32).then(|| 1.0 / scalar.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small() -> DecoderConfig {
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
            style: Style::default(),
        }
    }

    fn check(change: impl Fn(&mut DecoderConfig), message: &str) {
        let mut config = small();
        change(&mut config);
        let error = config.validate().unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }

    #[test]
    fn shapes_that_cannot_work_are_refused_with_the_reason() {
        assert!(small().validate().is_ok());
        check(|c| c.heads = 5, "`d_model` 24 is not a multiple of `heads` 5");
        check(|c| c.kv_heads = 2, "`heads` 3 is not a multiple of `kv_heads` 2");
        check(|c| c.heads = 24, "multiple of `kv_heads`|even number".split('|').next_back().unwrap());
        check(|c| c.layers = 0, "`layers` is 0");
        check(|c| c.d_ff = usize::MAX, "`d_ff`");
        check(|c| c.rope_base = f32::NAN, "`rope_base`");
        check(|c| (c.vocab, c.d_model) = (u32::MAX as usize, 24_000), "parameters");
    }

    #[test]
    fn unknown_keys_are_refused() {
        let text =
            r#"{"vocab":8,"layers":1,"d_model":8,"heads":2,"kv_heads":1,"d_ff":8,"max_context":8,"depth":2}"#;
        assert!(serde_json::from_str::<DecoderConfig>(text).unwrap_err().to_string().contains("depth"));
    }
}
