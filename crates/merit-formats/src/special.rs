//! Tokens with a meaning.

use serde::Serialize;

/// Tokens that begin, end and fill texts; which of these a model has is up to it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Special {
    /// The token that begins a text.
    pub bos: Option<SpecialToken>,
    /// Each of these ends a text or a turn; the first is the tokenizer's own.
    pub eos: Vec<SpecialToken>,
    /// Fills sequences of a batch to one length; never part of a text.
    pub padding: Option<SpecialToken>,
    /// Stands for what has no token.
    pub unknown: Option<SpecialToken>,
}

/// A token with a meaning, by its id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SpecialToken {
    pub id: u32,
    /// Its text; absent where the files give only the id.
    pub text: Option<String>,
}
