//! Groups whose members all did equally well teach nothing: they are left out, so that they do not dilute the mean.
//!
//! A group is constant when no trained token of any member carries credit. Rewards are not seen here: a rule that gives
//! credit to a group of equal rewards (through values, say) keeps it.

use super::Candidate;
use crate::LearnError;
use merit_core::About;
use std::collections::BTreeSet;

pub(super) const ABOUT: About = About {
    name: "drop-constant-groups",
    summary: "groups in which no token carries credit are left out",
    paper: "DAPO, arXiv:2503.14476",
};

/// Credit this small is what rounding leaves of a mean subtracted from equal rewards.
const NOISE: f32 = 1e-6;

pub(super) fn factors(candidates: &[Candidate<'_>]) -> Result<Vec<f64>, LearnError> {
    let mut alive = BTreeSet::new();
    for candidate in candidates {
        if candidate.credit("selector `drop-constant-groups`")?.any(|a| a.abs() > NOISE) {
            alive.insert(candidate.sample.group);
        }
    }
    Ok(candidates.iter().map(|c| if alive.contains(&c.sample.group) { 1.0 } else { 0.0 }).collect())
}
