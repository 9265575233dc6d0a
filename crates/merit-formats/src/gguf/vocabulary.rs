//! Metadata of a GGUF file to its tokenizer, special tokens and chat templates.

use super::file::GgufFile;
use super::value::Value;
use crate::special::{Special, SpecialToken};
use crate::{FormatError, GgufVocabulary, TokenKind};
use std::collections::BTreeMap;

const PREFIX: &str = "tokenizer.ggml.";

/// The tokenizer; `None` where the file has none.
pub(crate) fn read(file: &GgufFile) -> Result<Option<GgufVocabulary>, FormatError> {
    let keys = Keys(file);
    let Some(model) = keys.text("model")? else { return Ok(None) };
    if model == "none" || model == "no_vocab" {
        return Ok(None);
    }
    let tokens = keys.texts("tokens")?.ok_or_else(|| keys.error("tokens", "is missing"))?;
    let kinds = keys.kinds(tokens.len())?;
    let scores = keys.scores(tokens.len())?;
    let count = tokens.len();
    let id = |key: &str| keys.id(key, count);
    Ok(Some(GgufVocabulary {
        pre: keys.text("pre")?,
        kinds,
        scores,
        merges: keys.texts("merges")?.unwrap_or_default(),
        bos: id("bos_token_id")?,
        eos: id("eos_token_id")?,
        unknown: id("unknown_token_id")?,
        padding: id("padding_token_id")?,
        // What is done where nothing is said: SentencePiece begins a text with its mark and a space, byte-level BPE does not.
        add_bos: keys.flag("add_bos_token")?.unwrap_or(model == "llama"),
        add_eos: keys.flag("add_eos_token")?.unwrap_or(false),
        add_space_prefix: keys.flag("add_space_prefix")?.unwrap_or(model == "llama"),
        model,
        tokens,
    }))
}

/// Lets go of the lists that [`read`] has copied; a vocabulary can be a hundred thousand texts.
pub(crate) fn forget_lists(file: &mut GgufFile) {
    for key in ["tokens", "token_type", "scores", "merges"] {
        file.metadata.remove(&format!("{PREFIX}{key}"));
    }
}

/// Tokens with a meaning; every id that ends a text or a turn counts as an end.
pub(crate) fn special(file: &GgufFile, vocabulary: &GgufVocabulary) -> Result<Special, FormatError> {
    let keys = Keys(file);
    let token = |id: u32| SpecialToken { id, text: vocabulary.tokens.get(id as usize).cloned() };
    let mut ends: Vec<u32> = vocabulary.eos.into_iter().collect();
    for key in ["eot_token_id", "eom_token_id"] {
        ends.extend(keys.id(key, vocabulary.tokens.len())?.filter(|id| !ends.contains(id)));
    }
    Ok(Special {
        bos: vocabulary.bos.map(token),
        eos: ends.into_iter().map(token).collect(),
        padding: vocabulary.padding.map(token),
        unknown: vocabulary.unknown.map(token),
    })
}

/// Templates by name; the one without a name is `default`.
pub(crate) fn chat_templates(file: &GgufFile) -> BTreeMap<String, String> {
    const KEY: &str = "tokenizer.chat_template";
    let named = |key: &str| match key.strip_prefix(KEY)? {
        "" => Some("default".to_owned()),
        rest => rest.strip_prefix('.').map(str::to_owned),
    };
    let texts = file.metadata.iter().filter_map(|(key, value)| match value {
        Value::Text(text) => Some((named(key)?, text.clone())),
        _ => None,
    });
    texts.collect()
}

/// `tokenizer.ggml.*`, each of the type that it must have.
struct Keys<'a>(&'a GgufFile);

impl Keys<'_> {
    fn get(&self, key: &str) -> Option<&Value> {
        self.0.metadata.get(&format!("{PREFIX}{key}"))
    }

    fn error(&self, key: &str, reason: impl Into<String>) -> FormatError {
        FormatError::key(&self.0.path, &format!("{PREFIX}{key}"), reason)
    }

    fn text(&self, key: &str) -> Result<Option<String>, FormatError> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Text(text)) => Ok(Some(text.clone())),
            Some(_) => Err(self.error(key, "must be a text")),
        }
    }

    fn flag(&self, key: &str) -> Result<Option<bool>, FormatError> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(*flag)),
            Some(_) => Err(self.error(key, "must be true or false")),
        }
    }

    fn texts(&self, key: &str) -> Result<Option<Vec<String>>, FormatError> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Texts(texts)) => Ok(Some(texts.clone())),
            Some(_) => Err(self.error(key, "must be a list of texts")),
        }
    }

    fn id(&self, key: &str, tokens: usize) -> Result<Option<u32>, FormatError> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let id = match value {
            Value::Unsigned(id) => u32::try_from(*id).ok(),
            Value::Signed(id) => u32::try_from(*id).ok(),
            _ => None,
        };
        // Files write the largest number where they mean that there is none.
        if id == Some(u32::MAX) || matches!(value, Value::Signed(-1)) {
            return Ok(None);
        }
        match id {
            Some(id) if (id as usize) < tokens => Ok(Some(id)),
            _ => Err(self.error(key, format!("must be the id of one of the {tokens} tokens, not {value:?}"))),
        }
    }

    fn numbers(&self, key: &str, tokens: usize) -> Result<Option<Vec<Value>>, FormatError> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Numbers(numbers)) if numbers.len() == tokens => Ok(Some(numbers.iter().collect())),
            Some(Value::Numbers(numbers)) => {
                Err(self.error(key, format!("has {} entries for {tokens} tokens", numbers.len())))
            }
            Some(_) => Err(self.error(key, "must be a list of numbers")),
        }
    }

    fn kinds(&self, tokens: usize) -> Result<Vec<TokenKind>, FormatError> {
        const KEY: &str = "token_type";
        let Some(numbers) = self.numbers(KEY, tokens)? else { return Ok(vec![TokenKind::Normal; tokens]) };
        let kind = |(token, value): (usize, Value)| {
            let number = match value {
                Value::Signed(number) => i32::try_from(number).ok(),
                Value::Unsigned(number) => i32::try_from(number).ok(),
                _ => None,
            };
            let kind = number.and_then(TokenKind::from_number);
            kind.ok_or_else(|| self.error(KEY, format!("token {token} has the unknown kind {value:?}")))
        };
        numbers.into_iter().enumerate().map(kind).collect()
    }

    fn scores(&self, tokens: usize) -> Result<Vec<f32>, FormatError> {
        const KEY: &str = "scores";
        let Some(numbers) = self.numbers(KEY, tokens)? else { return Ok(Vec::new()) };
        let score = |(token, value): (usize, Value)| match value {
            Value::Float(score) if !score.is_nan() => Ok(score as f32),
            other => Err(self.error(KEY, format!("token {token} has the score {other:?}"))),
        };
        numbers.into_iter().enumerate().map(score).collect()
    }
}
