//! Everything about text that comes with a model: tokenizer, special tokens, chat template.
//!
//! In: the open files of a model. Out: what a chat with it needs, whatever format the files have.

use crate::{ChatTemplate, SpecialTokens, TemplateError, Tokenizer, TokenizerConfig, TokenizerError};
use merit_core::TokenId;
use merit_formats::{ModelFiles, SpecialToken, TokenizerSource};
use std::sync::Arc;

/// The text side of a model.
#[derive(Debug, Clone)]
pub struct ModelText {
    pub tokenizer: Arc<Tokenizer>,
    /// Its special tokens by role.
    pub specials: SpecialTokens,
    /// Names of all tokens that end a text or a turn, the tokenizer's own first.
    pub ends: Vec<String>,
    /// Its chat template. Absent: it has none, as base models do.
    pub template: Option<ChatTemplate>,
}

/// A model whose text side cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelTextError {
    /// The files hold no tokenizer.
    #[error("the model comes without a tokenizer; put its `tokenizer.json` beside it")]
    Missing,
    /// Its tokenizer cannot be used.
    #[error(transparent)]
    Tokenizer(#[from] TokenizerError),
    /// Its chat template cannot be read.
    #[error(transparent)]
    Template(#[from] TemplateError),
}

impl ModelText {
    /// Reads the text side of a model.
    pub fn read(files: &ModelFiles) -> Result<Self, ModelTextError> {
        let tokenizer = match files.tokenizer() {
            TokenizerSource::HfJson { text, .. } => Tokenizer::from_json(text)?,
            TokenizerSource::Gguf(vocabulary) => Tokenizer::from_gguf(vocabulary)?,
            TokenizerSource::Missing => return Err(ModelTextError::Missing),
        };
        let special = files.special();
        let name = |token: &SpecialToken| {
            token.text.clone().or_else(|| tokenizer.special_name(TokenId(token.id)).map(str::to_owned))
        };
        let ends: Vec<String> =
            special.eos.iter().filter_map(name).filter(|name| tokenizer.special(name).is_some()).collect();
        let specials = SpecialTokens {
            bos: special.bos.as_ref().and_then(name),
            eos: special.eos.first().and_then(name),
            unknown: special.unknown.as_ref().and_then(name),
            padding: special.padding.as_ref().and_then(name),
        };
        let template =
            files.chat_template().map(|source| ChatTemplate::parse(source, specials.clone())).transpose()?;
        Ok(Self { tokenizer: Arc::new(tokenizer), specials, ends, template })
    }

    /// What a `tokenizer_config.json` beside saved weights says.
    pub fn config(&self) -> TokenizerConfig {
        let chat_template = self.template.as_ref().map(|template| template.source().to_owned());
        TokenizerConfig { specials: self.specials.clone(), chat_template }
    }
}
