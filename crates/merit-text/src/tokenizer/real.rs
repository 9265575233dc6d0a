//! The tokenizer of a real model, as its `tokenizer.json` describes it.
//!
//! In: the text of the file. Out: tokens of any text and bytes of any token. The file is kept as it came, so that what is
//! saved beside trained weights is what was loaded. Cutting, normalising and merging are the `tokenizers` crate's.

use super::alphabet::Alphabet;
use crate::TokenizerError;
use merit_core::TokenId;
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;
use tokenizers::{NormalizerWrapper, PreTokenizerWrapper};

/// A loaded `tokenizer.json`.
pub(super) struct Real {
    json: String,
    alphabet: Alphabet,
    /// Reads special tokens as text and puts no space before the text.
    plain: tokenizers::Tokenizer,
    /// Reads special tokens as such, as the model's makers do; made when it is first needed.
    framing: OnceLock<tokenizers::Tokenizer>,
    own_steps: (Value, Value),
    bytes: Vec<Vec<u8>>,
    specials: BTreeMap<u32, String>,
    special_ids: HashMap<String, u32>,
    /// By byte. Absent: it has no token.
    byte_ids: Vec<Option<u32>>,
    missing: Vec<u8>,
}

/// What is looked at before the file is handed on.
#[derive(Deserialize)]
struct Outline {
    #[serde(default)]
    normalizer: Value,
    #[serde(default)]
    pre_tokenizer: Value,
    #[serde(default)]
    decoder: Value,
    model: ModelOutline,
}

#[derive(Deserialize)]
struct ModelOutline {
    #[serde(rename = "type", default)]
    kind: Option<String>,
    #[serde(default)]
    byte_fallback: bool,
}

impl Real {
    pub(super) fn from_json(json: String) -> Result<Self, TokenizerError> {
        let outline: Outline = serde_json::from_str(&json).map_err(file_error)?;
        let alphabet = alphabet_of(&outline)?;
        let mut plain: tokenizers::Tokenizer = json.parse().map_err(file_error)?;
        plain.with_truncation(None).map_err(file_error)?;
        plain.with_padding(None);
        plain.set_encode_special_tokens(true);
        let (normalizer, cutter) =
            (without_prefix(&outline.normalizer), without_prefix(&outline.pre_tokenizer));
        set_steps(&mut plain, normalizer, cutter).map_err(file_error)?;
        let vocabulary = plain.get_vocab(true);
        let missing = alphabet.missing(|token| vocabulary.contains_key(token))?;
        let bytes = table(alphabet, &plain, &vocabulary)?;
        let added = plain.get_added_tokens_decoder();
        let specials: BTreeMap<u32, String> = added
            .into_iter()
            .filter(|(_, token)| token.special)
            .map(|(id, token)| (id, token.content))
            .collect();
        let byte_id = |byte| vocabulary.get(&alphabet.byte(byte)).copied();
        Ok(Self {
            special_ids: specials.iter().map(|(&id, name)| (name.clone(), id)).collect(),
            byte_ids: (0..=u8::MAX).map(byte_id).collect(),
            own_steps: (outline.normalizer, outline.pre_tokenizer),
            framing: OnceLock::new(),
            json,
            alphabet,
            plain,
            bytes,
            specials,
            missing,
        })
    }

    pub(super) fn encode(&self, text: &str) -> Vec<TokenId> {
        let ids = match self.plain.encode_fast(text, false) {
            Ok(encoding) => encoding.get_ids().to_vec(),
            // Bytes have tokens, so there is always a way to write a text.
            Err(_) => self.by_bytes(text).collect(),
        };
        if self.alphabet == Alphabet::WordPiece || !ids.iter().any(|id| self.specials.contains_key(id)) {
            return ids.into_iter().map(TokenId).collect();
        }
        ids.into_iter().flat_map(|id| self.spelled_out(id)).collect()
    }

    /// A special token that the merges themselves arrived at, written as the text it was; others as they are.
    fn spelled_out(&self, id: u32) -> Vec<TokenId> {
        let Some(name) = self.specials.get(&id) else { return vec![TokenId(id)] };
        let first = name.chars().next().map_or(0, char::len_utf8);
        if first == name.len() {
            return self.by_bytes(name).map(TokenId).collect();
        }
        let (head, tail) = name.split_at(first);
        [self.encode(head), self.encode(tail)].concat()
    }

    fn by_bytes(&self, text: &str) -> impl Iterator<Item = u32> {
        text.bytes().filter_map(|byte| self.byte_ids[usize::from(byte)])
    }

    pub(super) fn unwritable(&self, text: &str) -> Option<char> {
        let lost =
            |letter: &char| letter.encode_utf8(&mut [0; 4]).bytes().any(|byte| self.missing.contains(&byte));
        if self.missing.is_empty() { None } else { text.chars().find(lost) }
    }

    pub(super) fn encode_with_specials(&self, text: &str) -> Vec<TokenId> {
        self.framed(text, false)
    }

    pub(super) fn encode_framed(&self, text: &str) -> Vec<TokenId> {
        self.framed(text, true)
    }

