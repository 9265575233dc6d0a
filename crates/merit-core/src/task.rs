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
    /// Who speaks.
    pub role: crate::Role,
    /// What is said.
    pub text: String,
}

impl Message {
    /// A message of `role`.
    pub fn new(role: crate::Role, text: impl Into<String>) -> Self {
        Self { role, text: text.into() }
    }
}
