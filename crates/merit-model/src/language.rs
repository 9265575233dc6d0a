//! A model from its files, with everything needed to talk to it: weights, tokenizer, chat template, tokens that end a turn.
//!
//! In: a path. Out: the parts, each made when it is asked for. What a file lacks is an error that says so, and only to
//! whoever needs it.

use crate::{Held, LoadOptions, ModelError, ReadyWeights, Weights};
use merit_core::TokenId;
use merit_formats::{ModelFiles, TokenizerSource};
use merit_text::{ChatTemplate, SpecialTokens, Tokenizer};
use std::path::Path;
use std::sync::Arc;

/// An opened model.
pub struct LanguageModel {
    files: ModelFiles,
    tokenizer: Arc<Tokenizer>,
    template: Option<ChatTemplate>,
    ends: Vec<TokenId>,
}

impl LanguageModel {
    /// Opens a GGUF file or a folder with safetensors. The tokenizer must be there; a chat template need not.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ModelError> {
        let files = ModelFiles::open(path)?;
        let tokenizer = match files.tokenizer() {
            TokenizerSource::HfJson { text, .. } => Tokenizer::from_json(text)?,
            TokenizerSource::Gguf(vocabulary) => Tokenizer::from_gguf(vocabulary)?,
            TokenizerSource::Missing => {
                let path = files.path().display();
                return Err(ModelError::Config(format!(
                    "{path} has no tokenizer; put the model's `tokenizer.json` beside the weights"
                )));
            }
        };
        let specials = specials(&files);
        let template = files.chat_template().map(|source| ChatTemplate::parse(source, specials)).transpose();
        let template = template.map_err(|error| ModelError::Template(error.to_string()))?;
        let ends = files.special().eos.iter().map(|token| TokenId(token.id)).collect();
        Ok(Self { tokenizer: Arc::new(tokenizer), template, ends, files })
    }

    /// What the files say.
    pub fn files(&self) -> &ModelFiles {
        &self.files
    }

    /// Text to tokens and back.
    pub fn tokenizer(&self) -> &Arc<Tokenizer> {
        &self.tokenizer
    }

    /// How conversations are laid out. Absent: the model was not made for conversations.
    pub fn template(&self) -> Option<&ChatTemplate> {
        self.template.as_ref()
    }

    /// Tokens that end a turn.
    pub fn ends(&self) -> &[TokenId] {
        &self.ends
    }

    /// Trainable weights in f32, whatever the encoding of the files.
    pub fn weights(&self, options: LoadOptions) -> Result<Weights, ModelError> {
        Weights::from_files(&self.files, options)
    }

    /// Weights laid out for sampling, as the files have them or decoded.
    pub fn ready(&self, options: LoadOptions, held: Held) -> Result<ReadyWeights, ModelError> {
        ReadyWeights::from_files(&self.files, options, held)
    }
}

fn specials(files: &ModelFiles) -> SpecialTokens {
    let special = files.special();
    let text = |token: Option<&merit_formats::SpecialToken>| token.and_then(|token| token.text.clone());
    SpecialTokens {
        bos: text(special.bos.as_ref()),
        eos: text(special.eos.first()),
        unknown: text(special.unknown.as_ref()),
        padding: text(special.padding.as_ref()),
    }
}
