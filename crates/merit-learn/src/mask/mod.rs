//! Which of the policy's tokens are trained. A mask only ever takes tokens away: roles and outcomes have spoken before.

mod drop_truncated;
mod last_turn;
mod policy;

use merit_core::{About, Sample};
use serde::{Deserialize, Serialize};

/// Every mask.
pub const MASKS: &[About] = &[policy::ABOUT, drop_truncated::ABOUT, last_turn::ABOUT];

/// The masks by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Mask {
    /// Every token the policy chose.
    Policy {},
    /// Nothing of episodes that a limit cut.
    DropTruncated {},
    /// Only the last turn.
    LastTurn {},
}

impl Default for Mask {
    fn default() -> Self {
        Self::Policy {}
    }
}

impl Mask {
    /// What it says of itself.
    pub fn about(&self) -> About {
        match self {
            Self::Policy {} => policy::ABOUT,
            Self::DropTruncated {} => drop_truncated::ABOUT,
            Self::LastTurn {} => last_turn::ABOUT,
        }
    }

    /// The tokens of `sample` that are trained; one entry per token, true only where the sample's own mask is.
    pub fn of(&self, sample: &Sample) -> Vec<bool> {
        let keep = match self {
            Self::Policy {} => policy::keep,
            Self::DropTruncated {} => drop_truncated::keep,
            Self::LastTurn {} => last_turn::keep,
        };
        sample.mask.iter().enumerate().map(|(at, &m)| m && keep(sample, at)).collect()
    }
}
