//! Outcome typing: what an episode counts as, and what follows from it. The one place that decides.
//!
//! | outcome | reward | loss mask | group baseline | success rate |
//! |---|---|---|---|---|
//! | solved | as scored | policy tokens | counts | a success |
//! | policy wrong | as scored | policy tokens | counts | a failure |
//! | policy timed out | as scored, value bootstrap kept | policy tokens | counts | a failure |
//! | unscorable | none | empty | left out | left out, counted apart |
//! | grader failed | none | empty | left out | left out, counted apart |
//! | infrastructure failed | none | empty | left out | left out, counted apart |
//! | scored | as scored | policy tokens | counts | left out, counted apart |
//! | left | none; its turns as paid | empty, or its own turn under rules that compare turns | left out; its turn counts under those | left out, counted apart |
//!
//! A policy times out by its own turns and tokens, or when its time is up between them or inside a tool it called; a model that
//! does not answer in time, or a tool that never got to run, is an infrastructure failure.
//!
//! An episode is scored, and neither solved nor wrong, where no term of its reward tells whether the task was solved.
//!
//! A branch of a grown tree is left where others were gone on with: it was cut by a choice of ours, before anything could be said of its
//! outcome. What its turn was paid is known, so that rules which compare turns (`CreditRule::trains_left`) learn from it.
//!
//! An episode without a verdict is never a zero: it neither earns, nor trains, nor moves its siblings' statistics.

use crate::{Boundary, End, Episode, Reward, Score};
use serde::{Deserialize, Serialize};

/// What an episode counts as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The task was solved.
    Solved,
    /// The policy finished and was wrong, or only partly right.
    PolicyWrong,
    /// A limit cut the policy off.
    PolicyTimedOut,
    /// Nothing can be said of the output.
    Unscorable,
    /// The reward broke.
    GraderFailed,
    /// The world, a tool or the model broke.
    InfrastructureFailed,
    /// The policy finished and has a reward, and nothing tells whether the task was solved.
    Scored,
    /// A branch of a tree that was not continued.
    Left,
}

impl Outcome {
    /// Every outcome, best first; behind them those that are neither good nor bad.
    pub const ALL: [Self; 8] = [
        Self::Solved,
        Self::PolicyWrong,
        Self::PolicyTimedOut,
        Self::Unscorable,
        Self::GraderFailed,
        Self::InfrastructureFailed,
        Self::Scored,
        Self::Left,
    ];

    /// What `episode` counts as, given its score. Absent: it was not scored, which is the grader's failure.
    pub fn of(episode: &Episode, score: Option<&Score>) -> Self {
        if let End::Failed { fault } = &episode.end {
            return match fault.boundary {
                Boundary::Reward => Self::GraderFailed,
                Boundary::Environment | Boundary::Tool | Boundary::Model | Boundary::Unknown => {
                    Self::InfrastructureFailed
                }
            };
        }
        match score.map(|s| (&s.reward, s.solved)) {
            None | Some((Reward::GraderFailed { .. }, _)) => Self::GraderFailed,
            Some((Reward::Unscorable { .. }, _)) => Self::Unscorable,
            Some((Reward::Value { .. }, _)) if episode.end == End::Left => Self::Left,
            Some((Reward::Value { .. }, Some(true))) => Self::Solved,
            Some((Reward::Value { .. }, _)) if matches!(episode.end, End::Truncated { .. }) => {
                Self::PolicyTimedOut
            }
            Some((Reward::Value { .. }, Some(false))) => Self::PolicyWrong,
            Some((Reward::Value { .. }, None)) => Self::Scored,
        }
    }

    /// Whether the episode has a reward, trains and moves its group's baseline. One answer for all three.
    pub fn is_valid(self) -> bool {
        self.is_verdict() || self == Self::Scored
    }

    /// Whether it says that the policy succeeded or failed, and so enters the success rate.
    pub fn is_verdict(self) -> bool {
        matches!(self, Self::Solved | Self::PolicyWrong | Self::PolicyTimedOut)
    }

    /// Name in tables and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Solved => "solved",
            Self::PolicyWrong => "policy wrong",
            Self::PolicyTimedOut => "policy timed out",
            Self::Unscorable => "unscorable",
            Self::GraderFailed => "grader failed",
            Self::InfrastructureFailed => "infrastructure failed",
            Self::Scored => "scored",
            Self::Left => "left",
        }
    }
}
