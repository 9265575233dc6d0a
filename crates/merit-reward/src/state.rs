//! What a reward keeps between steps: plain numbers by name, each with the policy version that made it and a refresh rule
//! (rule 10 of the record).
//!
//! Scoring reads the state and never changes it; [`crate::Scorer::score_batch`] hands back the next one. The driver keeps
//! it with the weights, so that a resumed run pays what an uninterrupted one would have.

use merit_core::{Aged, PolicyVersion, Refresh};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Numbers kept between steps.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RewardState {
    kept: BTreeMap<String, Aged<Vec<f64>>>,
}

impl RewardState {
    /// What is kept under `key`, while it is fresh for `now`.
    pub fn get(&self, key: &str, now: PolicyVersion) -> Option<&[f64]> {
        self.kept.get(key)?.fresh(now).map(Vec::as_slice)
    }

    pub fn keep(
        &mut self,
        key: impl Into<String>,
        numbers: Vec<f64>,
        made_by: PolicyVersion,
        refresh: Refresh,
    ) {
        self.kept.insert(key.into(), Aged::new(numbers, made_by, refresh));
    }

    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Everything kept, by key.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Aged<Vec<f64>>)> {
        self.kept.iter().map(|(key, aged)| (key.as_str(), aged))
    }
}
