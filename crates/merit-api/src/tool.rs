//! The seam between an episode and what it acts on.
//!
//! A [`Tool`] is registered and shared; each episode opens its own [`ToolSession`], which is freed with the episode. The
//! rollout engine calls `open` once per episode and `call` once per tool call, puts the deadline around the future, and
//! asks for a `snapshot` to learn whether a session keeps state: forks repeat the calls of those that do.

use crate::{EpisodeShared, ToolSpec};
use merit_core::Task;
use merit_core::registry::Refusal;
use serde_json::Value;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// The answer of a tool, when it comes.
pub type ToolFuture = Pin<Box<dyn Future<Output = ToolAnswer> + Send>>;

/// The answer to a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolAnswer {
    /// It ran: this is what the agent sees.
    Ok(String),
    /// The agent asked wrongly: this is what it sees, so that it can do better.
    Refused(String),
    /// What the agent asked for ran past the tool's own limit of time: this is what it sees. Empty: the engine's words.
    TimedOut(String),
    /// The tool itself broke; the episode ends as an infrastructure failure.
    Broken(String),
}

/// Where the engine runs the calls of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExecKind {
    /// Microseconds: run in place.
    Instant,
    /// Waits for something: run as a task.
    Waiting,
    /// Computes for long: run on a thread of its own.
    Computing,
}

/// A tool with its settings, opened anew for each episode.
pub trait Tool: Send + Sync {
    /// What it says of itself: name, help, input, example.
    fn spec(&self) -> &ToolSpec;

    /// How long its calls take, which decides where the engine runs them.
    fn exec_kind(&self) -> ExecKind {
        ExecKind::Instant
    }

    /// Opens the tool for one episode; `state` is a snapshot to continue from.
    fn open(&self, task: &Task, state: Option<&Value>) -> Result<Arc<dyn ToolSession>, ToolError>;

    /// Opens the tool for one episode beside its other tools. Those of one source may share something, a connection for
    /// instance, by keeping it in `shared`; a tool that wraps another hands the call on.
    fn open_beside(
        &self,
        shared: &EpisodeShared,
        task: &Task,
        state: Option<&Value>,
    ) -> Result<Arc<dyn ToolSession>, ToolError> {
        let _ = shared;
        self.open(task, state)
    }
}

/// A tool opened for one episode.
pub trait ToolSession: Send + Sync {
    /// Answers one call. Dropping the future stops the work as far as the tool can.
    fn call(self: Arc<Self>, input: String) -> ToolFuture;

    /// The state to fork from. Null for tools that keep none.
    fn snapshot(&self) -> Value {
        Value::Null
    }
}

/// Why a tool cannot be opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum ToolError {
    /// The task lacks what the tool needs.
    #[error("tool `{tool}` cannot open task {task}: {why}")]
    Task { tool: String, task: String, why: String },
    /// A snapshot of another tool or version.
    #[error("tool `{tool}` cannot continue from this snapshot: {why}")]
    Snapshot { tool: String, why: String },
    /// A setting that cannot work.
    #[error("tool `{tool}`: {why}")]
    Setting { tool: String, why: String },
}

impl ToolError {
    /// Settings of `tool` that were refused.
    pub fn refused(tool: &str, refusal: Refusal) -> Self {
        Self::Setting { tool: tool.to_owned(), why: refusal.why }
    }
}

/// For tools that keep no state: only the absence of one can be continued from.
pub fn no_state(tool: &str, state: Option<&Value>) -> Result<(), ToolError> {
    match state {
        None | Some(Value::Null) => Ok(()),
        Some(_) => Err(ToolError::Snapshot {
            tool: tool.to_owned(),
            why: "it keeps no state, but was given some".to_owned(),
        }),
    }
}
