//! The tokenizer that a GGUF file carries in its metadata, as plain data.
//!
//! In: nothing; the reader of metadata fills it. Out: tokens, their kinds, scores, merges and the ids with a meaning.
//! How text becomes tokens is not decided here.

/// Tokens and rules of a tokenizer, as `tokenizer.ggml.*` states them.
#[derive(Debug, Clone, PartialEq)]
pub struct GgufVocabulary {
    /// Kind of tokenizer: `gpt2` (byte-level BPE), `llama` (SentencePiece) and others.
    pub model: String,
    /// How text is cut before merging, such as `smollm` or `qwen2`; absent in SentencePiece files and old ones.
    pub pre: Option<String>,
    /// The text of each token, in the order of their ids.
    pub tokens: Vec<String>,
    /// One kind for each token; all `Normal` where the file does not say.
    pub kinds: Vec<TokenKind>,
    /// One score for each token; empty where the file has none.
    pub scores: Vec<f32>,
    /// Merges in order of rank, each `left right`; empty for SentencePiece.
    pub merges: Vec<String>,
    /// The token that begins a text.
    pub bos: Option<u32>,
    /// The token that ends a text.
    pub eos: Option<u32>,
    /// Stands for what has no token.
    pub unknown: Option<u32>,
    /// Fills sequences of a batch to one length; never part of a text.
    pub padding: Option<u32>,
    /// Whether `bos` is put before every text.
    pub add_bos: bool,
    /// Whether `eos` is put after every text.
    pub add_eos: bool,
    /// Whether a space is put before the first word.
    pub add_space_prefix: bool,
}

/// What a token stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// A piece of text.
    Normal,
    /// What has no token.
    Unknown,
    /// A mark of the format, such as the end of a turn; never produced from plain text.
    Control,
    /// Found in text before anything is cut or merged.
    UserDefined,
    /// A reserved place without a text.
    Unused,
    /// One byte, as `<0x0A>`.
    Byte,
}

impl TokenKind {
    /// The kind with this number in `tokenizer.ggml.token_type`.
    pub fn from_number(number: i32) -> Option<Self> {
        Some(match number {
            1 => Self::Normal,
            2 => Self::Unknown,
            3 => Self::Control,
            4 => Self::UserDefined,
            5 => Self::Unused,
            6 => Self::Byte,
            _ => return None,
        })
    }

    /// Its number in `tokenizer.ggml.token_type`.
    pub fn number(self) -> i32 {
        match self {
            Self::Normal => 1,
            Self::Unknown => 2,
            Self::Control => 3,
            Self::UserDefined => 4,
            Self::Unused => 5,
            Self::Byte => 6,
        }
    }
}
