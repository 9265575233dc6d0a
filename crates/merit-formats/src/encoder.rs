//! Encoders of the BERT kind that turn a text into one vector, as `sentence-transformers` keeps them.

use crate::encoder_config::{EncoderConfig, read_config};
use crate::hf::shards::Shards;
use crate::hf::{json, tokenizer};
use crate::settings::Settings;
use crate::special::Special;
use crate::{FormatError, TensorView};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// An encoder on disk, open for reading.
pub struct EncoderFiles {
    folder: PathBuf,
    config: EncoderConfig,
    shards: Shards,
    prefix: &'static str,
    tokenizer: String,
    special: Special,
}

impl EncoderFiles {
    /// Opens a folder with `config.json`, safetensors and `tokenizer.json`.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, FormatError> {
        let folder = folder.as_ref();
        let path = folder.join("config.json");
        let map = json::map(&path)?.ok_or_else(|| FormatError::file(&path, "is missing"))?;
        let settings = Settings::new(&path, "", map.clone());
        let config = read_config(folder, &settings)?;
        let shards = Shards::of_folder(folder)?;
        let prefix = if shards.span("embeddings.word_embeddings.weight").is_some() { "" } else { "bert." };
        let tokenizer = tokenizer::read(folder, &map)?;
        let text =
            tokenizer.text.ok_or_else(|| FormatError::file(&folder.join("tokenizer.json"), "is missing"))?;
        let folder = folder.to_path_buf();
        let files = Self { folder, config, shards, prefix, tokenizer: text, special: tokenizer.special };
        files.check_tensors()?;
        Ok(files)
    }

    /// Sizes and depth of the model.
    pub fn config(&self) -> &EncoderConfig {
        &self.config
    }

    /// A tensor by its name, as `encoder.layer.0.attention.self.query.weight`.
    pub fn tensor(&self, name: &str) -> Result<TensorView<'_>, FormatError> {
        let view = self.shards.view(&format!("{}{name}", self.prefix), name);
        view.ok_or_else(|| FormatError::tensor(&self.folder, name, "is not part of this model"))
    }

    /// The values of a tensor; one that is not finite is an error.
    pub fn values(&self, name: &str) -> Result<Vec<f32>, FormatError> {
        self.tensor(name)?.finite(&self.folder)
    }

    pub fn tokenizer_json(&self) -> &str {
        &self.tokenizer
    }

    /// Tokens with a meaning, as far as the files name them.
    pub fn special(&self) -> &Special {
        &self.special
    }

    fn check_tensors(&self) -> Result<(), FormatError> {
        let mut known = BTreeSet::new();
        if self.config.layers > self.shards.names().count() {
            let reason = format!("{} layers are more than there are tensors", self.config.layers);
            return Err(FormatError::file(&self.folder, reason));
        }
        for (name, shape) in encoder_tensors(&self.config) {
            let view = self.tensor(&name)?;
            if view.shape != shape {
                let reason = format!("has shape {:?}, the settings make it {shape:?}", view.shape);
                return Err(FormatError::tensor(&self.folder, &name, reason));
            }
            known.insert(format!("{}{name}", self.prefix));
        }
        // Skip heads that pooling does not use.
        let passed = |name: &str| {
            let plain = name.strip_prefix(self.prefix).unwrap_or(name);
            plain.starts_with("pooler.") || name.starts_with("cls.")
        };
        match self.shards.names().find(|name| !known.contains(*name) && !passed(name)) {
            None => Ok(()),
            Some(name) => {
                Err(FormatError::tensor(&self.folder, name, "is no part of a BERT encoder as it is run here"))
            }
        }
    }
}

/// Names and shapes of every tensor of such an encoder.
pub fn encoder_tensors(config: &EncoderConfig) -> Vec<(String, Vec<usize>)> {
    let (d, ff) = (config.d_model, config.d_ff);
    let table = |name: &str, rows: usize| (format!("embeddings.{name}_embeddings.weight"), vec![rows, d]);
    let mut all = vec![
        table("word", config.vocab),
        table("position", config.max_positions),
        table("token_type", config.token_types),
    ];
    let norm = |at: &str| ["weight", "bias"].map(|part| (format!("{at}LayerNorm.{part}"), vec![d]));
    let linear = |at: String, rows: usize, columns: usize| {
        [(format!("{at}.weight"), vec![rows, columns]), (format!("{at}.bias"), vec![rows])]
    };
    all.extend(norm("embeddings."));
    for layer in 0..config.layers {
        let at = format!("encoder.layer.{layer}.");
        for part in ["query", "key", "value"] {
            all.extend(linear(format!("{at}attention.self.{part}"), d, d));
        }
        all.extend(linear(format!("{at}attention.output.dense"), d, d));
        all.extend(norm(&format!("{at}attention.output.")));
        all.extend(linear(format!("{at}intermediate.dense"), ff, d));
        all.extend(linear(format!("{at}output.dense"), d, ff));
        all.extend(norm(&format!("{at}output.")));
    }
    all
}
