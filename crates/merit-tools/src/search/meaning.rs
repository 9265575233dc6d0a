//! Vectors by meaning: an encoder from a folder as the embedder of an index.

use merit_core::embedder::Embedder;
use merit_search::{DenseConfig, IndexConfig};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A model that turns texts into vectors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EmbeddingConfig {
    /// Its folder, as `sentence-transformers` keeps them: `config.json`, safetensors, `tokenizer.json`, `modules.json`.
    pub model: PathBuf,
    /// Weight of the list by meaning in hybrid mode, where the list of words has weight 1.
    #[serde(default = "one")]
    pub weight: f32,
}

fn one() -> f32 {
    1.0
}

/// The index with vectors of this embedder beside the words.
pub(super) fn describe(embedder: &dyn Embedder, index: &IndexConfig, weight: f32) -> IndexConfig {
    let dense = DenseConfig { role: embedder.name().to_owned(), dimensions: embedder.dimensions(), weight };
    IndexConfig { dense: Some(dense), ..index.clone() }
}
