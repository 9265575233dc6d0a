//! A turn: one action of the policy and what came of it. The unit of credit.

use crate::Info;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// What the policy's text meant, as the world's dialect parsed it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum Action {
    /// A final answer.
    Answer {
        /// The answer as the dialect parsed it out of the text.
        text: String,
    },
    /// One or more tool calls.
    Calls {
        /// In the order written.
        calls: Vec<ToolCall>,
    },
    /// Something said to the user or the world.
    Say {
        /// What was said.
        text: String,
    },
    /// Text that the dialect does not understand; answered so that the agent can learn from it.
    Malformed {
        /// What is wrong with it.
        why: String,
    },
}

/// A request to a tool, as the policy wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The tool's name; it may not exist.
    pub tool: String,
    /// The input as the policy wrote it; it may be malformed.
    pub input: String,
}

/// How a tool call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CallEnd {
    /// It ran and answered.
    Ok,
    /// It could not run as asked: unknown tool, bad input. The agent's doing, answered as text.
    Refused,
    /// It ran past its deadline; the agent is told, the episode goes on.
    TimedOut,
    /// The tool itself broke: an infrastructure failure, which ends the episode.
    Broken,
    /// The record does not say. Only in imported episodes; neither a success nor a failure.
    Unknown,
}

/// A tool call with its result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallRecord {
    /// The tool and its input, as the policy wrote them.
    pub call: ToolCall,
    /// Whether it ran, was refused, timed out or broke.
    pub end: CallEnd,
    /// What the agent was shown; empty where the end is unknown because no answer was recorded.
    pub output: String,
    /// Wall time of the call. Not part of the episode's identity. Absent: it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
}

/// Why the sampler stopped a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TurnStop {
    /// A stop string of the dialect.
    StopString,
    /// The token that ends a turn was drawn.
    EndToken,
    /// The turn has as many tokens as were allowed.
    MaxTokens,
    /// The model's context is full.
    ContextFull,
    /// The record does not say. Only in imported episodes.
    Unknown,
}

/// One action of the policy and what came of it. Made with [`Turn::new`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Turn {
    /// Position in the episode, from 0.
    pub index: u32,
    /// What the policy's text meant.
    pub action: Action,
    /// The tool calls it made, in order.
    pub calls: Vec<CallRecord>,
    /// Why sampling stopped; unknown only in imported episodes.
    pub stop: TurnStop,
    /// The environment's own reward for the action. Absent: it gives none, or the action never reached it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reward: Option<f64>,
    /// What the environment knows to be true after the action. Finite numbers; no token depends on them.
    #[serde(default, skip_serializing_if = "Info::is_empty")]
    pub info: Info,
}

impl Turn {
    /// A turn without calls that the policy ended itself.
    ///
    /// ```
    /// use merit_core::{Action, Turn};
    /// let turn = Turn::new(0, Action::Say { text: "go".into() }).with_reward(1.0).with_info([("distance", 2.0)]);
    /// assert_eq!((turn.reward, turn.info["distance"]), (Some(1.0), 2.0));
    /// ```
    pub fn new(index: u32, action: Action) -> Self {
        Self { index, action, calls: Vec::new(), stop: TurnStop::EndToken, reward: None, info: Info::new() }
    }

    /// The same with these tool calls.
    #[must_use]
    pub fn with_calls(mut self, calls: Vec<CallRecord>) -> Self {
        self.calls = calls;
        self
    }

    /// The same, whose sampling stopped for this reason.
    #[must_use]
    pub fn with_stop(mut self, stop: TurnStop) -> Self {
        self.stop = stop;
        self
    }

    /// The same with a reward of the environment's own.
    #[must_use]
    pub fn with_reward(mut self, reward: f64) -> Self {
        self.reward = Some(reward);
        self
    }

    /// The same with these named numbers.
    #[must_use]
    pub fn with_info<N: Into<Cow<'static, str>>>(mut self, info: impl IntoIterator<Item = (N, f64)>) -> Self {
        self.info = info.into_iter().collect();
        self
    }
}
