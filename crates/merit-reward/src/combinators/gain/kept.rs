//! A baseline for each task, kept from step to step.
//!
//! After every batch, for each task that was seen: `mean ← smoothing · mean + (1 − smoothing) · mean of the batch`; the first
//! time it is the mean of the batch. An episode is compared with what was kept *before* its own batch. A task's mean is too
//! old `max_age` versions after the task was last seen. At most `most_tasks` are kept; the longest unseen go first.

use super::super::task_fact::{Named, number_of};
use crate::prelude::*;
use std::collections::BTreeMap;

/// A baseline kept for each task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KeptConfig {
    /// The baseline of a task not seen before. Absent: the gain does not apply to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<f64>,
    /// Share of the old mean that stays; from 0 to below 1.
    #[serde(default = "nine_tenths")]
    pub smoothing: f64,
    /// Policy versions for which a task's mean is good.
    #[serde(default = "hundred")]
    pub max_age: u64,
    /// Tasks whose means are kept at the same time, at most.
    #[serde(default = "ten_thousand")]
    pub most_tasks: usize,
}

fn nine_tenths() -> f64 {
    0.9
}

fn hundred() -> u64 {
    100
}

fn ten_thousand() -> usize {
    10_000
}

impl KeptConfig {
    pub(super) fn check(&self) -> Result<(), Problem> {
        if let Some(start) = self.start.filter(|start| !start.is_finite()) {
            return Err(Problem::NotFinite { field: "baseline.kept.start", value: start });
        }
        if !(0.0..1.0).contains(&self.smoothing) {
            let text =
                format!("`baseline.kept.smoothing` is {}; it must be from 0 to below 1", self.smoothing);
            return Err(Problem::Setting(text));
        }
        if !(1..=1_000_000).contains(&self.most_tasks) {
            let text = format!("`baseline.kept.most_tasks` is {}; it must be 1 to 1000000", self.most_tasks);
            return Err(Problem::Setting(text));
        }
        Ok(())
    }
}

pub(super) struct Kept {
    /// What the part came to.
    pub(super) value: Slot,
    /// The number of the task's name.
    pub(super) task: Slot,
    pub(super) key: String,
    pub(super) config: KeptConfig,
}

/// The number by which a task is kept: plain numbers are all that a state holds.
pub(super) fn task_name() -> Node {
    Arc::new(Named(|episode: &Episode| {
        let task = &episode.task;
        Ok(number_of(&[&task.world, &task.id, &task.version.to_string()]))
    }))
}

/// What is kept of a task: three numbers in a row, the rows in the order of the first.
const ROW: usize = 3;

impl Kept {
    pub(super) fn baseline(&self, context: &NodeContext<'_>) -> Result<(f64, String), Value> {
        let unseen = || Value::NotApplicable("the task was not seen before".to_owned());
        let task = context.own(self.task).and_then(Value::number).ok_or_else(unseen)?;
        let kept = context.kept(&self.key).unwrap_or(&[]);
        if let Some((mean, version)) =
            find(kept, task).filter(|(_, made)| self.fresh(*made, context.run.version))
        {
            return Ok((mean, format!("the task's mean, last seen at version {version}")));
        }
        let start = self.config.start.ok_or_else(unseen)?;
        Ok((start, "the start, since the task was not seen before".to_owned()))
    }

    fn fresh(&self, made: f64, now: PolicyVersion) -> bool {
        now.0 as f64 - made <= self.config.max_age as f64
    }
}

/// The mean of a task and the version at which it was last seen.
fn find(rows: &[f64], task: f64) -> Option<(f64, f64)> {
    let (rows, _) = rows.as_chunks::<ROW>();
    let at = rows.binary_search_by(|row| row[0].total_cmp(&task)).ok()?;
    rows.get(at).map(|&[_, mean, version]| (mean, version))
}

impl StateUpdate for Kept {
    fn update(&self, values: &BatchValues, run: &ScoreContext, before: &RewardState, next: &mut RewardState) {
        // Sums in the order of the batch; tasks in the order of their numbers. Bits order positive floats as they are.
        let mut seen: BTreeMap<u64, (f64, u32)> = BTreeMap::new();
        for (value, task) in values.slot(self.value).iter().zip(values.slot(self.task)) {
            if let (Some(value), Some(task)) = (value.number(), task.number()) {
                let (sum, count) = seen.entry(task.to_bits()).or_default();
                *sum += value;
                *count += 1;
            }
        }
        if seen.is_empty() {
            return;
        }
        let now = run.version.0 as f64;
        let old = before.get(&self.key, run.version).unwrap_or(&[]);
        let fresh = old.as_chunks::<ROW>().0.iter().filter(|row| self.fresh(row[2], run.version));
        let mut rows: BTreeMap<u64, [f64; 2]> =
            fresh.map(|row| (row[0].to_bits(), [row[1], row[2]])).collect();
        for (task, (sum, count)) in seen {
            let batch = sum / f64::from(count);
            let mean = rows.get(&task).map_or(batch, |[old, _]| {
                self.config.smoothing * old + (1.0 - self.config.smoothing) * batch
            });
            rows.insert(task, [mean, now]);
        }
        self.forget(&mut rows);
        let numbers =
            rows.into_iter().flat_map(|(task, [mean, version])| [f64::from_bits(task), mean, version]);
        next.keep(
            self.key.clone(),
            numbers.collect(),
            run.version,
            Refresh::After { versions: self.config.max_age },
        );
    }
}

impl Kept {
    /// The longest unseen go first; among those last seen together, the lowest numbers stay.
    fn forget(&self, rows: &mut BTreeMap<u64, [f64; 2]>) {
        let surplus = rows.len().saturating_sub(self.config.most_tasks);
        let mut by_age: Vec<(u64, f64)> = rows.iter().map(|(&task, row)| (task, row[1])).collect();
        by_age.sort_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
        by_age.iter().take(surplus).for_each(|(task, _)| {
            rows.remove(task);
        });
    }
}
