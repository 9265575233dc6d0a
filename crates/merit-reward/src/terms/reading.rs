//! Where a term reads: which of the policy's words it judges, and what it holds them against.

use crate::term::TermResult;
use merit_core::registry::Refusal;
use merit_core::{Episode, Evidence, Role};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;

/// Which of the policy's words a term reads.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reading {
    /// The final answer, as the world's dialect parsed it.
    #[default]
    Answer,
    /// Everything the policy wrote in its last turn.
    LastTurn,
    /// Everything the policy wrote, turn after turn.
    AllTurns,
    /// What stands in the last pair of these tags, e.g. `{ tag = "summary" }` for `<summary>…</summary>`.
    Tag(String),
}

impl Reading {
    /// Everything the policy wrote, for settings that start there.
    pub fn all_turns() -> Self {
        Self::AllTurns
    }

    /// What the policy wrote last, for settings that start there.
    pub fn last_turn() -> Self {
        Self::LastTurn
    }

    /// Refuses a reading that could never find anything.
    pub fn check(&self) -> Result<(), Refusal> {
        match self {
            Self::Tag(tag)
                if tag.is_empty() || tag.contains(['<', '>', '/']) || tag.contains(char::is_whitespace) =>
            {
                let text = format!(
                    "`reading` names the tag `{tag}`; give its bare name, e.g. `{{ tag = \"summary\" }}`"
                );
                Err(Refusal::new(text))
            }
            _ => Ok(()),
        }
    }

    /// The words; where there are none, that is the policy's doing and worth 0.
    pub fn judged<'a>(&self, episode: &'a Episode) -> Result<Cow<'a, str>, TermResult> {
        self.of(episode).map_err(|why| TermResult::value(0.0, Evidence::new("parsed", why)))
    }

    /// The words, or why there are none.
    pub fn of<'a>(&self, episode: &'a Episode) -> Result<Cow<'a, str>, String> {
        match self {
            Self::Answer => {
                episode.answer().map(Cow::Borrowed).ok_or_else(|| "no final answer was given".to_owned())
            }
            Self::LastTurn => {
                let last = policy_texts(episode).last();
                last.map(Cow::Borrowed).ok_or_else(|| "the policy wrote nothing".to_owned())
            }
            Self::AllTurns => {
                let texts: Vec<&str> = policy_texts(episode).collect();
                if texts.is_empty() {
                    return Err("the policy wrote nothing".to_owned());
                }
                Ok(Cow::Owned(texts.join("\n")))
            }
            Self::Tag(tag) => policy_texts(episode)
                .filter_map(|text| inside(text, tag))
                .last()
                .map(Cow::Borrowed)
                .ok_or_else(|| format!("there is no closed <{tag}> … </{tag}>")),
        }
    }
}

/// Everything the policy wrote, turn by turn.
pub fn policy_texts(episode: &Episode) -> impl Iterator<Item = &str> {
    episode.transcript.segments().iter().filter(|s| s.role == Role::Policy).map(|s| s.text.as_str())
}

/// What stands in the last closed pair of tags.
fn inside<'a>(text: &'a str, tag: &str) -> Option<&'a str> {
    let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
    let end = text.rfind(&close)?;
    let start = text[..end].rfind(&open)? + open.len();
    Some(text[start..end].trim())
}

/// What a term holds the policy's words against.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reference {
    /// The task's right answer.
    #[default]
    Answer,
    /// A place in the task's payload, e.g. `{ pointer = "/outputs/0" }`.
    Pointer(String),
    /// The same for every task.
    Value(Value),
}

impl Reference {
    /// Refuses a pointer that can point nowhere.
    pub fn check(&self) -> Result<(), Refusal> {
        match self {
            Self::Pointer(pointer) => check_pointer("reference", pointer),
            Self::Answer | Self::Value(_) => Ok(()),
        }
    }

    /// What it says for this episode's task. Absent: the task has none, so the term does not apply.
    pub fn of<'a>(&'a self, episode: &'a Episode) -> Option<Cow<'a, Value>> {
        match self {
            Self::Answer => episode.task.answer.clone().map(|answer| Cow::Owned(Value::String(answer))),
            Self::Pointer(pointer) => episode.task.payload.pointer(pointer).map(Cow::Borrowed),
            Self::Value(value) => Some(Cow::Borrowed(value)),
        }
    }

    /// The texts it says: one, or each of a list. Absent: the task has none.
    pub fn texts(&self, episode: &Episode) -> Option<Vec<String>> {
        if matches!(self, Self::Answer) {
            return episode.task.answer.clone().map(|answer| vec![answer]);
        }
        let text = |value: &Value| match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        match self.of(episode)?.as_ref() {
            Value::Null => None,
            Value::Array(values) => Some(values.iter().map(text).collect()),
            value => Some(vec![text(value)]),
        }
    }

    /// Why a term that finds none does not apply.
    pub fn missing(&self) -> String {
        match self {
            Self::Answer => "the task has no single right answer".to_owned(),
            Self::Pointer(pointer) => format!("the task's payload has nothing at `{pointer}`"),
            Self::Value(_) => "the reference is null".to_owned(),
        }
    }
}

/// Refuses what is no JSON pointer (RFC 6901) into a payload.
pub fn check_pointer(field: &str, pointer: &str) -> Result<(), Refusal> {
    if pointer.is_empty() || pointer.starts_with('/') {
        return Ok(());
    }
    let text = format!(
        "`{field}` has the pointer `{pointer}`; a JSON pointer is empty or starts with `/`, e.g. `/goal`"
    );
    Err(Refusal::new(text))
}

/// Enough of a text to recognise it.
pub fn excerpt(text: &str) -> String {
    merit_core::printable::beginning(text, 80)
}
