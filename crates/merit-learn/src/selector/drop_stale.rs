//! Samples of a policy that has changed too often since are left out.

use super::Candidate;
use merit_core::{About, PolicyVersion};

pub(super) const ABOUT: About = About {
    name: "drop-stale",
    summary: "samples more than `versions` updates old are left out",
    paper: "AReaL, arXiv:2505.24298",
};

pub(super) fn factors(candidates: &[Candidate<'_>], now: PolicyVersion, versions: u64) -> Vec<f64> {
    let age = |c: &Candidate<'_>| now.0.saturating_sub(c.sample.policy_version.0);
    candidates.iter().map(|c| if age(c) <= versions { 1.0 } else { 0.0 }).collect()
}
