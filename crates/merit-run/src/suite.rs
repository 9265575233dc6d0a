//! What an evaluation measures beside greedy success: pass@k and pass^k over samples, best-of-n by a model, and success by what a
//! task or its world says.

use crate::metrics::{self, Metrics};
use crate::stages::{Evaluating, SearchSettings};
use merit_core::stats::mean;
use merit_core::{Episode, Outcome, ScoredEpisode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// By whom one of several samples is chosen.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Select {
    /// A model that was fitted, or `log-prob`: the log-probability that the policy gave the sample.
    pub by: String,
}

/// What is measured beside greedy success.
#[derive(Debug, Clone, Default)]
pub(crate) struct Suite {
    /// Episodes of each task that are sampled beside the greedy one.
    pub(crate) samples: u32,
    /// By whom one of the samples is chosen.
    pub(crate) select: Option<String>,
    /// What success is broken down by.
    pub(crate) by: Vec<String>,
    /// How the episode of each task is searched for. Absent: it is greedy.
    pub(crate) search: Option<SearchSettings>,
}

impl Suite {
    pub(crate) fn of(stage: &Evaluating) -> Self {
        let select = stage.select.as_ref().map(|select| select.by.clone());
        Self { samples: stage.samples, select, by: stage.by.clone(), search: stage.search.clone() }
    }
}

/// Powers of two up to `each`, and `each` itself.
fn sizes(each: u32) -> Vec<u32> {
    let mut sizes: Vec<u32> = (0..32).map(|power| 1 << power).take_while(|j| *j < each).collect();
    sizes.push(each);
    sizes
}

/// pass@j, the chance that one of j samples solves a task, and pass^j, the chance that all do: means over tasks of the unbiased
/// estimates from `each` samples, for powers of two and `each` itself. Samples that do not count are left out; a task with fewer
/// than j that count says nothing of j.
pub(crate) fn passes(sampled: &[ScoredEpisode], each: u32) -> Metrics {
    let values = pass_values(sampled, each).into_iter();
    values.filter_map(|(name, values)| Some((name, mean(&values)?))).collect()
}

/// The same, task by task.
pub(crate) fn pass_values(sampled: &[ScoredEpisode], each: u32) -> BTreeMap<String, Vec<f64>> {
    let mut tasks: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
    for scored in sampled.iter().filter(|scored| scored.outcome().is_verdict()) {
        let (count, solved) = tasks.entry(scored.episode.id.group).or_default();
        (*count, *solved) = (*count + 1, *solved + u32::from(scored.outcome() == Outcome::Solved));
    }
    // C(part, j) / C(whole, j)
    let share = |part: u32, whole: u32, j: u32| -> f64 {
        (0..j).map(|i| f64::from(part.saturating_sub(i)) / f64::from(whole - i)).product()
    };
    let mut values = BTreeMap::new();
    for j in sizes(each) {
        let enough: Vec<(u32, u32)> = tasks.values().copied().filter(|(count, _)| *count >= j).collect();
        let any = enough.iter().map(|(n, solved)| 1.0 - share(n - solved, *n, j)).collect();
        let all = enough.iter().map(|(n, solved)| share(*solved, *n, j)).collect();
        values.extend([(format!("pass@{j}"), any), (format!("pass^{j}"), all)]);
    }
    values
}

/// best_of@j, the chance that the best-scored of j samples solves a task: the mean over tasks of the exact mean over all choices of
/// j from its samples. `scores` has one entry for each sample; where it cannot tell samples apart, one of them is taken by chance.
/// Metrics are called `NAME@j`, with `behind` behind it.
pub(crate) fn best_of(sampled: &[ScoredEpisode], scores: &[f64], each: u32, behind: &str) -> Metrics {
    let mut tasks: BTreeMap<u32, Vec<(f64, f64)>> = BTreeMap::new();
    for (scored, score) in sampled.iter().zip(scores).filter(|(scored, _)| scored.outcome().is_verdict()) {
        let solved = f64::from(u8::from(scored.outcome() == Outcome::Solved));
        tasks.entry(scored.episode.id.group).or_default().push((*score, solved));
    }
    let ranked: Vec<Vec<f64>> = tasks.into_values().map(ranked).collect();
    let mut numbers = Metrics::new();
    for j in sizes(each) {
        let enough = ranked.iter().filter(|task| task.len() >= j as usize);
        let chances: Vec<f64> = enough.map(|task| first_of(task, j)).collect();
        numbers.extend(mean(&chances).map(|chance| (format!("best_of@{j}{behind}"), chance)));
    }
    numbers
}

