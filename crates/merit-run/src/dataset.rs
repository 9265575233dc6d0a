//! Datasets: named sets of episodes that stages write and read.
//!
//! A dataset is not copied: it is a question to the run's record. What was collected lies there under the phase of its stage, and
//! what was made of it is chosen again whenever it is read, so that a run that goes on finds the same.

use crate::RunError;
use merit_core::stats::quantile;
use merit_core::{Outcome, Phase, ScoredEpisode, constant};
use merit_store::{EpisodeFilter, RunFolder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Which episodes of a dataset are kept. Episodes whose outcome does not count never are.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KeepEpisodes {
    /// Those that solved their task.
    Solved,
    /// The first with the highest reward of each task.
    Best,
    /// The first with the lowest reward of each task.
    Worst,
    /// Both, of each task in which they differ.
    Pairs,
    /// Those with at least this reward.
    RewardAtLeast(f64),
    /// Those of each task that have no more turns than this quantile of its episodes: 0.2 keeps about the shortest fifth.
    Shortest(f64),
}

/// What a stage that imitates or prefers reads.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Source {
    /// What stages wrote.
    Recorded(Dataset),
    /// The file of this name in `[datasets]`.
    Own(String),
}

/// Where the episodes of a dataset lie, and which of them are kept.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Dataset {
    phase: Phase,
    steps: Range<u64>,
    /// In the order in which they are applied.
    keep: Vec<KeepEpisodes>,
}

impl Dataset {
    /// The episodes of a stage that collected them in these steps.
    pub(crate) fn collected(phase: Phase, steps: Range<u64>) -> Self {
        Self { phase, steps, keep: Vec::new() }
    }

    /// What is kept of it.
    pub(crate) fn keeping(mut self, keep: KeepEpisodes) -> Self {
        self.keep.push(keep);
        self
    }

    /// Its source: the same before anything was left out.
    pub(crate) fn source(&self) -> Self {
        Self { keep: Vec::new(), ..self.clone() }
    }

    /// Its episodes, task by task; tasks of which nothing is kept are left out. A pair is the better and the worse.
    pub(crate) fn read(&self, folder: &RunFolder) -> Result<Vec<Vec<ScoredEpisode>>, RunError> {
        let mut tasks: Vec<Vec<ScoredEpisode>> = Vec::new();
        for step in self.steps.clone() {
            let mut last = None;
            for stored in folder.episodes(&EpisodeFilter::step(&self.phase, step))? {
                let group = stored.scored.episode.id.group;
                if last.replace(group) != Some(group) {
                    tasks.push(Vec::new());
                }
                tasks.last_mut().expect("the first episode opens a task").push(stored.scored);
            }
        }
        for keep in &self.keep {
            tasks = tasks.into_iter().map(|task| kept(*keep, task)).filter(|task| !task.is_empty()).collect();
        }
        Ok(tasks)
    }
}

fn kept(keep: KeepEpisodes, task: Vec<ScoredEpisode>) -> Vec<ScoredEpisode> {
    let rewarded: Vec<(&ScoredEpisode, f64)> = task.iter().filter_map(|e| Some((e, e.reward()?))).collect();
    // The first where several are equal.
    let best = rewarded.iter().copied().reduce(|best, next| if next.1 > best.1 { next } else { best });
    let worst = rewarded.iter().copied().reduce(|worst, next| if next.1 < worst.1 { next } else { worst });
    let chosen = |found: Option<(&ScoredEpisode, f64)>| found.map(|(episode, _)| episode.clone());
    match keep {
        KeepEpisodes::Solved => task.into_iter().filter(|e| e.outcome() == Outcome::Solved).collect(),
        KeepEpisodes::RewardAtLeast(least) => {
            task.into_iter().filter(|e| e.reward().is_some_and(|reward| reward >= least)).collect()
        }
        KeepEpisodes::Shortest(share) => {
            let most = shortest(&task.iter().map(|e| e.episode.turns.len()).collect::<Vec<_>>(), share);
            task.into_iter().filter(|e| e.episode.turns.len() as f64 <= most).collect()
        }
        KeepEpisodes::Best => chosen(best).into_iter().collect(),
        KeepEpisodes::Worst => chosen(worst).into_iter().collect(),
        KeepEpisodes::Pairs if constant(&rewarded.iter().map(|(_, r)| *r).collect::<Vec<_>>()) => Vec::new(),
        KeepEpisodes::Pairs => [chosen(best), chosen(worst)].into_iter().flatten().collect(),
    }
}

/// The most turns that the shortest share of episodes has.
fn shortest(turns: &[usize], share: f64) -> f64 {
    let turns: Vec<f64> = turns.iter().map(|count| *count as f64).collect();
    quantile(&turns, share).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_fifth_of_a_task_by_hand() {
        // Of six episodes the quantile 0.2 is the second shortest: both of six turns stay, seven and more go.
        assert_eq!(shortest(&[9, 6, 12, 6, 8, 7], 0.2), 6.0);
        // Between seven and eight, a fifth of the way: the one of seven stays.
        assert!((shortest(&[7, 8], 0.2) - 7.2).abs() < 1e-12);
        // A single success is always kept.
        assert_eq!(shortest(&[14], 0.2), 14.0);
    }
}
