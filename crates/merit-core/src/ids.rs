//! Newtypes for numbers that must not be confused.

use crate::Phase;
use serde::{Deserialize, Serialize};
use std::fmt;

/// One entry of a tokenizer's vocabulary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TokenId(pub u32);

/// How many updates the policy had seen when it did something; 0 is the warm-started policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PolicyVersion(pub u64);

/// Where an episode belongs: its phase, step, group and place in the group. The name of the episode everywhere.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct EpisodeId {
    /// What the episode was run for.
    pub phase: Phase,
    /// The training step, 0 where steps have no meaning.
    pub step: u64,
    /// The group: all its members share the task and everything the policy sees at the start.
    pub group: u32,
    /// The place within the group.
    pub member: u32,
    /// Which fork of the member this is; 0 is the trunk.
    pub branch: u32,
}

impl fmt::Display for EpisodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}/{}", self.phase, self.step, self.group, self.member)?;
        if self.branch != 0 {
            write!(f, "+{}", self.branch)?;
        }
        Ok(())
    }
}