/// The success of samples, the best-scored first; equal scores share theirs.
fn ranked(mut samples: Vec<(f64, f64)>) -> Vec<f64> {
    samples.sort_by(|a, b| b.0.total_cmp(&a.0));
    let equals = samples.chunk_by(|a, b| a.0 == b.0);
    let shared = equals.flat_map(|equal| {
        let share = equal.iter().map(|(_, solved)| solved).sum::<f64>() / equal.len() as f64;
        std::iter::repeat_n(share, equal.len())
    });
    shared.collect()
}

/// The mean success of the first of j that are drawn from a ranked list without putting back.
fn first_of(ranked: &[f64], j: u32) -> f64 {
    let (count, j) = (ranked.len() as f64, f64::from(j));
    // That the sample at `at` is drawn, and none before it.
    let (mut chance, mut sum) = (j / count, 0.0);
    for (at, solved) in ranked.iter().enumerate() {
        sum += chance * solved;
        let left = count - at as f64 - 1.0;
        chance *= if left > 0.0 { ((left - j + 1.0) / left).max(0.0) } else { 0.0 };
    }
    sum
}

/// The log-probability that the policy gave to what it said in an episode.
pub(crate) fn log_prob(episode: &Episode) -> f64 {
    let said = episode.transcript.segments().iter().flat_map(|segment| &segment.logprobs);
    said.map(|logprob| f64::from(*logprob)).sum()
}

/// Most values that success is broken down by; with more of them each says nothing.
const MOST_VALUES: usize = 32;

/// `success/NAME=VALUE` for each value that NAME has: an info of the world at the episode's end, or, where it begins with `/`, a
/// place in the task's payload. `Err` with what to say where that cannot be.
pub(crate) fn broken_down(scored: &[ScoredEpisode], name: &str) -> Result<Metrics, String> {
    let success = |(value, part): (String, Vec<&ScoredEpisode>)| {
        Some((format!("success/{name}={value}"), metrics::success(&part)?))
    };
    Ok(parted(scored, name)?.into_iter().filter_map(success).collect())
}

/// The episodes by the value that NAME has in them.
pub(crate) fn parted<'a>(
    scored: &'a [ScoredEpisode],
    name: &str,
) -> Result<BTreeMap<String, Vec<&'a ScoredEpisode>>, String> {
    let mut parts: BTreeMap<String, Vec<&ScoredEpisode>> = BTreeMap::new();
    for one in scored {
        if let Some(value) = one.episode.value_of(name) {
            parts.entry(value).or_default().push(one);
        }
    }
    match parts.len() {
        0 => Err(format!(
            "`by = \"{name}\"`: no episode of the evaluation has it, so that nothing is broken down"
        )),
        count if count > MOST_VALUES => Err(format!(
            "`by = \"{name}\"` has {count} values; success is broken down by at most {MOST_VALUES}"
        )),
        _ => Ok(parts),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_j_is_the_mean_over_all_choices() {
        let ranked = [0.0, 1.0, 0.0, 1.0];
        assert_eq!(first_of(&ranked, 1), 0.5);
        // Of the six pairs, the better-ranked solves in {1,2}, {1,3}, and never with 0 in it; {2,3} is led by 2.
        assert!((first_of(&ranked, 2) - 2.0 / 6.0).abs() < 1e-12);
        assert_eq!(first_of(&ranked, 4), 0.0);
    }

    #[test]
    fn equal_scores_are_chosen_among_by_chance() {
        assert_eq!(ranked(vec![(1.0, 0.0), (3.0, 1.0), (1.0, 1.0)]), [1.0, 0.5, 0.5]);
    }
}
