//! Which samples count, and how much: a factor on each sample's weight, where 0 leaves it out of loss and denominators.

use crate::LearnError;
use merit_core::registry::{About, Component, Entry, Kind};
use merit_core::{Sample, entry};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A choice among samples.
pub trait Selector: Send + Sync {
    /// One factor per candidate, at least 0.
    fn factors(&self, candidates: &[Candidate<'_>]) -> Result<Vec<f64>, LearnError>;
}

impl Kind for dyn Selector {
    const KIND: &'static str = "selector";
}

/// The selectors that come with merit.
pub static SELECTORS: &[Entry<dyn Selector>] = &[
    entry!(All as dyn Selector),
    entry!(DropConstantGroups as dyn Selector),
    entry!(PositiveCredit as dyn Selector),
];

/// A sample with the tokens of it that are trained; at least one is.
#[derive(Debug, Clone, Copy)]
pub struct Candidate<'a> {
    pub sample: &'a Sample,
    /// One entry per token; true where the token is trained.
    pub mask: &'a [bool],
}

impl Candidate<'_> {
    /// The advantages of the trained tokens; an error in the name of the selector `wanted_by` when no credit rule has run.
    pub fn credit(&self, wanted_by: &str) -> Result<impl Iterator<Item = f32>, LearnError> {
        let advantages = self.sample.advantages.as_ref().ok_or_else(|| LearnError::NoAdvantages {
            episode: self.sample.episode.clone(),
            wanted_by: format!("selector `{wanted_by}`"),
        })?;
        Ok(advantages.iter().zip(self.mask).filter(|(_, m)| **m).map(|(a, _)| *a))
    }
}

/// Every sample counts as its weight says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct All {}

impl Component for All {
    const ABOUT: About = About { name: "all", summary: "every sample counts", paper: "" };
}

impl Selector for All {
    fn factors(&self, candidates: &[Candidate<'_>]) -> Result<Vec<f64>, LearnError> {
        Ok(vec![1.0; candidates.len()])
    }
}

/// Groups whose members all did equally well teach nothing: they are left out, so that they do not dilute the mean.
///
/// A group is constant when no trained token of any member carries credit. Rewards are not seen here: a rule that gives
/// credit to a group of equal rewards (through values, say) keeps it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DropConstantGroups {}

impl Component for DropConstantGroups {
    const ABOUT: About = About {
        name: "drop-constant-groups",
        summary: "groups in which no token carries credit are left out",
        paper: "DAPO, arXiv:2503.14476",
    };
}

/// Credit this small is what rounding leaves of a mean subtracted from equal rewards.
const NOISE: f32 = 1e-6;

impl Selector for DropConstantGroups {
    fn factors(&self, candidates: &[Candidate<'_>]) -> Result<Vec<f64>, LearnError> {
        let mut alive = BTreeSet::new();
        for candidate in candidates {
            if candidate.credit(Self::ABOUT.name)?.any(|a| a.abs() > NOISE) {
                alive.insert(candidate.sample.group);
            }
        }
        Ok(candidates.iter().map(|c| if alive.contains(&c.sample.group) { 1.0 } else { 0.0 }).collect())
    }
}

/// Only samples that did better than their baseline count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PositiveCredit {}

impl Component for PositiveCredit {
    const ABOUT: About = About {
        name: "positive-credit",
        summary: "only samples whose credit sums to more than 0 count",
        paper: "RAFT, arXiv:2304.06767",
    };
}

impl Selector for PositiveCredit {
    fn factors(&self, candidates: &[Candidate<'_>]) -> Result<Vec<f64>, LearnError> {
        let factor = |candidate: &Candidate<'_>| {
            let credit: f64 = candidate.credit(Self::ABOUT.name)?.map(f64::from).sum();
            Ok(if credit > 0.0 { 1.0 } else { 0.0 })
        };
        candidates.iter().map(factor).collect()
    }
}
