//! The policy's model in a recipe: a decoder made on the spot, or one from a file.
//!
//! A table with a `file` is a model from a file; without one it is the shape of a fresh decoder. Keys of the one are refused
//! in the other, so that no key is read and ignored.

use crate::RunError;
use merit_formats::ModelFiles;
use merit_model::{AdapterSettings, DecoderConfig, Precision, Style, Tokenizer, Weights};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::path::Path;

/// The embedded policy.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged, try_from = "ModelKeys")]
pub enum ModelConfig {
    /// A decoder with random weights and a tokenizer trained on demonstrations.
    Fresh(FreshModel),
    /// Weights, tokenizer and chat template of a model file.
    File(FileModel),
}

/// The shape of a decoder made on the spot.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct FreshModel {
    /// Size of the vocabulary that the tokenizer is trained to, at most.
    pub vocabulary: usize,
    /// Number of decoder layers.
    pub layers: usize,
    /// Width of the residual stream.
    #[schemars(extend("aliases" = ["d_model"]))]
    pub width: usize,
    /// Number of attention heads.
    pub heads: usize,
    /// Key-value heads; divides `heads`.
    pub kv_heads: usize,
    /// Width of the feed-forward part.
    #[schemars(extend("aliases" = ["d_ff"]))]
    pub feed_forward: usize,
    /// Longest context in tokens.
    pub context: usize,
    /// Base of the rotary embedding.
    pub rope_base: f32,
    /// Whether the policy also estimates values, which `gae` needs.
    pub value_head: bool,
    /// What the operands of products are rounded to, when it is trained and when it is sampled; weights are kept in f32. Absent: f32.
    #[serde(skip_serializing_if = "is_f32")]
    pub precision: Precision,
    /// The folder of a finished run whose trained policy it begins with, tokenizer included; its shape is that policy's. Absent: random
    /// weights.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde calls it so.
fn is_f32(precision: &Precision) -> bool {
    *precision == Precision::F32
}

/// A model from a file, and what of it is trained.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct FileModel {
    /// A GGUF file, or a folder with `config.json` and safetensors.
    pub file: String,
    /// What the operands of products are rounded to; weights under training are kept in f32.
    #[schemars(default = "bf16")]
    pub precision: Precision,
    /// Longest context in tokens; at most what the model was made for.
    #[schemars(default = "file_context")]
    pub context: usize,
    /// Whether a value head is added, which `gae` needs.
    #[serde(default)]
    pub value_head: bool,
    /// What of it is trained.
    #[schemars(default = "all_weights")]
    pub train: Trained,
    /// Keep only the streams between blocks while training and run each block again on the way back: less memory, more work,
    /// the same bits.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub recompute: bool,
}

/// What of a model from a file is trained.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Trained {
    /// All weights are trained.
    Full,
    /// A low-rank adapter; the weights of the file stay.
    Lora(AdapterSettings),
}

/// Keys that only a decoder made on the spot has.
pub(crate) const FRESH_ONLY: [&str; 8] =
    ["vocabulary", "layers", "width", "heads", "kv_heads", "feed_forward", "rope_base", "start"];

/// All keys of `[model]`, as a file may give them.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ModelKeys {
    file: Option<String>,
    precision: Option<Precision>,
    train: Option<Trained>,
    recompute: Option<bool>,
    vocabulary: Option<usize>,
    layers: Option<usize>,
    #[serde(alias = "d_model")]
    width: Option<usize>,
    heads: Option<usize>,
    kv_heads: Option<usize>,
    #[serde(alias = "d_ff")]
    feed_forward: Option<usize>,
    context: Option<usize>,
    rope_base: Option<f32>,
    value_head: Option<bool>,
    start: Option<String>,
}

fn bf16() -> Precision {
    Precision::Bf16
}

fn file_context() -> usize {
    1024
}

fn all_weights() -> Trained {
    Trained::Full
}

