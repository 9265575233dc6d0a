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
//!
//! A policy times out by its own turns and tokens, or when its time is up between them or inside a tool it called; a model that
//! does not answer in time, or a tool that never got to run, is an infrastructure failure.
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
}

impl Outcome {
    /// Every outcome, best first.
    pub const ALL: [Self; 6] = [
        Self::Solved,
        Self::PolicyWrong,
        Self::PolicyTimedOut,
        Self::Unscorable,
        Self::GraderFailed,
        Self::InfrastructureFailed,
    ];

    /// What `episode` counts as, given its score. Absent: nobody scored it, which is the grader's failure.
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
            Some((Reward::Value { .. }, Some(true))) => Self::Solved,
            Some((Reward::Value { .. }, _)) if matches!(episode.end, End::Truncated { .. }) => {
                Self::PolicyTimedOut
            }
            Some((Reward::Value { .. }, _)) => Self::PolicyWrong,
        }
    }

    /// Whether the episode has a reward, trains, moves its group's baseline and enters the success rate. One answer for
    /// all four: an episode is a verdict on the policy or it is not.
    pub fn is_valid(self) -> bool {
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
        }
    }
}
