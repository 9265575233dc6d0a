//! Why there is no encoder, or no vector.

use merit_formats::FormatError;
use merit_text::TokenizerError;
use std::path::PathBuf;

/// An encoder that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EncoderError {
    /// Its files are not what they should be.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// Its tokenizer cannot be used.
    #[error("{}: {source}", folder.display())]
    Tokenizer {
        folder: PathBuf,
        /// What is wrong with it.
        source: TokenizerError,
    },
    /// The tokenizer and the weights do not belong together.
    #[error("{}: the tokenizer has {tokens} tokens, the embedding {rows} rows", folder.display())]
    Vocabulary {
        folder: PathBuf,
        /// What the tokenizer knows.
        tokens: usize,
        /// What the weights know.
        rows: usize,
    },
    /// Nothing fits between the marks that the tokenizer puts around a text.
    #[error("{}: the tokenizer puts {marks} tokens around a text, and the model takes {most}", folder.display())]
    NoRoom {
        folder: PathBuf,
        /// Tokens around a text.
        marks: usize,
        /// The longest text, marks included.
        most: usize,
    },
    /// The weights lead to numbers that are none.
    #[error("{}: the vector of text {index} is not finite; the weights are damaged", folder.display())]
    NotFinite {
        folder: PathBuf,
        /// The text's place in the batch, from 0.
        index: usize,
    },
}