impl JsonSchema for ModelConfig {
    fn schema_name() -> Cow<'static, str> {
        "model".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let kinds = [generator.subschema_for::<FreshModel>(), generator.subschema_for::<FileModel>()];
        json_schema!({
            "description": "The policy. With `file` it is a model from a file, otherwise a decoder made on the spot.",
            "oneOf": kinds,
        })
    }
}

impl TryFrom<ModelKeys> for ModelConfig {
    type Error = String;

    fn try_from(keys: ModelKeys) -> Result<Self, String> {
        let Some(file) = keys.file.clone() else { return keys.fresh().map(Self::Fresh) };
        let given = [
            keys.vocabulary.is_some(),
            keys.layers.is_some(),
            keys.width.is_some(),
            keys.heads.is_some(),
            keys.kv_heads.is_some(),
            keys.feed_forward.is_some(),
            keys.rope_base.is_some(),
            keys.start.is_some(),
        ];
        if let Some((key, _)) = FRESH_ONLY.iter().zip(given).find(|(_, given)| *given) {
            if *key == "start" {
                return Err("`model.start` is for decoders made on the spot; name the run's folder `policy` as `file`".into());
            }
            return Err(format!("`model.{key}` comes from the model's file; remove it, or remove `file`"));
        }
        Ok(Self::File(FileModel {
            file,
            precision: keys.precision.unwrap_or_else(bf16),
            context: keys.context.unwrap_or_else(file_context),
            value_head: keys.value_head.unwrap_or(false),
            train: keys.train.unwrap_or_else(all_weights),
            recompute: keys.recompute.unwrap_or(false),
        }))
    }
}

impl ModelKeys {
    fn fresh(self) -> Result<FreshModel, String> {
        let file_only = [("train", self.train.is_some()), ("recompute", self.recompute.is_some())];
        if let Some((key, _)) = file_only.iter().find(|(_, given)| *given) {
            return Err(format!("`model.{key}` is for a model from a file; add `file`, or remove it"));
        }
        let usual = FreshModel::default();
        Ok(FreshModel {
            vocabulary: self.vocabulary.unwrap_or(usual.vocabulary),
            layers: self.layers.unwrap_or(usual.layers),
            width: self.width.unwrap_or(usual.width),
            heads: self.heads.unwrap_or(usual.heads),
            kv_heads: self.kv_heads.unwrap_or(usual.kv_heads),
            feed_forward: self.feed_forward.unwrap_or(usual.feed_forward),
            context: self.context.unwrap_or(usual.context),
            rope_base: self.rope_base.unwrap_or(usual.rope_base),
            value_head: self.value_head.unwrap_or(usual.value_head),
            precision: self.precision.unwrap_or(usual.precision),
            start: self.start,
        })
    }
}

impl Default for ModelConfig {
    fn default() -> Self {
        Self::Fresh(FreshModel::default())
    }
}

impl ModelConfig {
    /// About how many weights are kept in a checkpoint; 0 where the model's file cannot be read, which is said elsewhere.
    pub(crate) fn parameters(&self) -> u64 {
        match self {
            Self::Fresh(model) => model.decoder(model.vocabulary).parameters() as u64,
            Self::File(model) => match (&model.train, ModelFiles::open(&model.file)) {
                (Trained::Full, Ok(files)) => files.config().parameters() as u64,
                // An adapter of rank r holds about r (in + out) for each matrix of in × out.
                (Trained::Lora(adapter), Ok(files)) => {
                    let (config, rank) = (files.config(), adapter.rank as u64);
                    let per_layer = 7 * (config.d_model + config.d_ff) as u64;
                    config.layers as u64 * rank * per_layer
                }
                (_, Err(_)) => 0,
            },
        }
    }

    /// Longest context in tokens.
    pub fn context(&self) -> usize {
        match self {
            Self::Fresh(model) => model.context,
            Self::File(model) => model.context,
        }
    }

    /// What the operands of its products are rounded to.
    pub fn precision(&self) -> Precision {
        match self {
            Self::Fresh(model) => model.precision,
            Self::File(model) => model.precision,
        }
    }

