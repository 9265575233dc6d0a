//! A model from its files, with everything needed to talk to it: weights, tokenizer, chat template, tokens that end a turn.
//!
//! In: a path. Out: the parts, each made when it is asked for. What a file lacks is an error that says so, and only to
//! whoever needs it.

use crate::{Held, LoadOptions, ModelError, PackedWeights, Weights};
use merit_core::TokenId;
use merit_formats::ModelFiles;
use merit_text::{ChatTemplate, ModelText, ModelTextError, Tokenizer};
use std::path::Path;
use std::sync::Arc;

/// A language model opened from a file or folder.
pub struct LanguageModel {
    files: ModelFiles,
    text: ModelText,
    ends: Vec<TokenId>,
}

impl LanguageModel {
    /// Opens a GGUF file or a folder with safetensors. The tokenizer must be there; a chat template need not.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ModelError> {
        let files = ModelFiles::open(path)?;
        let text = ModelText::read(&files).map_err(|error| match error {
            ModelTextError::Missing => ModelError::Config(format!(
                "{} has no tokenizer; put the model's `tokenizer.json` beside the weights",
                files.path().display()
            )),
            ModelTextError::Template(error) => ModelError::Template(error.to_string()),
            ModelTextError::Tokenizer(error) => error.into(),
            other => ModelError::Config(other.to_string()),
        })?;
        let ends = files.special().eos.iter().map(|token| TokenId(token.id)).collect();
        Ok(Self { text, ends, files })
    }

    /// What the files say.
    pub fn files(&self) -> &ModelFiles {
        &self.files
    }

    /// Text to tokens and back.
    pub fn tokenizer(&self) -> &Arc<Tokenizer> {
        &self.text.tokenizer
    }

    /// How conversations are laid out. Absent: the model was not made for conversations.
    pub fn template(&self) -> Option<&ChatTemplate> {
        self.text.template.as_ref()
    }

    /// Names of the special tokens that end a turn.
    pub fn end_names(&self) -> &[String] {
        &self.text.ends
    }

    /// Tokens that end a turn.
    pub fn ends(&self) -> &[TokenId] {
        &self.ends
    }

    /// Trainable weights in f32, whatever the encoding of the files.
    pub fn weights(&self, options: LoadOptions) -> Result<Weights, ModelError> {
        Weights::from_files(&self.files, options)
    }

    /// Weights packed for sampling, as the files have them or decoded.
    pub fn packed(&self, options: LoadOptions, held: Held) -> Result<PackedWeights, ModelError> {
        PackedWeights::from_files(&self.files, options, held)
    }
}
