//! The seam of a target: something that pays for what an agent does.

use crate::AttackError;
use crate::subject::{Attempt, Subject};
use serde::{Deserialize, Serialize};

/// Something that pays. Implemented by reward files, worlds with their reward, and outside scorers.
pub trait Target {
    /// Its name in the audit.
    fn name(&self) -> String;

    /// The tasks to try it on.
    fn subjects(&self) -> &[Subject];

    /// What each attempt earns, in order. An attempt that the target cannot take is a `Payment`, never an error: one bad
    /// answer must not end an audit, nor a training run.
    fn pay(&mut self, attempts: &[Attempt]) -> Result<Vec<Payment>, AttackError>;

    /// What a right answer earns, where the target says so: it is held to that, and so are tasks that do not say what is right.
    /// Absent: it is unknown.
    fn full(&self) -> Option<f64> {
        None
    }

    /// What acting without a thought earns: policies that play the world itself on its first `tasks` tasks. Most targets
    /// have none.
    fn play(&mut self, _tasks: usize, _seed: u64) -> Result<Vec<Played>, AttackError> {
        Ok(Vec::new())
    }
}

/// A policy that played the tasks, one episode each.
#[derive(Debug, Clone, PartialEq)]
pub struct Played {
    pub policy: String,
    /// What it said on each task, and what that earned.
    pub episodes: Vec<(String, Payment)>,
}

/// What an attempt earned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum Payment {
    /// A number, and whether the target takes the task for solved where it can tell.
    Reward {
        value: f64,
        /// Absent: the target does not tell.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        solved: Option<bool>,
    },
    /// The target says that it cannot score this; it neither pays nor trains.
    Unscorable { why: String },
    /// The target broke on it.
    Broke { why: String },
    /// The target gave no answer in its time.
    Hangs {
        /// How long it was waited for.
        why: String,
    },
}

impl Payment {
    /// The number, where there is one.
    pub fn value(&self) -> Option<f64> {
        if let Self::Reward { value, .. } = self { Some(*value) } else { None }
    }

    /// Whether the target took the task for solved.
    pub fn solved(&self) -> bool {
        matches!(self, Self::Reward { solved: Some(true), .. })
    }
}
