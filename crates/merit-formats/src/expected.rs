//! The tensors that a decoder of a given shape consists of, by their names in `transformers`.

use crate::{DecoderConfig, Family};

/// One tensor of a decoder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedTensor {
    /// As `model.layers.0.self_attn.q_proj.weight`.
    pub name: String,
    /// `[out, in]` of a matrix, `[width]` of a vector.
    pub shape: Vec<usize>,
    pub role: TensorRole,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TensorRole {
    /// A table of rows or a linear map.
    Matrix,
    /// Added to what a linear map gives.
    Bias,
    /// Multiplies what was normalised.
    Gain,
}

pub(crate) const EMBEDDING: &str = "model.embed_tokens.weight";
/// Name of the output head, where it is not the embedding.
pub(crate) const HEAD: &str = "lm_head.weight";
/// Name of the last gain.
pub(crate) const LAST_NORM: &str = "model.norm.weight";

/// Every tensor of such a decoder, in the order of the computation.
///
/// ```
/// let text = r#"{"vocab":37,"layers":1,"d_model":24,"heads":3,"kv_heads":1,"d_ff":40,"max_context":64}"#;
/// let config: merit_formats::DecoderConfig = serde_json::from_str(text)?;
/// let tensors = merit_formats::expected_tensors(&config);
/// let values: usize = tensors.iter().map(|tensor| tensor.shape.iter().product::<usize>()).sum();
/// assert_eq!((tensors[0].name.as_str(), values), ("model.embed_tokens.weight", config.parameters()));
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn expected_tensors(config: &DecoderConfig) -> Vec<ExpectedTensor> {
    let mut all = vec![matrix(EMBEDDING.to_owned(), config.vocab, config.d_model)];
    for layer in 0..config.layers {
        block(config, &format!("model.layers.{layer}."), &mut all);
    }
    all.push(gain(LAST_NORM.to_owned(), config.d_model));
    if !config.style.tied {
        all.push(matrix(HEAD.to_owned(), config.vocab, config.d_model));
    }
    all
}

fn block(config: &DecoderConfig, at: &str, all: &mut Vec<ExpectedTensor>) {
    let (d, ff, dim) = (config.d_model, config.d_ff, config.head_dim());
    let (queries, keys) = (config.heads * dim, config.kv_heads * dim);
    let projections = [("q_proj", queries), ("k_proj", keys), ("v_proj", keys)];
    all.push(gain(format!("{at}input_layernorm.weight"), d));
    for (name, rows) in projections {
        all.push(matrix(format!("{at}self_attn.{name}.weight"), rows, d));
    }
    if config.style.qkv_bias {
        all.extend(projections.map(|(name, rows)| bias(format!("{at}self_attn.{name}.bias"), rows)));
    }
    if config.style.qk_norm {
        all.extend(["q_norm", "k_norm"].map(|name| gain(format!("{at}self_attn.{name}.weight"), dim)));
    }
    all.push(matrix(format!("{at}self_attn.o_proj.weight"), d, queries));
    all.push(gain(format!("{at}post_attention_layernorm.weight"), d));
    if config.style.post_norms {
        let names = ["pre_feedforward_layernorm", "post_feedforward_layernorm"];
        all.extend(names.map(|name| gain(format!("{at}{name}.weight"), d)));
    }
    all.push(matrix(format!("{at}mlp.gate_proj.weight"), ff, d));
    all.push(matrix(format!("{at}mlp.up_proj.weight"), ff, d));
    all.push(matrix(format!("{at}mlp.down_proj.weight"), d, ff));
}

fn matrix(name: String, rows: usize, columns: usize) -> ExpectedTensor {
    ExpectedTensor { name, shape: vec![rows, columns], role: TensorRole::Matrix }
}

fn bias(name: String, width: usize) -> ExpectedTensor {
    ExpectedTensor { name, shape: vec![width], role: TensorRole::Bias }
}

fn gain(name: String, width: usize) -> ExpectedTensor {
    ExpectedTensor { name, shape: vec![width], role: TensorRole::Gain }
}

/// What `transformers` adds to a stored gain before it multiplies: 1 in Gemma, 0 elsewhere.
pub(crate) fn hf_gain_offset(family: Family) -> f32 {
    if family == Family::Gemma3 { 1.0 } else { 0.0 }
}
