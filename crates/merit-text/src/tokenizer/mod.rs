//! Text to tokens and back, for a tokenizer trained on the spot and for a real model's.
//!
//! In: texts to train on, a `tokenizer.json`, or the vocabulary of a GGUF file. Out: tokens of any text, and the bytes of any
//! token. Text never makes a special token unless that is asked for, and special tokens stand for no bytes; the bytes of
//! several tokens are the bytes of each, one after the other, so that a stream can be decoded as it comes.

mod alphabet;
mod gguf;
mod merges;
mod pre_tokenizers;
mod real;
mod trained;
mod whole;

pub use pre_tokenizers::PRE_TOKENIZERS;

use crate::TokenizerError;
use merit_core::TokenId;
use merit_formats::GgufVocabulary;
use real::Real;
use std::sync::Arc;
use trained::Trained;
use whole::WholeWords;

/// A tokenizer: trained on the spot, or a real model's. Cheap to clone when it is a real model's.
///
/// ```
/// use merit_text::Tokenizer;
/// let tokenizer = Tokenizer::train(["the cat and the hat", "the bat"].into_iter(), 300);
/// let tokens = tokenizer.encode("the cat sat, 42 times");
/// assert_eq!(tokenizer.decode(&tokens), "the cat sat, 42 times");
/// assert!(tokenizer.special("<|end|>").is_some());
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Tokenizer {
    kind: Kind,
}

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    Trained(Trained),
    Real(Arc<Real>),
}

/// Just enough of a file to tell the two kinds apart.
#[derive(serde::Deserialize)]
struct Signature {
    #[serde(default)]
    model: Option<serde::de::IgnoredAny>,
}

