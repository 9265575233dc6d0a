//! One line of input as it is written: what to continue, and what differs from the command's own settings.

use merit_text::{CalledFunction, ChatMessage, ChatTool};
use serde::de::{self, Deserializer, Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fmt;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Line {
    /// Handed on as it is.
    #[serde(default)]
    pub(super) id: Option<Value>,
    #[serde(default)]
    pub(super) prompt: Option<String>,
    #[serde(default)]
    pub(super) messages: Option<Vec<ChatMessage>>,
    #[serde(default, deserialize_with = "tools")]
    pub(super) tools: Vec<ChatTool>,
    #[serde(default)]
    pub(super) max_tokens: Option<usize>,
    #[serde(default)]
    pub(super) temperature: Option<f32>,
    #[serde(default)]
    pub(super) top_p: Option<f32>,
    #[serde(default)]
    pub(super) top_k: Option<usize>,
    #[serde(default)]
    pub(super) min_p: Option<f32>,
    #[serde(default, deserialize_with = "texts")]
    pub(super) stop: Vec<String>,
    #[serde(default)]
    pub(super) seed: Option<u64>,
    #[serde(default)]
    pub(super) n: Option<u64>,
    #[serde(default)]
    pub(super) json_schema: Option<Value>,
    #[serde(default)]
    pub(super) regex: Option<String>,
    #[serde(default, deserialize_with = "alternatives")]
    pub(super) logprobs: Option<usize>,
}

/// Why a line, or one of its completions, is not there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Refusal {
    pub(super) kind: RefusalKind,
    pub(super) message: String,
}

/// What a request failed at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum RefusalKind {
    /// The line is not a request: no JSON, an unknown key, a value of the wrong type, two things that exclude each other.
    Line,
    /// The conversation cannot be laid out by the model's template.
    Conversation,
    /// The schema or pattern cannot be used.
    Constraint,
    /// The settings cannot be sampled with.
    Params,
    /// The prompt does not fit into the context.
    Context,
    Sampler,
}

impl Refusal {
    pub(super) fn new(kind: RefusalKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}

/// A text, or several.
fn texts<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    struct Texts;

    impl<'de> Visitor<'de> for Texts {
        type Value = Vec<String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a text or a list of texts")
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<Vec<String>, E> {
            Ok(vec![text.to_owned()])
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<String>, A::Error> {
            let mut texts = Vec::new();
            while let Some(text) = list.next_element()? {
                texts.push(text);
            }
            Ok(texts)
        }
    }

    from.deserialize_any(Texts)
}

/// `true` for the drawn tokens alone, or a number of alternatives.
fn alternatives<'de, D: Deserializer<'de>>(from: D) -> Result<Option<usize>, D::Error> {
    struct Alternatives;

    impl Visitor<'_> for Alternatives {
        type Value = Option<usize>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("true, false or how many of the likeliest tokens to tell")
        }

        fn visit_bool<E: de::Error>(self, wanted: bool) -> Result<Option<usize>, E> {
            Ok(wanted.then_some(0))
        }

        fn visit_u64<E: de::Error>(self, count: u64) -> Result<Option<usize>, E> {
            usize::try_from(count).map(Some).map_err(E::custom)
        }
    }

    from.deserialize_any(Alternatives)
}

/// Tools, each plain or inside `{"type": "function", "function": …}`.
fn tools<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<ChatTool>, D::Error> {
    let list = Vec::<Value>::deserialize(from)?;
    let read = |(number, value): (usize, Value)| {
        let plain = match value.get("function") {
            Some(inside) => inside.clone(),
            None => value,
        };
        ChatTool::deserialize(plain)
            .map_err(|error| D::Error::custom(format!("`tools`, entry {number}: {error}")))
    };
    list.into_iter().enumerate().map(read).collect()
}

/// Everything in a message that somebody wrote, for looking into.
pub(super) fn written(message: &ChatMessage) -> Vec<String> {
    let call = |call: &CalledFunction| format!("{} {}", call.name, json!(call.arguments));
    let mut all = vec![message.content.clone()];
    all.extend(message.tool_calls.iter().map(call));
    all.extend(message.name.clone());
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_is_a_text_or_several_and_logprobs_a_wish_or_a_number() {
        let line: Line = serde_json::from_str(r#"{"prompt": "a", "stop": "x", "logprobs": true}"#).unwrap();
        assert_eq!((line.stop, line.logprobs), (vec!["x".to_owned()], Some(0)));
        let line: Line =
            serde_json::from_str(r#"{"prompt": "a", "stop": ["x", "y"], "logprobs": 3}"#).unwrap();
        assert_eq!((line.stop.len(), line.logprobs), (2, Some(3)));
        let error = serde_json::from_str::<Line>(r#"{"logprobs": "yes"}"#).unwrap_err().to_string();
        assert!(error.contains("how many of the likeliest tokens"), "{error}");
    }

    #[test]
    fn tools_are_read_plain_and_in_the_form_of_the_protocol() {
        let plain = r#"{"name": "f", "description": "d", "parameters": {}}"#;
        for text in [plain.to_owned(), format!(r#"{{"type": "function", "function": {plain}}}"#)] {
            let line: Line = serde_json::from_str(&format!(r#"{{"tools": [{text}]}}"#)).unwrap();
            assert_eq!(line.tools[0].name, "f");
        }
        let error = serde_json::from_str::<Line>(r#"{"tools": [{"nam": "f"}]}"#).unwrap_err().to_string();
        assert!(error.contains("`tools`, entry 0: unknown field `nam`"), "{error}");
    }
}
