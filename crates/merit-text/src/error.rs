//! What can be wrong with a tokenizer, a chat template or the frames cut from it.

use merit_core::registry::UnknownName;

/// A tokenizer that cannot be read or cannot write every text.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TokenizerError {
    #[error("tokenizer: {0}")]
    File(String),
    /// A word that cannot be one token.
    #[error("tokenizer: the word {word:?} that is to be kept whole {why}")]
    Whole { word: String, why: String },
    /// GGUF metadata that do not make a tokenizer.
    #[error("tokenizer of the GGUF file: {0}")]
    Gguf(String),
    /// A name that is not known: a kind of tokenizer, a way to cut text.
    #[error("tokenizer of the GGUF file: {0}")]
    Unknown(#[from] UnknownName),
    /// Ordinary texts have no tokens.
    #[error(
        "tokenizer: no token for byte {byte:#04x}, so ordinary texts could not be written; only tokenizers with all bytes \
         (byte-level, or with byte fallback) and WordPiece can be used"
    )]
    MissingByte {
        /// The first byte of ordinary texts without a token.
        byte: u8,
    },
}

/// A chat template that cannot be read or refuses a conversation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TemplateError {
    #[error("chat template: {0}")]
    Syntax(String),
    /// The template itself refuses the conversation, in its own words.
    #[error("the chat template refuses the conversation: {0}")]
    Refused(String),
    /// It broke while rendering.
    #[error("chat template: {0}")]
    Failed(String),
    /// It worked longer than a conversation of this length can need.
    #[error("chat template: stopped after {steps} steps; it does not end in reasonable time")]
    OutOfFuel { steps: u64 },
    /// It wrote more than a conversation of this length can need.
    #[error("chat template: stopped after {bytes} bytes of output")]
    TooLong { bytes: usize },
    /// A tokenizer configuration that cannot be read.
    #[error("tokenizer configuration: {0}")]
    Config(String),
}

/// A chat template that cannot be laid out piece by piece.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FramesError {
    /// A conversation that every chat needs is refused or loses a message.
    #[error("the chat template cannot lay out {conversation}: {why}")]
    Unusable {
        /// Who speaks, in order.
        conversation: String,
        /// What the template said or did.
        why: String,
    },
    /// Rendering a longer conversation gives another text than appending to a shorter one.
    #[error(
        "the chat template is not append-only: {conversation} appended piece by piece gives …{appended:?}, rendered whole \
         …{rendered:?}; what was sampled would have to be changed afterwards"
    )]
    NotAppendOnly {
        /// Who speaks, in order.
        conversation: String,
        /// The appended text from where they part.
        appended: String,
        /// The rendered text from where they part.
        rendered: String,
    },
}
