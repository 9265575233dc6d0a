//! The shape of an encoder, from `config.json` and the files that `sentence-transformers` puts beside it.

use crate::FormatError;
use crate::hf::json;
use crate::settings::Settings;
use serde::Serialize;
use serde_json::Value;
use std::path::Path;

/// The shape of such an encoder: learned positions, LayerNorm after each part, attention in both directions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EncoderConfig {
    /// Entries of the embedding.
    pub vocab: usize,
    /// Blocks of attention and feed-forward.
    pub layers: usize,
    /// Width of the residual stream and of the vector that comes out.
    pub d_model: usize,
    pub heads: usize,
    /// Width of the feed-forward.
    pub d_ff: usize,
    /// Positions that have an embedding.
    pub max_positions: usize,
    /// Kinds of segments that have an embedding; a single text is kind 0.
    pub token_types: usize,
    /// Added to the variance before the root.
    pub norm_eps: f32,
    /// The activation of the feed-forward.
    pub activation: EncoderActivation,
    /// Longest text in tokens, marks included, that the model was made for.
    pub max_tokens: usize,
    /// How the vectors of tokens become one.
    pub pooling: Pooling,
    /// Whether the vector is brought to length 1.
    pub normalise: bool,
    /// Whether text is put in lower case first.
    pub lower_case: bool,
}

/// The activation of an encoder's feed-forward.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EncoderActivation {
    /// `x Phi(x)`, by the error function.
    Gelu,
    /// The same by its tanh formula.
    GeluTanh,
    /// `max(x, 0)`.
    Relu,
}

/// How the vectors of tokens become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pooling {
    /// Their mean, padding left out.
    Mean,
    /// The first token's.
    First,
}

/// Reads all of them; a link of the chain that is not run is refused.
pub(crate) fn read_config(folder: &Path, settings: &Settings) -> Result<EncoderConfig, FormatError> {
    let kind = settings.text("model_type")?.ok_or_else(|| settings.error("model_type", "is missing"))?;
    if kind != "bert" {
        return Err(FormatError::unknown(settings.path(), "encoder model_type", &kind, &["bert"]));
    }
    if let Some(positions) = settings.text("position_embedding_type")?.filter(|p| p != "absolute") {
        let reason = format!("is `{positions}`; only absolute positions are run");
        return Err(settings.error("position_embedding_type", reason));
    }
    settings.must_be_off("is_decoder", "a decoder is not run as an encoder")?;
    settings.must_be_off("quantization_config", "quantised safetensors are not read")?;
    let activation = match settings.text("hidden_act")?.as_deref() {
        Some("gelu") | None => EncoderActivation::Gelu,
        Some("gelu_new" | "gelu_pytorch_tanh") => EncoderActivation::GeluTanh,
        Some("relu") => EncoderActivation::Relu,
        Some(other) => {
            return Err(settings.error("hidden_act", format!("is `{other}`; known: gelu, gelu_new, relu")));
        }
    };
    let positions = settings.required_size("max_position_embeddings")?;
    let (pooling, normalise) = modules(folder)?;
    let (max_tokens, lower_case) = sentence(folder, positions)?;
    let config = EncoderConfig {
        vocab: settings.required_size("vocab_size")?,
        layers: settings.required_size("num_hidden_layers")?,
        d_model: settings.required_size("hidden_size")?,
        heads: settings.required_size("num_attention_heads")?,
        d_ff: settings.required_size("intermediate_size")?,
        max_positions: positions,
        token_types: settings.size("type_vocab_size")?.unwrap_or(2),
        norm_eps: settings.number("layer_norm_eps")?.unwrap_or(1e-12),
        activation,
        max_tokens,
        pooling,
        normalise,
        lower_case,
    };
    if config.heads == 0 || !config.d_model.is_multiple_of(config.heads) {
        let reason = format!("{} does not divide `hidden_size` {}", config.heads, config.d_model);
        return Err(settings.error("num_attention_heads", reason));
    }
    Ok(config)
}

/// Pooling and whether the result is brought to length 1; a chain with any other link is refused.
fn modules(folder: &Path) -> Result<(Pooling, bool), FormatError> {
    let path = folder.join("modules.json");
    let text = json::text(&path)?
        .ok_or_else(|| FormatError::file(&path, "is missing: nothing says how a vector is made"))?;
    let list: Vec<Value> = serde_json::from_str(&text)
        .map_err(|error| FormatError::file(&path, format!("is not a list: {error}")))?;
    let (mut pooling, mut normalise) = (None, false);
    for module in &list {
        let kind = module.get("type").and_then(Value::as_str).unwrap_or_default();
        match kind.rsplit('.').next().unwrap_or_default() {
            "Transformer" => {}
            "Pooling" => {
                let at = module.get("path").and_then(Value::as_str).unwrap_or("1_Pooling");
                pooling = Some(read_pooling(&folder.join(at).join("config.json"))?);
            }
            "Normalize" => normalise = true,
            _ => {
                return Err(FormatError::key(
                    &path,
                    "type",
                    format!("`{kind}` is not run; known: Transformer, Pooling, Normalize"),
                ));
            }
        }
    }
    let pooling = pooling.ok_or_else(|| FormatError::file(&path, "names no module of pooling"))?;
    Ok((pooling, normalise))
}

fn read_pooling(path: &Path) -> Result<Pooling, FormatError> {
    let map = json::map(path)?.ok_or_else(|| FormatError::file(path, "is missing"))?;
    let on = |(key, value): (&String, &Value)| {
        (key.starts_with("pooling_mode_") && value == true).then(|| key.clone())
    };
    let modes: Vec<String> = map.iter().filter_map(on).collect();
    match modes.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["pooling_mode_mean_tokens"] => Ok(Pooling::Mean),
        ["pooling_mode_cls_token"] => Ok(Pooling::First),
        other => Err(FormatError::file(
            path,
            format!("pools by {other:?}; one of mean_tokens and cls_token is run"),
        )),
    }
}

/// Longest text, and whether it is put in lower case.
fn sentence(folder: &Path, positions: usize) -> Result<(usize, bool), FormatError> {
    let path = folder.join("sentence_bert_config.json");
    let settings = Settings::new(&path, "", json::map(&path)?.unwrap_or_default());
    let longest = settings.size("max_seq_length")?.unwrap_or(positions).min(positions);
    Ok((longest, settings.flag("do_lower_case")?.unwrap_or(false)))
}