impl Tokenizer {
    /// Learns merges until there are `vocab` tokens or nothing is left to merge. The most frequent pair goes first, of
    /// equals the one with the smaller ids; the order of the texts does not matter.
    pub fn train<'a>(texts: impl Iterator<Item = &'a str>, vocab: usize) -> Self {
        Self { kind: Kind::Trained(Trained::train(texts, vocab, WholeWords::default())) }
    }

    /// The same with words that are one token each, behind the merges and beyond `vocab`. They are found before a text is cut into
    /// pieces; nothing but a whole word gives its token.
    ///
    /// ```
    /// use merit_text::Tokenizer;
    /// let tokenizer = Tokenizer::train_with(["use the saw"].into_iter(), 300, &["<saw>".to_owned()])?;
    /// assert_eq!(tokenizer.encode("<saw>").len(), 1);
    /// assert_eq!(tokenizer.decode(&tokenizer.encode("use <saw>")), "use <saw>");
    /// # Ok::<(), merit_text::TokenizerError>(())
    /// ```
    pub fn train_with<'a>(
        texts: impl Iterator<Item = &'a str>,
        vocab: usize,
        whole: &[String],
    ) -> Result<Self, TokenizerError> {
        let whole = WholeWords::new(whole.to_vec())?;
        Ok(Self { kind: Kind::Trained(Trained::train(texts, vocab, whole)) })
    }

    /// Reads a `tokenizer.json`: what [`Tokenizer::to_json`] wrote, or the one that comes with a real model.
    pub fn from_json(text: &str) -> Result<Self, TokenizerError> {
        let signature: Signature =
            serde_json::from_str(text).map_err(|error| TokenizerError::File(error.to_string()))?;
        let kind = match signature.model {
            Some(_) => Kind::Real(Arc::new(Real::from_json(text.to_owned())?)),
            None => Kind::Trained(Trained::from_json(text)?),
        };
        Ok(Self { kind })
    }

    /// The tokenizer that a GGUF file carries in its metadata.
    pub fn from_gguf(vocabulary: &GgufVocabulary) -> Result<Self, TokenizerError> {
        let real = Real::from_json(gguf::tokenizer_json(vocabulary)?)?;
        if real.vocab_len() != vocabulary.tokens.len() {
            let (got, want) = (real.vocab_len(), vocabulary.tokens.len());
            return Err(TokenizerError::Gguf(format!("{want} tokens became {got}")));
        }
        Ok(Self { kind: Kind::Real(Arc::new(real)) })
    }

    /// The tokens of a text; never special ones. A real model's tokenizer adds no space before the text, so that a text
    /// can continue another, and leaves out what it has no token for ([`Tokenizer::unwritable`]).
    pub fn encode(&self, text: &str) -> Vec<TokenId> {
        match &self.kind {
            Kind::Trained(trained) => trained.encode(text),
            Kind::Real(real) => real.encode(text),
        }
    }

    /// The tokens of a text in which the names of special tokens stand for these tokens.
    pub fn encode_with_specials(&self, text: &str) -> Vec<TokenId> {
        match &self.kind {
            Kind::Trained(trained) => trained.encode_with_specials(text),
            Kind::Real(real) => real.encode_with_specials(text),
        }
    }

    /// The tokens of a text with what the model expects around it, such as a token that begins every text.
    pub fn encode_framed(&self, text: &str) -> Vec<TokenId> {
        match &self.kind {
            Kind::Trained(trained) => trained.encode(text),
            Kind::Real(real) => real.encode_framed(text),
        }
    }

    /// The id of a special token such as `<|end|>`. Absent: there is none of this name.
    pub fn special(&self, name: &str) -> Option<TokenId> {
        match &self.kind {
            Kind::Trained(trained) => trained.special(name),
            Kind::Real(real) => real.special(name),
        }
    }

    /// The name of a special token. Absent: it is not one.
    pub fn special_name(&self, token: TokenId) -> Option<&str> {
        match &self.kind {
            Kind::Trained(_) => trained::SPECIALS.get(token.0 as usize).copied(),
            Kind::Real(real) => real.special_name(token),
        }
    }

    /// The bytes that the tokens stand for; special and unknown tokens stand for none.
    pub fn decode_bytes(&self, tokens: &[TokenId]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(4 * tokens.len());
        for &token in tokens {
            bytes.extend_from_slice(self.bytes(token));
        }
        bytes
    }

    /// The text of the tokens; bytes that are not UTF-8 show as replacement characters.
    pub fn decode(&self, tokens: &[TokenId]) -> String {
        String::from_utf8_lossy(&self.decode_bytes(tokens)).into_owned()
    }

    /// The text of the tokens with the names of special ones in it, for people and for comparing with a template.
    pub fn decode_with_specials(&self, tokens: &[TokenId]) -> String {
        let bytes = |&token: &TokenId| {
            self.special_name(token).map_or_else(|| self.bytes(token), str::as_bytes).iter().copied()
        };
        String::from_utf8_lossy(&tokens.iter().flat_map(bytes).collect::<Vec<u8>>()).into_owned()
    }

    /// The first letter of a text that has no tokens. Some vocabularies lack a few control letters and some that nobody
    /// uses; WordPiece has a token for whatever it does not know.
    pub fn unwritable(&self, text: &str) -> Option<char> {
        match &self.kind {
            Kind::Trained(_) => None,
            Kind::Real(real) => real.unwritable(text),
        }
    }

    /// How many tokens there are: one more than the largest id.
    pub fn vocab_len(&self) -> usize {
        match &self.kind {
            Kind::Trained(trained) => trained.vocab_len(),
            Kind::Real(real) => real.vocab_len(),
        }
    }

    /// The tokenizer as JSON. That of a real model is a `tokenizer.json` that other programs load.
    pub fn to_json(&self) -> String {
        match &self.kind {
            Kind::Trained(trained) => trained.to_json(),
            Kind::Real(real) => real.json().to_owned(),
        }
    }

    /// The bytes that one token stands for; none for special and unknown tokens.
    pub fn bytes(&self, token: TokenId) -> &[u8] {
        match &self.kind {
            Kind::Trained(trained) => trained.bytes(token),
            Kind::Real(real) => real.bytes(token),
        }
    }

    /// Whether it is a real model's, with a vocabulary that was not trained here.
    pub fn is_real(&self) -> bool {
        matches!(self.kind, Kind::Real(_))
    }
}
