//! Where the texts come from that an answer must rest on: a place in the task's payload, or what a tool gave back.

use merit_core::registry::Refusal;
use merit_core::{CallEnd, Episode};
use merit_reward::terms::check_pointer;
use merit_verify::text::Source;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Texts that may be cited or drawn on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Sources {
    /// A list in the task's payload: texts, numbered from 1, or objects with an `id` and a `text`.
    Pointer(String),
    /// What calls of this tool gave back, in order, numbered from 1; calls that were refused gave nothing.
    Tool(String),
}

pub(crate) enum Found {
    Sources(Vec<Source>),
    /// The policy never asked for any, which is its own doing.
    NoneAsked(String),
    /// The task has none: the term does not apply.
    Missing(String),
    /// The task's list cannot be read: the task is at fault.
    Bad(String),
}

impl Sources {
    pub(crate) fn check(&self, field: &str) -> Result<(), Refusal> {
        match self {
            Self::Pointer(pointer) => check_pointer(field, pointer),
            Self::Tool(tool) if tool.trim().is_empty() => Err(Refusal::new(format!(
                "`{field}` names no tool; give one, e.g. `{{ tool = \"search\" }}`"
            ))),
            Self::Tool(_) => Ok(()),
        }
    }

    pub(crate) fn of(&self, episode: &Episode) -> Found {
        match self {
            Self::Pointer(pointer) => listed(pointer, episode.task.payload.pointer(pointer)),
            Self::Tool(tool) => {
                let shown: Vec<&str> = outputs(episode, tool).collect();
                if shown.is_empty() {
                    return Found::NoneAsked(format!("`{tool}` gave nothing to rest on"));
                }
                Found::Sources(shown.into_iter().enumerate().map(|(at, text)| numbered(at, text)).collect())
            }
        }
    }
}

/// What calls of `tool` gave back, in order.
pub(crate) fn outputs<'a>(episode: &'a Episode, tool: &'a str) -> impl Iterator<Item = &'a str> {
    let records = episode.turns.iter().flat_map(|turn| &turn.calls);
    let answered = records.filter(move |record| record.call.tool == tool && answered(record.end));
    answered.map(|record| record.output.as_str()).filter(|output| !output.trim().is_empty())
}

/// Whether a call may have run: it did, or the record does not say.
pub(crate) fn answered(end: CallEnd) -> bool {
    matches!(end, CallEnd::Ok | CallEnd::Unknown)
}

fn numbered(at: usize, text: &str) -> Source {
    Source { id: (at + 1).to_string(), text: text.to_owned() }
}

fn listed(pointer: &str, value: Option<&Value>) -> Found {
    let Some(value) = value.filter(|value| !value.is_null()) else {
        return Found::Missing(format!("the task's payload has nothing at `{pointer}`"));
    };
    let read = |(at, entry): (usize, &Value)| match entry {
        Value::String(text) => Some(numbered(at, text)),
        other => Source::deserialize(other).ok(),
    };
    match value.as_array().map(|list| list.iter().enumerate().map(read).collect::<Option<Vec<Source>>>()) {
        Some(Some(sources)) => Found::Sources(sources),
        _ => Found::Bad(format!("`{pointer}` is no list of texts, or of objects with `id` and `text` alone")),
    }
}
