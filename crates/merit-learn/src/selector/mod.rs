//! Which samples count, and how much: a factor on each sample's weight, where 0 leaves it out of loss and denominators.

mod all;
mod drop_constant_groups;
mod drop_stale;
mod positive_credit;

use crate::LearnError;
use merit_core::{About, PolicyVersion, Sample};
use serde::{Deserialize, Serialize};

/// Every selector.
pub const SELECTORS: &[About] =
    &[all::ABOUT, drop_constant_groups::ABOUT, drop_stale::ABOUT, positive_credit::ABOUT];

/// The selectors by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Selector {
    /// Every sample counts.
    All {},
    /// Groups without credit are left out.
    DropConstantGroups {},
    /// Samples of policies too many versions ago are left out.
    DropStale {
        /// How many versions old a sample may be.
        versions: u64,
    },
    /// Only samples whose credit is positive count.
    PositiveCredit {},
}

impl Default for Selector {
    fn default() -> Self {
        Self::All {}
    }
}

/// A sample with the tokens of it that are trained.
pub(crate) struct Candidate<'a> {
    pub(crate) sample: &'a Sample,
    pub(crate) mask: &'a [bool],
}

impl Candidate<'_> {
    /// The advantages of the trained tokens.
    fn credit(&self, wanted_by: &'static str) -> Result<impl Iterator<Item = f32>, LearnError> {
        let episode = &self.sample.episode;
        let advantages = self.sample.advantages.as_ref();
        let advantages =
            advantages.ok_or_else(|| LearnError::NoAdvantages { episode: episode.clone(), wanted_by })?;
        Ok(advantages.iter().zip(self.mask).filter(|(_, m)| **m).map(|(a, _)| *a))
    }
}

impl Selector {
    /// What it says of itself.
    pub fn about(&self) -> About {
        match self {
            Self::All {} => all::ABOUT,
            Self::DropConstantGroups {} => drop_constant_groups::ABOUT,
            Self::DropStale { .. } => drop_stale::ABOUT,
            Self::PositiveCredit {} => positive_credit::ABOUT,
        }
    }

    /// One factor per candidate. `now` is the policy that is about to change.
    pub(crate) fn factors(
        &self,
        candidates: &[Candidate<'_>],
        now: PolicyVersion,
    ) -> Result<Vec<f64>, LearnError> {
        match *self {
            Self::All {} => Ok(all::factors(candidates)),
            Self::DropConstantGroups {} => drop_constant_groups::factors(candidates),
            Self::DropStale { versions } => Ok(drop_stale::factors(candidates, now, versions)),
            Self::PositiveCredit {} => positive_credit::factors(candidates),
        }
    }
}
