//! What is known of tasks from the episodes that were played on them. Episodes that say nothing of the policy are not among them.

use crate::guests::is_guest;
use merit_core::{Outcome, ScoredEpisode};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What is kept about the tasks of one learning; part of the checkpoint.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TaskState {
    /// Index of the first task that a stream has not come to.
    pub next: u64,
    /// What is known of tasks, by index.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub known: BTreeMap<u64, Known>,
    /// How far a curriculum has come, and the success of each step since then; absent where no episode counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub recent: Vec<Option<f64>>,
}

/// What is known of one task. Sums over episodes, which count less with every step that has passed.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Known {
    /// The step that saw it last.
    pub step: u64,
    /// How often it was played, with at least one episode that counts.
    pub visits: u64,
    /// How many episodes the sums stand for, as of `step`.
    pub weight: f64,
    pub solved: f64,
    pub reward: f64,
    pub reward_squared: f64,
    /// Whether no episode of the last visit solved it.
    pub failed: bool,
}

/// One visit: the episodes of a task that count.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Seen {
    pub(crate) solved: u32,
    /// Of each episode; never empty.
    pub(crate) rewards: Vec<f64>,
}

impl Seen {
    /// Absent: no episode says anything of the policy.
    pub(crate) fn of(episodes: &[ScoredEpisode]) -> Option<Self> {
        let counting = episodes
            .iter()
            .filter(|scored| !is_guest(&scored.episode))
            .filter_map(|scored| Some((scored.reward()?, scored.outcome())));
        let (rewards, outcomes): (Vec<f64>, Vec<Outcome>) = counting.unzip();
        let solved = outcomes.iter().filter(|outcome| **outcome == Outcome::Solved).count() as u32;
        (!rewards.is_empty()).then_some(Self { solved, rewards })
    }
}

impl Known {
    /// Adds a visit at `step`, before which what was known has aged.
    pub(crate) fn see(&mut self, seen: &Seen, step: u64, decay: f64) {
        let left = self.left(step, decay);
        let add = |old: f64, new: f64| left * old + new;
        self.weight = add(self.weight, seen.rewards.len() as f64);
        self.solved = add(self.solved, f64::from(seen.solved));
        self.reward = add(self.reward, seen.rewards.iter().sum());
        self.reward_squared =
            add(self.reward_squared, seen.rewards.iter().map(|reward| reward * reward).sum());
        self.failed = seen.solved == 0;
        self.visits += 1;
        self.step = step;
    }

    fn left(&self, step: u64, decay: f64) -> f64 {
        decay.powi(i32::try_from(step.saturating_sub(self.step)).unwrap_or(i32::MAX))
    }

    /// How many episodes it still stands for at `step`.
    pub(crate) fn aged_weight(&self, step: u64, decay: f64) -> f64 {
        self.weight * self.left(step, decay)
    }

    /// Share of episodes that solved it. Absent: it was never seen.
    pub fn pass_rate(&self) -> Option<f64> {
        (self.weight > 0.0).then(|| (self.solved / self.weight).clamp(0.0, 1.0))
    }

    /// Standard deviation of the reward; 0 where it varies by float noise only.
    pub fn deviation(&self) -> f64 {
        if self.weight <= 0.0 {
            return 0.0;
        }
        let mean = self.reward / self.weight;
        let variance = self.reward_squared / self.weight - mean * mean;
        if variance > 1e-9 * (mean * mean).max(1.0) { variance.sqrt() } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(solved: u32, rewards: &[f64]) -> Seen {
        Seen { solved, rewards: rewards.to_vec() }
    }

    #[test]
    fn old_visits_count_less() {
        let mut known = Known::default();
        known.see(&seen(0, &[0.0, 0.0]), 0, 0.5);
        assert_eq!((known.pass_rate(), known.deviation(), known.failed), (Some(0.0), 0.0, true));
        known.see(&seen(2, &[1.0, 1.0]), 2, 0.5);
        // Two episodes from two steps ago count as half a one.
        assert_eq!((known.weight, known.pass_rate(), known.visits), (2.5, Some(0.8), 2));
        assert!((known.deviation() - 0.4).abs() < 1e-12);
        assert!(!known.failed);
        assert_eq!(known.aged_weight(3, 0.5), 1.25);
    }

    #[test]
    fn equal_rewards_deviate_by_nothing() {
        let mut known = Known::default();
        known.see(&seen(3, &[1.1; 3]), 0, 0.9);
        known.see(&seen(3, &[1.1; 3]), 7, 0.9);
        assert_eq!(known.deviation(), 0.0);
        assert_eq!(Known::default().pass_rate(), None);
    }
}
