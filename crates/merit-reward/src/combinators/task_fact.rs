//! What is known of a task before anybody acts: the fact that a router, a team or a mode goes by.
//!
//! Written as one word: `world`, `split`, `size`, `phase`, or a JSON pointer into the task's payload (`/kind`). A fact is a
//! string, a number or a truth value; a pointer that leads nowhere, or to null, says nothing of the task.

use crate::check::made_up_task;
use crate::prelude::*;
use merit_core::{Seed, Split, Task};
use serde_json::Value as Json;
use std::fmt;

/// What tells the kind of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub enum TaskFact {
    /// The task's world.
    World,
    /// `train` or `held-out`.
    Split,
    /// The task's size.
    Size,
    /// What the episode was run for: `train`, `eval-before`…
    Phase,
    /// What the task's payload holds at this JSON pointer.
    Payload(PayloadPointer),
}

impl TaskFact {
    /// What it says of the episode's task, or why it says nothing.
    pub(crate) fn tell(&self, episode: &Episode) -> Result<String, Value> {
        match self {
            Self::World => Ok(episode.task.world.clone()),
            Self::Split => Ok(episode.task.split.name().to_owned()),
            Self::Size => Ok(episode.task.size.to_string()),
            Self::Phase => Ok(episode.id.phase.to_string()),
            Self::Payload(pointer) => match pointer.find(episode)? {
                Json::String(text) => Ok(text.clone()),
                Json::Number(number) => Ok(number.to_string()),
                Json::Bool(truth) => Ok(truth.to_string()),
                _ => Err(Value::Broken(format!("the task's payload holds a list or table at `{pointer}`"))),
            },
        }
    }
}

impl TaskFact {
    /// A task that stands for those of which this fact is `kind`.
    pub(crate) fn task_of_kind(&self, kind: &str) -> Task {
        let mut task = made_up_task();
        match self {
            Self::World => kind.clone_into(&mut task.world),
            Self::Size => task.size = kind.parse().unwrap_or(task.size),
            Self::Split if kind == Split::HeldOut.name() => task.split = Split::HeldOut,
            // The phase belongs to the episode; the probes have their own.
            Self::Split | Self::Phase => {}
            Self::Payload(pointer) => task.payload = holding(&pointer.to_string(), kind),
        }
        task
    }
}

/// A payload that holds `kind` at a JSON pointer.
fn holding(pointer: &str, kind: &str) -> Json {
    let keys = pointer.split('/').skip(1).map(|key| key.replace("~1", "/").replace("~0", "~"));
    let keys: Vec<String> = keys.collect();
    keys.into_iter().rev().fold(Json::from(kind), |inside, key| serde_json::json!({ key: inside }))
}

impl fmt::Display for TaskFact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::World => f.write_str("world"),
            Self::Split => f.write_str("split"),
            Self::Size => f.write_str("size"),
            Self::Phase => f.write_str("phase"),
            Self::Payload(pointer) => pointer.fmt(f),
        }
    }
}

impl TryFrom<String> for TaskFact {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match text.as_str() {
            "world" => Ok(Self::World),
            "split" => Ok(Self::Split),
            "size" => Ok(Self::Size),
            "phase" => Ok(Self::Phase),
            _ if text.starts_with('/') => PayloadPointer::try_from(text).map(Self::Payload),
            _ => Err(format!(
                "`{text}` tells nothing of a task; use `world`, `split`, `size`, `phase` or a JSON pointer into its payload, \
                 such as `/kind`"
            )),
        }
    }
}

impl From<TaskFact> for String {
    fn from(fact: TaskFact) -> Self {
        fact.to_string()
    }
}

/// A JSON pointer (RFC 6901) into the payload of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct PayloadPointer(String);

impl PayloadPointer {
    /// What the payload holds there. Null counts as nothing.
    pub(crate) fn find<'a>(&self, episode: &'a Episode) -> Result<&'a Json, Value> {
        let found = episode.task.payload.pointer(&self.0).filter(|value| !value.is_null());
        found.ok_or_else(|| Value::NotApplicable(format!("the task's payload holds nothing at `{self}`")))
    }
}

impl fmt::Display for PayloadPointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for PayloadPointer {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let escaped = text.split('~').skip(1).all(|after| after.starts_with(['0', '1']));
        if text.starts_with('/') && escaped {
            Ok(Self(text))
        } else {
            Err(format!(
                "`{text}` is no JSON pointer: it begins with `/`, and `~` is written `~0`, `/` inside a key `~1`"
            ))
        }
    }
}

impl From<PayloadPointer> for String {
    fn from(pointer: PayloadPointer) -> Self {
        pointer.0
    }
}

/// A number that stands for some words, the same on every machine: 48 bits, so that it survives as a float in any format.
/// Among ten thousand names two share one with a probability of about one in five million.
pub(crate) fn number_of(words: &[&str]) -> f64 {
    let seed = words.iter().fold(Seed::root(0), |seed, word| seed.child(word, 0));
    (seed.as_u64() >> 16) as f64
}

/// A part that comes to the number of some words about the episode. As a slot it tells a watcher, or a part that compares
/// episodes, who belongs together.
pub(crate) struct Named<F>(pub(crate) F);

impl<F> Expression for Named<F>
where
    F: Fn(&Episode) -> Result<f64, Value> + Send + Sync,
{
    fn value(&self, context: &NodeContext<'_>, _: &mut Tracer) -> Value {
        (self.0)(context.episode).map_or_else(|why| why, Value::Number)
    }

    fn label(&self, _: &NodeContext<'_>) -> String {
        "a name".to_owned()
    }

    fn range(&self, _: &[Range]) -> Range {
        Range { low: 0.0, high: (1_u64 << 48) as f64 }
    }
}

/// Whether `key` is a value that `fact` can have; in words where it is not.
pub(crate) fn possible(fact: &TaskFact, key: &str) -> Result<(), String> {
    match fact {
        TaskFact::Split if key != "train" && key != "held-out" => {
            Err(format!("`{key}` is no split; there are `train` and `held-out`"))
        }
        TaskFact::Size if key.parse::<u32>().map_or(true, |size| size.to_string() != key) => {
            Err(format!("`{key}` is no size; sizes are whole numbers"))
        }
        _ => Ok(()),
    }
}
