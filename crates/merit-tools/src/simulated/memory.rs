//! What the tools of a set have said in an episode.

use super::declared::key;
use super::player::Remembered;
use crate::{ToolAnswer, ToolError, no_state};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Most calls that are remembered; an episode that makes more is answered no longer.
const MAX_CALLS: usize = 4_096;
/// Calls that a role is told of, the last ones.
const TOLD: usize = 50;

/// Answers in the order they were given.
pub(super) struct Memory {
    /// False for a role that says the same anyway: nothing is kept.
    keeps: bool,
    calls: Mutex<Vec<Remembered>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    remembered: Vec<Remembered>,
}

impl Memory {
    pub(super) fn restored(name: &str, state: Option<&Value>, keeps: bool) -> Result<Self, ToolError> {
        let bad = |why: String| ToolError::Snapshot { tool: name.to_owned(), why };
        if !keeps {
            no_state(name, state)?;
            return Ok(Self { keeps, calls: Mutex::default() });
        }
        let state = state.map(State::deserialize).transpose().map_err(|error| bad(error.to_string()))?;
        let calls = state.map(|state| state.remembered).unwrap_or_default();
        if let Some(i) = calls.iter().position(|call| call.output.is_some() == call.refused.is_some()) {
            return Err(bad(format!("call {i} needs either an `output` or a `refused`")));
        }
        Ok(Self { keeps, calls: Mutex::new(calls) })
    }

    pub(super) fn snapshot(&self) -> Value {
        if self.keeps { json!({ "remembered": *self.lock() }) } else { Value::Null }
    }

    /// What was said to the same call.
    pub(super) fn answer(&self, tool: &str, spelling: &str) -> Option<ToolAnswer> {
        let calls = self.lock();
        let same = calls.iter().find(|call| call.tool == tool && key(&call.arguments) == spelling)?;
        same.output.clone().map(ToolAnswer::Ok).or_else(|| same.refused.clone().map(ToolAnswer::Refused))
    }

    /// The last calls, oldest first.
    pub(super) fn told(&self) -> Vec<Remembered> {
        let calls = self.lock();
        calls.get(calls.len().saturating_sub(TOLD)..).unwrap_or_default().to_vec()
    }

    pub(super) fn is_full(&self) -> bool {
        self.lock().len() >= MAX_CALLS
    }

    /// Keeps an answer, if it is one to keep.
    pub(super) fn keep(&self, tool: &str, arguments: &Value, answer: &ToolAnswer) {
        let (output, refused) = match answer {
            ToolAnswer::Ok(text) => (Some(text.clone()), None),
            ToolAnswer::Refused(why) => (None, Some(why.clone())),
            ToolAnswer::TimedOut(_) | ToolAnswer::Broken(_) => return,
        };
        if self.keeps {
            let (tool, arguments) = (tool.to_owned(), arguments.clone());
            self.lock().push(Remembered { tool, arguments, output, refused });
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Remembered>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
