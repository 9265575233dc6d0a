//! Vectors by meaning: an encoder from a folder as the embedder of an index.
//!
//! Its name carries a digest of shape, weights and tokenizer, so that an index says by its own digest which model it was made
//! with, wherever the folder lies.

use merit_encoder::{Encoder, EncoderError};
use merit_search::{DenseConfig, Embedder, IndexConfig};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;

/// A model that turns texts into vectors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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

/// An encoder under the name that configs of indexes call it by.
pub(super) struct ByMeaning {
    name: String,
    encoder: Encoder,
}

impl ByMeaning {
    pub(super) fn open(config: &EmbeddingConfig) -> Result<Arc<Self>, EncoderError> {
        let encoder = Encoder::open(&config.model)?;
        let name = format!("encoder {}", Encoder::digest_of(&config.model)?);
        Ok(Arc::new(Self { name, encoder }))
    }

    /// The index with vectors of this encoder beside the words.
    pub(super) fn describe(&self, index: &IndexConfig, weight: f32) -> IndexConfig {
        let dense = DenseConfig { role: self.name.clone(), dimensions: self.dimensions(), weight };
        IndexConfig { dense: Some(dense), ..index.clone() }
    }
}

impl Embedder for ByMeaning {
    fn name(&self) -> &str {
        &self.name
    }

    fn dimensions(&self) -> usize {
        self.encoder.dimensions()
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, String> {
        let mut vectors = self.encoder.embed(texts).map_err(|error| error.to_string())?;
        for (text, vector) in texts.iter().zip(&mut vectors) {
            // The marks around a text have a direction of their own, which says nothing.
            if text.trim().is_empty() {
                vector.fill(0.0);
            }
        }
        Ok(vectors)
    }
}