    fn framed(&self, text: &str, whole: bool) -> Vec<TokenId> {
        let framing = self.framing.get_or_init(|| {
            let mut framing = self.plain.clone();
            framing.set_encode_special_tokens(false);
            let (normalizer, cutter) = self.own_steps.clone();
            // These steps were read once already, when the file was loaded.
            if set_steps(&mut framing, normalizer, cutter).is_err() {
                return self.plain.clone();
            }
            framing
        });
        match framing.encode_fast(text, whole) {
            Ok(encoding) => encoding.get_ids().iter().map(|&id| TokenId(id)).collect(),
            Err(_) => self.encode(text),
        }
    }

    pub(super) fn special(&self, name: &str) -> Option<TokenId> {
        self.special_ids.get(name).map(|&id| TokenId(id))
    }

    pub(super) fn special_name(&self, token: TokenId) -> Option<&str> {
        self.specials.get(&token.0).map(String::as_str)
    }

    pub(super) fn bytes(&self, token: TokenId) -> &[u8] {
        self.bytes.get(token.0 as usize).map_or(&[], Vec::as_slice)
    }

    pub(super) fn vocab_len(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn json(&self) -> &str {
        &self.json
    }
}

impl std::fmt::Debug for Real {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (tokens, specials) = (self.bytes.len(), self.specials.len());
        f.debug_struct("Real").field("tokens", &tokens).field("specials", &specials).finish_non_exhaustive()
    }
}

impl PartialEq for Real {
    fn eq(&self, other: &Self) -> bool {
        self.json == other.json
    }
}

fn file_error(error: impl std::fmt::Display) -> TokenizerError {
    TokenizerError::File(error.to_string())
}

fn alphabet_of(outline: &Outline) -> Result<Alphabet, TokenizerError> {
    let model = outline.model.kind.as_deref().unwrap_or("BPE");
    if model == "WordPiece" {
        return Ok(Alphabet::WordPiece);
    }
    let steps = [&outline.pre_tokenizer, &outline.decoder];
    if steps.iter().any(|step| mentions(step, "ByteLevel")) {
        return Ok(Alphabet::ByteLevel);
    }
    if outline.model.byte_fallback {
        return Ok(Alphabet::SentencePiece);
    }
    Err(TokenizerError::File(format!(
        "a `{model}` model that is neither byte-level nor has byte fallback: some texts would have no tokens; \
         byte-level BPE, BPE and Unigram with byte fallback, and WordPiece can be used"
    )))
}

/// Whether a step, or a step inside it, is of this type.
fn mentions(step: &Value, kind: &str) -> bool {
    match step {
        Value::Object(fields) => {
            fields.get("type").and_then(Value::as_str) == Some(kind)
                || fields.values().any(|inside| mentions(inside, kind))
        }
        Value::Array(steps) => steps.iter().any(|inside| mentions(inside, kind)),
        _ => false,
    }
}

/// The step without what puts a space before the text; null where nothing is left.
fn without_prefix(step: &Value) -> Value {
    let Value::Object(fields) = step else { return step.clone() };
    if fields.get("type").and_then(Value::as_str) == Some("Prepend") {
        return Value::Null;
    }
    let kept = |(key, value): (&String, &Value)| {
        let value = match (key.as_str(), value) {
            ("add_prefix_space", _) => Value::Bool(false),
            ("prepend_scheme", _) => Value::from("never"),
            ("normalizers" | "pretokenizers", Value::Array(steps)) => {
                steps.iter().map(without_prefix).filter(|step| !step.is_null()).collect()
            }
            _ => value.clone(),
        };
        (key.clone(), value)
    };
    Value::Object(fields.iter().map(kept).collect())
}

fn set_steps(
    tokenizer: &mut tokenizers::Tokenizer,
    normalizer: Value,
    cutter: Value,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let normalizer: Option<NormalizerWrapper> = serde_json::from_value(normalizer)?;
    let cutter: Option<PreTokenizerWrapper> = serde_json::from_value(cutter)?;
    tokenizer.with_normalizer(normalizer)?;
    tokenizer.with_pre_tokenizer(cutter);
    Ok(())
}

/// The bytes of every token, by id.
fn table(
    alphabet: Alphabet,
    tokenizer: &tokenizers::Tokenizer,
    vocabulary: &HashMap<String, u32>,
) -> Result<Vec<Vec<u8>>, TokenizerError> {
    let added = tokenizer.get_added_tokens_decoder();
    let largest = vocabulary.values().copied().max().unwrap_or(0) as usize;
    if largest > 2 * vocabulary.len() + (1 << 16) {
        let tokens = vocabulary.len();
        return Err(TokenizerError::File(format!("has a token id {largest}, but only {tokens} tokens")));
    }
    let mut bytes = vec![Vec::new(); largest + 1];
    for (token, &id) in vocabulary {
        bytes[id as usize] = match added.get(&id) {
            Some(added) if added.special => Vec::new(),
            Some(added) => added.content.clone().into_bytes(),
            None => alphabet.bytes(token),
        };
    }
    Ok(bytes)
}
