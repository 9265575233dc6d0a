//! Tokenizer files of a folder: the tokenizer itself as text, its special tokens, its chat templates.

use super::json;
use crate::FormatError;
use crate::special::{Special, SpecialToken};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::Path;

/// What the folder says of its tokenizer.
#[derive(Debug)]
pub(crate) struct HfTokenizer {
    /// The text of `tokenizer.json`. Absent: the folder has none.
    pub(crate) text: Option<String>,
    /// `tokenizer_config.json`; null where there is none.
    pub(crate) config: Value,
    pub(crate) chat_templates: BTreeMap<String, String>,
    pub(crate) special: Special,
}

/// The part of `tokenizer.json` that gives special tokens their ids.
#[derive(Deserialize)]
struct Added {
    #[serde(default)]
    added_tokens: Vec<AddedToken>,
}

#[derive(Deserialize)]
struct AddedToken {
    id: u32,
    content: String,
}

/// `config` is `config.json`, which names ids too.
pub(crate) fn read(folder: &Path, config: &Map<String, Value>) -> Result<HfTokenizer, FormatError> {
    let text = json::text(&folder.join("tokenizer.json"))?;
    let tokenizer = json::map(&folder.join("tokenizer_config.json"))?;
    let generation = json::map(&folder.join("generation_config.json"))?;
    let tokens = match &text {
        Some(text) => added(&folder.join("tokenizer.json"), text)?,
        None => Vec::new(),
    };
    let names = Names { folder, tokens: &tokens, tokenizer: tokenizer.as_ref() };
    let stated = generation.as_ref().filter(|map| map.contains_key("eos_token_id")).unwrap_or(config);
    let special = Special {
        bos: names.one("bos_token", config, "bos_token_id")?,
        eos: names.ends(stated)?,
        padding: names.one("pad_token", config, "pad_token_id")?,
        unknown: names.one("unk_token", config, "unk_token_id")?,
    };
    let chat_templates = chat_templates(folder, tokenizer.as_ref())?;
    Ok(HfTokenizer { text, config: tokenizer.map_or(Value::Null, Value::Object), chat_templates, special })
}

fn added(path: &Path, text: &str) -> Result<Vec<AddedToken>, FormatError> {
    let read: Result<Added, _> = serde_json::from_str(text);
    read.map(|added| added.added_tokens)
        .map_err(|error| FormatError::file(path, format!("is not a tokenizer: {error}")))
}

struct Names<'a> {
    folder: &'a Path,
    tokens: &'a [AddedToken],
    tokenizer: Option<&'a Map<String, Value>>,
}

impl Names<'_> {
    fn token(&self, id: u32) -> SpecialToken {
        let text = self.tokens.iter().find(|token| token.id == id).map(|token| token.content.clone());
        SpecialToken { id, text }
    }

    /// What `tokenizer_config.json` calls `key`: a text, or a map with its `content`.
    fn stated(&self, key: &str) -> Result<Option<SpecialToken>, FormatError> {
        let value = self.tokenizer.and_then(|map| map.get(key)).filter(|value| !value.is_null());
        let Some(value) = value else { return Ok(None) };
        let text = value.as_str().or_else(|| value.get("content").and_then(Value::as_str));
        let path = self.folder.join("tokenizer_config.json");
        let text =
            text.ok_or_else(|| FormatError::key(&path, key, "must be a text or a map with `content`"))?;
        Ok(self.tokens.iter().find(|token| token.content == text).map(|token| self.token(token.id)))
    }

    fn one(
        &self,
        key: &str,
        config: &Map<String, Value>,
        id_key: &str,
    ) -> Result<Option<SpecialToken>, FormatError> {
        if let Some(token) = self.stated(key)? {
            return Ok(Some(token));
        }
        let ids = self.ids(config, id_key)?;
        Ok(ids.first().map(|&id| self.token(id)))
    }

    fn ends(&self, config: &Map<String, Value>) -> Result<Vec<SpecialToken>, FormatError> {
        let mut ends: Vec<SpecialToken> = self.stated("eos_token")?.into_iter().collect();
        for id in self.ids(config, "eos_token_id")? {
            if ends.iter().all(|end| end.id != id) {
                ends.push(self.token(id));
            }
        }
        Ok(ends)
    }

    /// A number or a list of numbers.
    fn ids(&self, config: &Map<String, Value>, key: &str) -> Result<Vec<u32>, FormatError> {
        let number = |value: &Value| value.as_u64().and_then(|id| u32::try_from(id).ok());
        let ids = match config.get(key) {
            None | Some(Value::Null) => Some(Vec::new()),
            Some(Value::Array(list)) => list.iter().map(number).collect(),
            Some(value) if value.as_i64() == Some(-1) => Some(Vec::new()),
            Some(value) => number(value).map(|id| vec![id]),
        };
        ids.ok_or_else(|| FormatError::key(self.folder, key, "must be the id of a token or a list of ids"))
    }
}

/// The file `chat_template.jinja` stands before the entry in the configuration, as in `transformers`.
fn chat_templates(
    folder: &Path,
    tokenizer: Option<&Map<String, Value>>,
) -> Result<BTreeMap<String, String>, FormatError> {
    let mut templates = BTreeMap::new();
    let path = folder.join("tokenizer_config.json");
    match tokenizer.and_then(|map| map.get("chat_template")) {
        None | Some(Value::Null) => {}
        Some(Value::String(text)) => drop(templates.insert("default".to_owned(), text.clone())),
        Some(Value::Array(list)) => {
            for entry in list {
                let field = |key: &str| entry.get(key).and_then(Value::as_str).map(str::to_owned);
                let (Some(name), Some(text)) = (field("name"), field("template")) else {
                    return Err(FormatError::key(
                        &path,
                        "chat_template",
                        "each entry needs `name` and `template`",
                    ));
                };
                templates.insert(name, text);
            }
        }
        Some(_) => {
            return Err(FormatError::key(&path, "chat_template", "must be a text or a list of named texts"));
        }
    }
    if let Some(text) = json::text(&folder.join("chat_template.jinja"))? {
        templates.insert("default".to_owned(), text);
    }
    Ok(templates)
}
