//! What an episode has behind it with one source of tools, in one number and one hash: the part of a strict key that tells
//! two episodes of a task apart.

use super::key::{self, Fingerprint};
use crate::{ToolAnswer, ToolError};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The calls so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Past {
    pub(super) calls: u64,
    /// Hash chain of their tools, inputs and answers.
    chain: Fingerprint,
}

/// A past as it stands in a snapshot, beside the state of the tool itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KeptPast {
    calls: u64,
    chain: String,
    /// Null when no tool runs: in a replay.
    pub(super) inner: Value,
}

impl Past {
    /// Nothing yet.
    pub(super) fn none() -> Self {
        Self { calls: 0, chain: Fingerprint::of("past", &[]) }
    }

    /// Adds a call and its answer.
    pub(super) fn add(&mut self, tool: &str, input: &str, answer: &ToolAnswer) {
        let (kind, text) = key::parts(answer);
        let parts = [&self.chain.0[..], tool.as_bytes(), input.as_bytes(), kind.as_bytes(), text.as_bytes()];
        *self = Self { calls: self.calls + 1, chain: Fingerprint::of("past", &parts) };
    }

    /// The strict key of the next call.
    pub(super) fn next(&self, tool: &str, digest: Fingerprint, task: &str, input: &str) -> Fingerprint {
        let number = self.calls.to_le_bytes();
        let parts = [tool.as_bytes(), &digest.0, task.as_bytes(), &self.chain.0, &number, input.as_bytes()];
        Fingerprint::of("strict", &parts)
    }

    /// As it stands in a snapshot.
    pub(super) fn kept(&self, inner: Value) -> Value {
        json!(KeptPast { calls: self.calls, chain: self.chain.to_string(), inner })
    }

    /// Reads a snapshot back.
    pub(super) fn restore(tool: &str, state: &Value) -> Result<(Self, Value), ToolError> {
        let bad = |why: String| ToolError::Snapshot { tool: tool.to_owned(), why };
        let kept = KeptPast::deserialize(state).map_err(|error| bad(error.to_string()))?;
        let chain =
            Fingerprint::parse(&kept.chain).ok_or_else(|| bad("its `chain` is no hash".to_owned()))?;
        Ok((Self { calls: kept.calls, chain }, kept.inner))
    }
}
