//! Two results side by side: what changed in the arms that both have, seed by seed.

use crate::SystemResult;
use merit_core::stats::{mean, t_interval};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// How one measure of one arm changed from the first result to the second.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    pub part: String,
    pub arm: String,
    pub measure: String,
    pub from: f64,
    pub to: f64,
    /// Over seeds that both have.
    pub difference: f64,
    /// Student's t at 95 %. Absent: a single seed.
    pub interval: Option<(f64, f64)>,
    pub seeds: usize,
}

/// What changed in the measures that claims and premises read, in every arm that both results have at a common seed.
pub fn changes(first: &SystemResult, second: &SystemResult) -> Vec<Change> {
    let (before, after) = (values(first), values(second));
    let mut found = Vec::new();
    for (key, from) in &before {
        let Some(to) = after.get(key) else { continue };
        let pairs: Vec<(f64, f64)> =
            from.iter().filter_map(|(seed, from)| Some((*from, *to.get(seed)?))).collect();
        let differences: Vec<f64> = pairs.iter().map(|(from, to)| to - from).collect();
        let side = |of: fn(&(f64, f64)) -> f64| mean(&pairs.iter().map(of).collect::<Vec<_>>());
        let (Some(difference), Some(from), Some(to)) =
            (mean(&differences), side(|pair| pair.0), side(|pair| pair.1))
        else {
            continue;
        };
        let (part, arm, measure) = key.clone();
        let interval = t_interval(&differences, LEVEL).map(|interval| (interval.low, interval.high));
        found.push(Change { part, arm, measure, from, to, difference, interval, seeds: pairs.len() });
    }
    found
}

const LEVEL: f64 = 0.95;

type Key = (String, String, String);

/// Measures by part, arm and name, then by seed.
fn values(result: &SystemResult) -> BTreeMap<Key, BTreeMap<u64, f64>> {
    let judged = result.ruling.premises.iter().chain(&result.ruling.claims);
    let read: BTreeSet<(&str, &str)> =
        judged.map(|judged| (judged.part.as_str(), judged.measure.as_str())).collect();
    let mut values: BTreeMap<Key, BTreeMap<u64, f64>> = BTreeMap::new();
    for cell in &result.cells {
        let Some(record) = &cell.record else { continue };
        for (name, value) in record.measures.iter().filter(|(name, _)| read.contains(&(&cell.part, name))) {
            let key = (cell.part.clone(), cell.arm.clone(), name.clone());
            values.entry(key).or_default().insert(cell.seed, *value);
        }
    }
    values
}

impl Change {
    pub fn sentence(&self) -> String {
        let Self { arm, measure, from, to, difference, seeds, .. } = self;
        let sure = match self.interval {
            Some((low, high)) if low > 0.0 || high < 0.0 => format!("95 % interval {low:+.4} to {high:+.4}"),
            Some((low, high)) if low == high => "the same at every seed".to_owned(),
            Some((low, high)) => {
                format!("95 % interval {low:+.4} to {high:+.4}, which chance alone could do")
            }
            None => "one seed says nothing of chance".to_owned(),
        };
        let s = if *seeds == 1 { "" } else { "s" };
        format!("{arm}: {measure} {from:.4} → {to:.4}, {difference:+.4} ({sure}; {seeds} seed{s})")
    }
}
