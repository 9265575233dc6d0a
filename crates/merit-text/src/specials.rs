//! The names of a model's special tokens and its chat template: what stands beside a tokenizer rather than in it.
//!
//! In: a `tokenizer_config.json`, or the vocabulary of a GGUF file. Out: the same as plain data, and as a file again, so that
//! a checkpoint can keep it. Keys that this crate has no use for are other programs' business and are not looked at.

use crate::TemplateError;
use merit_formats::GgufVocabulary;
use serde::{Deserialize, Serialize};

/// Special tokens by the names that templates call them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SpecialTokens {
    /// Begins a text. Absent: templates read it as nothing.
    pub bos: Option<String>,
    /// Ends a text or a turn. Absent: as above.
    pub eos: Option<String>,
    /// Stands for what has no token.
    pub unknown: Option<String>,
    /// Fills sequences of a batch to one length; never part of a text.
    pub padding: Option<String>,
}

/// What a `tokenizer_config.json` says that matters here.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TokenizerConfig {
    pub specials: SpecialTokens,
    /// The chat template. Absent: the model has none.
    pub chat_template: Option<String>,
}

/// The keys of the file.
#[derive(Serialize, Deserialize)]
struct ConfigFile {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bos_token: Option<TokenName>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    eos_token: Option<TokenName>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unk_token: Option<TokenName>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pad_token: Option<TokenName>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    chat_template: Option<Templates>,
    #[serde(default, skip_deserializing, skip_serializing_if = "Option::is_none")]
    tokenizer_class: Option<&'static str>,
}

/// A token is named, or described with its name inside.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum TokenName {
    Plain(String),
    Described { content: String },
}

/// One template, or several by name.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Templates {
    One(String),
    Named(Vec<NamedTemplate>),
}

#[derive(Serialize, Deserialize)]
struct NamedTemplate {
    name: String,
    template: String,
}

impl SpecialTokens {
    /// Those that a GGUF file names.
    pub fn from_gguf(vocabulary: &GgufVocabulary) -> Self {
        let name = |id: Option<u32>| vocabulary.tokens.get(id? as usize).cloned();
        Self {
            bos: name(vocabulary.bos),
            eos: name(vocabulary.eos),
            unknown: name(vocabulary.unknown),
            padding: name(vocabulary.padding),
        }
    }
}

impl TokenizerConfig {
    /// Reads a `tokenizer_config.json`. Of several templates the one called `default` is taken.
    pub fn from_json(text: &str) -> Result<Self, TemplateError> {
        let file: ConfigFile =
            serde_json::from_str(text).map_err(|error| TemplateError::Config(error.to_string()))?;
        let name = |token: Option<TokenName>| {
            token.map(|token| match token {
                TokenName::Plain(name) | TokenName::Described { content: name } => name,
            })
        };
        let chat_template = match file.chat_template {
            None => None,
            Some(Templates::One(template)) => Some(template),
            Some(Templates::Named(templates)) => Some(default_of(templates)?),
        };
        let specials = SpecialTokens {
            bos: name(file.bos_token),
            eos: name(file.eos_token),
            unknown: name(file.unk_token),
            padding: name(file.pad_token),
        };
        Ok(Self { specials, chat_template })
    }

    /// The file form, which other programs load beside the `tokenizer.json`.
    pub fn to_json(&self) -> String {
        let name = |token: &Option<String>| token.clone().map(TokenName::Plain);
        let file = ConfigFile {
            bos_token: name(&self.specials.bos),
            eos_token: name(&self.specials.eos),
            unk_token: name(&self.specials.unknown),
            pad_token: name(&self.specials.padding),
            chat_template: self.chat_template.clone().map(Templates::One),
            tokenizer_class: Some("PreTrainedTokenizerFast"),
        };
        serde_json::to_string_pretty(&file).expect("strings are JSON")
    }
}

fn default_of(templates: Vec<NamedTemplate>) -> Result<String, TemplateError> {
    let names: Vec<String> = templates.iter().map(|named| named.name.clone()).collect();
    let found = templates.into_iter().find(|named| named.name == "default");
    found.map(|named| named.template).ok_or_else(|| {
        TemplateError::Config(format!(
            "no chat template is called `default`; there are: {}",
            names.join(", ")
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_is_read_in_both_forms_and_round_trips() {
        let text = r#"{"bos_token": {"content": "<s>", "lstrip": false}, "eos_token": "</s>", "model_max_length": 9,
            "chat_template": [{"name": "tool_use", "template": "t"}, {"name": "default", "template": "d"}]}"#;
        let config = TokenizerConfig::from_json(text).unwrap();
        assert_eq!(config.specials.bos.as_deref(), Some("<s>"));
        assert_eq!(config.specials.eos.as_deref(), Some("</s>"));
        assert_eq!(config.chat_template.as_deref(), Some("d"));
        assert_eq!(TokenizerConfig::from_json(&config.to_json()), Ok(config));
    }

    #[test]
    fn several_templates_without_a_default_are_refused_by_name() {
        let text = r#"{"chat_template": [{"name": "rag", "template": "t"}]}"#;
        let error = TokenizerConfig::from_json(text).unwrap_err().to_string();
        assert!(error.contains("`default`; there are: rag"), "{error}");
    }
}