    /// Whether the policy also estimates values.
    pub fn value_head(&self) -> bool {
        match self {
            Self::Fresh(model) => model.value_head,
            Self::File(model) => model.value_head,
        }
    }
}

impl FreshModel {
    /// The tokenizer and the weights that it begins with. Absent: it begins with nothing.
    pub(crate) fn begun(&self) -> Result<Option<(Tokenizer, Weights)>, RunError> {
        let Some(run) = &self.start else { return Ok(None) };
        let wrong = |why: String| RunError::Start { run: run.clone(), why };
        let read = |name: &str| {
            let path = Path::new(run).join(name);
            std::fs::read(&path).map_err(|error| {
                let hint = "is it the folder of a finished run with a decoder made on the spot?";
                wrong(format!("cannot read {}: {error}; {hint}", path.display()))
            })
        };
        let json = String::from_utf8(read("tokenizer.json")?).map_err(|error| wrong(error.to_string()))?;
        let tokenizer = Tokenizer::from_json(&json).map_err(|error| wrong(error.to_string()))?;
        let weights = Weights::from_safetensors(&read("policy.safetensors")?)?;
        let (found, asked) = (weights.config(), self.decoder(tokenizer.vocab_len()));
        if *found != asked {
            return Err(wrong(format!(
                "its policy has another shape than `[model]` says: layers {}, width {}, heads {}, kv_heads {}, feed_forward {}, \
                 context {}, value_head {}, rope_base {}",
                found.layers,
                found.d_model,
                found.heads,
                found.kv_heads,
                found.d_ff,
                found.max_context,
                found.value_head,
                found.rope_base
            )));
        }
        Ok(Some((tokenizer, weights)))
    }

    /// The decoder of this shape over a vocabulary of `vocab` entries.
    pub fn decoder(&self, vocab: usize) -> DecoderConfig {
        DecoderConfig {
            vocab,
            layers: self.layers,
            d_model: self.width,
            heads: self.heads,
            kv_heads: self.kv_heads,
            d_ff: self.feed_forward,
            rope_base: self.rope_base,
            norm_eps: 1e-5,
            max_context: self.context,
            value_head: self.value_head,
            style: Style::default(),
        }
    }
}

impl Default for FreshModel {
    fn default() -> Self {
        Self {
            vocabulary: 384,
            layers: 2,
            width: 128,
            heads: 8,
            kv_heads: 4,
            feed_forward: 256,
            context: 256,
            rope_base: 10_000.0,
            value_head: false,
            precision: Precision::F32,
            start: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<ModelConfig, String> {
        toml::from_str(text).map_err(|error: toml::de::Error| error.message().to_owned())
    }

    #[test]
    fn a_table_with_a_file_is_a_model_from_a_file() {
        let model = parse("file = 'm.gguf'\ntrain = { type = 'lora', rank = 8 }").unwrap();
        let ModelConfig::File(model) = model else { panic!("not from a file") };
        assert_eq!((model.file.as_str(), model.context), ("m.gguf", file_context()));
        assert!(matches!(model.train, Trained::Lora(AdapterSettings { rank: 8, .. })));
        assert!(matches!(parse("layers = 3").unwrap(), ModelConfig::Fresh(FreshModel { layers: 3, .. })));
    }

    #[test]
    fn a_decoder_made_on_the_spot_may_round_its_products_and_says_so_only_then() {
        assert_eq!(parse("precision = 'bf16'").unwrap().precision(), Precision::Bf16);
        assert!(!toml::to_string(&FreshModel::default()).unwrap().contains("precision"));
    }

    #[test]
    fn keys_of_the_other_kind_are_refused_by_name() {
        assert!(parse("file = 'm.gguf'\nlayers = 3").unwrap_err().contains("`model.layers`"));
        assert!(parse("recompute = true").unwrap_err().contains("`model.recompute`"));
        assert!(parse("file = 'm.gguf'\nfiel = 3").unwrap_err().contains("fiel"));
        assert!(parse("file = 'm.gguf'\ntrain = { type = 'lora', rnak = 8 }").unwrap_err().contains("rnak"));
    }
}
