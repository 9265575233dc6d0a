//! Who writes tasks for practice, besides those that a world has of its own.

use crate::EnvError;
use merit_core::{Seed, Task};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What an author knows of a world when it writes a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Context {
    /// What there is in the world: what it asks for can be done.
    Known,
    /// Only how tasks are worded: what it asks for may not exist.
    Unknown,
}

/// Writes tasks for practice.
pub trait Author: Send + Sync {
    /// A task of the training split. The same arguments always give the same task.
    fn propose(&self, context: Context, seed: &Seed) -> Result<Task, EnvError>;
}
