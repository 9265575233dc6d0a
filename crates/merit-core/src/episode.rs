//! An episode: everything one agent did on one task, with a typed end (rule 3).

use crate::{Cost, EpisodeId, PolicyVersion, Task, Transcript, Turn, Window};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::borrow::Cow;
use std::sync::Arc;

/// Everything one agent did on one task. Made with [`Episode::new`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Episode {
    /// Phase, step, group, member and branch: no two episodes of a run share it.
    pub id: EpisodeId,
    /// The task, shared with the other episodes of the group.
    pub task: Arc<Task>,
    /// The policy that acted; without meaning (0) where none of ours did, which is where no policy segment names one.
    pub policy_version: PolicyVersion,
    /// Every token that was read or said, in segments that name who said it.
    pub transcript: Transcript,
    /// The turns, one per policy segment.
    pub turns: Vec<Turn>,
    /// Whether it was answered, was cut, was left or broke.
    pub end: End,
    /// Tokens, steps and calls that it took.
    pub cost: Cost,
    /// The value of the state where a truncated episode was cut. Absent: the policy has no value head, or it really ended.
    pub bootstrap: Option<f32>,
    /// The reward that the recorder of an imported episode gave it. Absent: none was given, or the episode was run here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reported: Option<Reported>,
    /// The environment's snapshot after the last turn. Absent: it broke, it never opened, or the record has none.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub state: Option<serde_json::Value>,
    /// What the policy had in sight in each turn. Absent: everything before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<Window>,
}

/// A value that is there, also when it is null.
fn present<'de, D: serde::Deserializer<'de>>(value: D) -> Result<Option<serde_json::Value>, D::Error> {
    serde_json::Value::deserialize(value).map(Some)
}

/// What whoever recorded an episode said it was worth. Somebody's claim, to compare with or to score by; never taken for a
/// score of ours.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reported {
    /// The number as they gave it, on their own scale.
    pub reward: f64,
    /// Who says so, e.g. `tau-bench`.
    pub by: String,
}

/// Why an episode is over. Truncation is not termination: the world went on, we stopped looking.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum End {
    /// The policy gave its final answer.
    Answered,
    /// The world ended by itself.
    EnvironmentDone,
    /// A limit of ours cut it.
    Truncated {
        /// The limit that cut it.
        limit: Limit,
    },
    /// It is a branch of a tree that was not continued, although the policy and the world could have.
    Left,
    /// Something other than the policy broke.
    Failed {
        /// Which side broke, and how.
        fault: Fault,
    },
    /// The record does not say. Only in imported episodes.
    Unknown,
}

/// The limits that can cut an episode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// Too many turns.
    Turns,
    /// Too many tokens, in one turn or in all.
    Tokens,
    /// The model's context is full.
    Context,
    /// Too long by the clock.
    Time,
    /// A limit of the environment's own.
    Environment,
}

/// Something that broke at a boundary, laid at the side that broke.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// The side that broke.
    pub boundary: Boundary,
    /// The failure in words, for people.
    pub message: String,
    /// The kind of failure in a few words, the same for all of one kind: `timed out`. Absent: the kind is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
}

impl Fault {
    /// Something that happened at `boundary`.
    pub fn new(boundary: Boundary, message: impl Into<String>) -> Self {
        Self { boundary, message: message.into(), cause: None }
    }

    /// The same with the kind of failure.
    #[must_use]
    pub fn with_cause(mut self, cause: impl Into<String>) -> Self {
        self.cause = Some(cause.into());
        self
    }
}

/// The sides at which an episode can break.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Boundary {
    /// The world or its environment, also one that runs as another program.
    Environment,
    /// A tool that the policy called.
    Tool,
    /// The sampler that gives the policy's words: the embedded model or a server.
    Model,
    /// The reward; the episode counts as a failure of the grader.
    Reward,
    /// The record does not say which. Only in imported episodes.
    Unknown,
}

impl End {
    /// Whether the sequence really ended, so that no value lies beyond it. Not claimed of an unknown end.
    pub fn terminal(&self) -> bool {
        matches!(self, Self::Answered | Self::EnvironmentDone)
    }

    /// A short name for tables.
    pub fn label(&self) -> String {
        match self {
            Self::Answered => "answered".into(),
            Self::EnvironmentDone => "environment done".into(),
            Self::Truncated { limit } => format!("truncated ({})", format!("{limit:?}").to_lowercase()),
            Self::Left => "left".into(),
            Self::Failed { fault } => format!("failed ({})", format!("{:?}", fault.boundary).to_lowercase()),
            Self::Unknown => "unknown".into(),
        }
    }
}

