//! An encoder as an embedder: for an index, or for a check of likeness.
//!
//! Its name carries a digest of shape, weights and tokenizer, so that a record of the name is a record of the model, wherever the
//! folder lies.

use crate::{Encoder, EncoderError};
use merit_core::embedder::Embedder;
use std::path::Path;

/// An encoder under a name that says which model it is.
pub struct ByMeaning {
    name: String,
    encoder: Encoder,
}

impl ByMeaning {
    /// Reads the folder of a model.
    pub fn open(folder: &Path) -> Result<Self, EncoderError> {
        let encoder = Encoder::open(folder)?;
        let name = format!("encoder {}", Encoder::digest_of(folder)?);
        Ok(Self { name, encoder })
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
