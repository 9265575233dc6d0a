//! The seam for roles that play tools.

use super::Declaration;
use super::declared::{Declared, Recorded};
use crate::{ExecKind, ToolFuture};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// A role that plays tools: it invents the output of a call that was not recorded.
pub trait ToolPlayer: Send + Sync {
    /// Plays one call whose arguments fit their schema.
    fn play(&self, call: PlayedCall) -> ToolFuture;

    /// Whether it might say something else the next time, so that an episode has to remember what it said.
    fn remembers(&self) -> bool {
        true
    }

    /// How it spends its time.
    fn exec_kind(&self) -> ExecKind {
        ExecKind::Waiting
    }
}

#[derive(Debug, Clone)]
pub struct PlayedCall {
    pub(super) tool: Arc<Declared>,
    pub(super) recorded: Arc<Recorded>,
    /// The arguments, which fit the tool's schema.
    pub arguments: Value,
    /// What the tools of this set answered before in the episode, oldest first. Empty for a role that does not remember.
    pub history: Vec<Remembered>,
}

impl PlayedCall {
    /// The tool that is called.
    pub fn declaration(&self) -> &Declaration {
        &self.tool.declaration
    }

    /// Whether an output is what the tool returns; the error names the place.
    pub fn admit_output(&self, output: &Value) -> Result<(), String> {
        self.tool.admit_output(output)
    }
}

/// A call of this episode with its answer: an output, or a refusal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Remembered {
    pub tool: String,
    pub arguments: Value,
    /// What it said. Absent: it refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// Why it refused. Absent: it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}
