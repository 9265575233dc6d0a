//! A task: what the agent is asked to do, as data that travels and can be stored.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One thing to do in one world. Two tasks with the same `id` and `version` are the same task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// Unique within its world and split, e.g. `ledger/train/00017`.
    pub id: String,
    /// Registered name of the world that understands `payload`.
    pub world: String,
    /// Raised by the world when the meaning of its payload changes.
    pub version: u32,
    /// Where the task comes from: tasks of different splits never coincide.
    pub split: Split,
    /// How long the shortest solution is, in the world's own unit; metrics are broken down by it.
    pub size: u32,
    /// What the world needs to open this task. Opaque to everybody else.
    pub payload: Value,
    /// The right final answer, where there is exactly one. Absent: only the world can tell.
    pub answer: Option<String>,
}

impl Task {
    /// A training task of size 1, version 1, without payload or answer.
    ///
    /// ```
    /// use merit_core::Task;
    /// let task = Task::new("quiz", "quiz/train/00001").with_answer("42");
    /// assert_eq!(task.answer.as_deref(), Some("42"));
    /// ```
    pub fn new(world: impl Into<String>, id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            world: world.into(),
            version: 1,
            split: Split::Train,
            size: 1,
            payload: Value::Null,
            answer: None,
        }
    }

    /// The same in this split.
    #[must_use]
    pub fn with_split(mut self, split: Split) -> Self {
        self.split = split;
        self
    }

    /// The same of this size.
    #[must_use]
    pub fn with_size(mut self, size: u32) -> Self {
        self.size = size;
        self
    }

    /// The same with this payload.
    #[must_use]
    pub fn with_payload(mut self, payload: Value) -> Self {
        self.payload = payload;
        self
    }

    /// The same with this right answer.
    #[must_use]
    pub fn with_answer(mut self, answer: impl Into<String>) -> Self {
        self.answer = Some(answer.into());
        self
    }
}

/// Which part of a world's tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Split {
    /// Seen by learners.
    Train,
    /// Never learned from.
    HeldOut,
}

impl Split {
    /// The name used in task ids and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::HeldOut => "held-out",
        }
    }
}

/// A piece of text with the role that says it; what worlds and tools produce before it is tokenised once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Who says it.
    pub role: crate::Role,
    /// Plain text, before any template or tokenizer.
    pub text: String,
}

impl Message {
    /// A message of `role`.
    pub fn new(role: crate::Role, text: impl Into<String>) -> Self {
        Self { role, text: text.into() }
    }
}