impl Episode {
    /// An episode without tokens, turns or cost, by policy version 0.
    ///
    /// ```
    /// use merit_core::{Action, End, Episode, EpisodeId, Task, Turn};
    /// let id = EpisodeId { phase: "train".into(), step: 0, group: 0, member: 0, branch: 0 };
    /// let answer = Turn::new(0, Action::Answer { text: "42".into() });
    /// let episode = Episode::new(id, Task::new("quiz", "quiz/1"), End::Answered).with_turns(vec![answer]);
    /// assert_eq!(episode.answer(), Some("42"));
    /// ```
    pub fn new(id: EpisodeId, task: impl Into<Arc<Task>>, end: End) -> Self {
        Self {
            id,
            task: task.into(),
            policy_version: PolicyVersion(0),
            transcript: Transcript::default(),
            turns: Vec::new(),
            end,
            cost: Cost::default(),
            bootstrap: None,
            reported: None,
            state: None,
            window: None,
        }
    }

    /// The same, by this policy.
    #[must_use]
    pub fn with_policy_version(mut self, version: PolicyVersion) -> Self {
        self.policy_version = version;
        self
    }

    /// The same with these tokens.
    #[must_use]
    pub fn with_transcript(mut self, transcript: Transcript) -> Self {
        self.transcript = transcript;
        self
    }

    /// The same with these turns.
    #[must_use]
    pub fn with_turns(mut self, turns: Vec<Turn>) -> Self {
        self.turns = turns;
        self
    }

    /// The same at this cost.
    #[must_use]
    pub fn with_cost(mut self, cost: Cost) -> Self {
        self.cost = cost;
        self
    }

    /// The same with the value of the state where it was cut.
    #[must_use]
    pub fn with_bootstrap(mut self, bootstrap: Option<f32>) -> Self {
        self.bootstrap = bootstrap;
        self
    }

    /// The same with the reward that its recorder gave it.
    #[must_use]
    pub fn with_reported(mut self, reported: Option<Reported>) -> Self {
        self.reported = reported;
        self
    }

    /// The same with the environment's last snapshot.
    #[must_use]
    pub fn with_state(mut self, state: Option<serde_json::Value>) -> Self {
        self.state = state;
        self
    }

    /// The same with what the policy had in sight.
    #[must_use]
    pub fn with_window(mut self, window: Option<Window>) -> Self {
        self.window = window;
        self
    }

    /// Hash of everything that must be the same when the episode is run again: all but wall time.
    pub fn content_hash(&self) -> String {
        let mut digest = Digesting(Sha256::new());
        serde_json::to_writer(&mut digest, &Timeless::of(self))
            .expect("an episode is plain data without maps of odd keys");
        hex(&digest.0.finalize())
    }

    /// The final answer, where one was given.
    pub fn answer(&self) -> Option<&str> {
        match &self.turns.last()?.action {
            crate::Action::Answer { text } => Some(text),
            _ => None,
        }
    }

    /// What it is broken down by: an info of the world, as it last was, or, where the name begins with `/`, a place in the task's
    /// payload. Absent: it has no such thing, or none that is a text, a number or a truth.
    pub fn value_of(&self, name: &str) -> Option<String> {
        if !name.starts_with('/') {
            let last = self.turns.iter().rev().find_map(|turn| turn.info.get(name));
            return last.map(f64::to_string);
        }
        match self.task.payload.pointer(name)? {
            Value::String(text) => Some(text.clone()),
            other @ (Value::Number(_) | Value::Bool(_)) => Some(other.to_string()),
            _ => None,
        }
    }
}

/// An episode without wall time, as its hash sees it: the fields of [`Episode`], in their order.
#[derive(Serialize)]
struct Timeless<'a> {
    id: &'a EpisodeId,
    task: &'a Task,
    policy_version: PolicyVersion,
    transcript: &'a Transcript,
    turns: Cow<'a, [Turn]>,
    end: &'a End,
    cost: Cost,
    bootstrap: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reported: Option<&'a Reported>,
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<&'a serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    window: Option<Window>,
}

impl<'a> Timeless<'a> {
    fn of(episode: &'a Episode) -> Self {
        // Named one by one, so that a new field is not forgotten.
        let Episode {
            id,
            task,
            policy_version,
            transcript,
            turns,
            end,
            cost,
            bootstrap,
            reported,
            state,
            window,
        } = episode;
        let mut turns = Cow::Borrowed(turns.as_slice());
        if turns.iter().flat_map(|turn| &turn.calls).any(|call| call.seconds.is_some()) {
            let calls = turns.to_mut().iter_mut().flat_map(|turn| &mut turn.calls);
            calls.for_each(|call| call.seconds = call.seconds.map(|_| 0.0));
        }
        let cost = Cost { tool_seconds: 0.0, ..*cost };
        let (policy_version, bootstrap) = (*policy_version, *bootstrap);
        let (reported, state) = (reported.as_ref(), state.as_ref());
        let window = *window;
        Self { id, task, policy_version, transcript, turns, end, cost, bootstrap, reported, state, window }
    }
}

/// A digest that is written to.
struct Digesting(Sha256);

impl std::io::Write for Digesting {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from(b"0123456789abcdef"[usize::from(value)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}
