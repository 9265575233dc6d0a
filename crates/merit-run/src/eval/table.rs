//! What an evaluation shows: success with an interval, what several samples say, cost, parts, and what broke.

use super::Eval;
use crate::metrics;
use crate::suite::{parted, pass_values};
use merit_core::stats::mean;
use merit_core::stats::{self, Interval};
use merit_core::{Outcome, ScoredEpisode, Seed};
use merit_measure::Condition;
use merit_store::RunFolder;
use serde::Serialize;
use std::collections::BTreeMap;

/// A share with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Share {
    pub value: f64,
    pub interval: Interval,
    /// Episodes, or tasks where several samples make one number, that it is made of.
    pub count: usize,
}

/// Success of some of the tasks.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Part {
    /// What they have in common, as `size` or the name that was asked for.
    pub by: String,
    pub value: String,
    pub success: Share,
}

/// What came of an evaluation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EvalResult {
    pub model: String,
    pub recipe: String,
    pub seed: u64,
    /// Where its episodes are.
    pub folder: String,
    pub tasks: usize,
    /// Of greedy episodes that count. Absent: none does.
    pub success: Option<Share>,
    /// Mean reward of greedy episodes that count.
    pub reward: Option<f64>,
    /// `pass@k`: one of k samples solves a task. `pass^k`: all do. Intervals are clustered by task.
    pub passes: BTreeMap<String, Share>,
    /// Success by size, where there are several, and by what was asked for.
    pub parts: Vec<Part>,
    /// Means over the greedy episodes that count.
    pub turns: Option<f64>,
    pub tool_calls: Option<f64>,
    /// Tokens that the player wrote in an episode. Absent: they were not counted.
    pub tokens: Option<f64>,
    /// Seconds of playing, all tries together.
    pub seconds: f64,
    /// Episodes without a verdict by outcome, samples included.
    pub not_judged: BTreeMap<String, usize>,
    /// What broke, and how often.
    pub causes: BTreeMap<String, usize>,
    /// What could not be said.
    pub notes: Vec<String>,
    /// Success by task, to be compared.
    #[serde(skip)]
    pub by_task: BTreeMap<(u64, String), f64>,
}

impl EvalResult {
    /// The same as a condition that can be compared with others.
    pub fn condition(&self) -> Condition {
        Condition {
            name: self.model.clone(),
            folders: vec![self.folder.clone()],
            tasks: self.by_task.clone(),
        }
    }
}

const RESAMPLES: u32 = 4000;

pub(super) fn result(
    eval: &Eval<'_>,
    folder: &RunFolder,
    (greedy, sampled): (Vec<ScoredEpisode>, Vec<ScoredEpisode>),
    seconds: f64,
) -> EvalResult {
    let counting: Vec<&ScoredEpisode> = greedy.iter().filter(|one| one.outcome().is_verdict()).collect();
    let number =
        |of: &dyn Fn(&ScoredEpisode) -> f64| mean(&counting.iter().map(|one| of(one)).collect::<Vec<f64>>());
    let mut notes = Vec::new();
    let sizes = by_size(&greedy);
    let mut parts = if sizes.len() > 1 { shares("size", sizes) } else { Vec::new() };
    for name in eval.by {
        match parted(&greedy, name) {
            Ok(found) => parts.extend(shares(name, found)),
            Err(text) => notes.push(text),
        }
    }
    let broken: Vec<&ScoredEpisode> =
        greedy.iter().chain(&sampled).filter(|one| !one.outcome().is_verdict()).collect();
    let solved = |one: &&ScoredEpisode| {
        let task = (eval.seed, one.episode.task.id.clone());
        (task, f64::from(u8::from(one.outcome() == Outcome::Solved)))
    };
    let uncounted = counting.iter().any(|one| one.episode.cost.policy_tokens == 0);
    EvalResult {
        model: eval.name.to_owned(),
        recipe: eval.recipe.name.clone(),
        seed: eval.seed,
        folder: folder.path().display().to_string(),
        tasks: greedy.len(),
        success: share(&counting),
        reward: mean(&counting.iter().filter_map(|one| one.reward()).collect::<Vec<f64>>()),
        passes: passes(&sampled, eval.samples),
        parts,
        turns: number(&|one| one.episode.turns.len() as f64),
        tool_calls: number(&|one| one.episode.cost.tool_calls as f64),
        tokens: number(&|one| one.episode.cost.policy_tokens as f64).filter(|_| !uncounted),
        seconds,
        not_judged: counted(broken.iter().map(|one| one.outcome().name().to_owned())),
        causes: metrics::causes(&broken),
        notes,
        by_task: counting.iter().map(solved).collect(),
    }
}

/// Success with Wilson's interval: one episode of each task.
fn share(episodes: &[&ScoredEpisode]) -> Option<Share> {
    let value = metrics::success(episodes)?;
    let count = episodes.iter().filter(|one| one.outcome().is_verdict()).count();
    let solved = episodes.iter().filter(|one| one.outcome() == Outcome::Solved).count();
    Some(Share { value, interval: stats::wilson(solved as u64, count as u64)?, count })
}

fn by_size(greedy: &[ScoredEpisode]) -> BTreeMap<String, Vec<&ScoredEpisode>> {
    let mut sizes: BTreeMap<u32, Vec<&ScoredEpisode>> = BTreeMap::new();
    greedy.iter().for_each(|one| sizes.entry(one.episode.task.size).or_default().push(one));
    // Names of one width keep the order of numbers.
    let width = sizes.keys().last().map_or(1, |most| most.to_string().len());
    sizes.into_iter().map(|(size, part)| (format!("{size:>width$}"), part)).collect()
}

fn shares(by: &str, parts: BTreeMap<String, Vec<&ScoredEpisode>>) -> Vec<Part> {
    let row = |(value, part): (String, Vec<&ScoredEpisode>)| {
        Some(Part { by: by.to_owned(), value: value.trim().to_owned(), success: share(&part)? })
    };
    parts.into_iter().filter_map(row).collect()
}

/// What several samples of each task say, with intervals over tasks.
fn passes(sampled: &[ScoredEpisode], each: u32) -> BTreeMap<String, Share> {
    if each == 0 {
        return BTreeMap::new();
    }
    let seed = Seed::root(0).child("passes", 0);
    let row = |(name, values): (String, Vec<f64>)| {
        let interval = stats::mean_share_interval(&values, RESAMPLES, &seed)?;
        Some((name, Share { value: mean(&values)?, interval, count: values.len() }))
    };
    pass_values(sampled, each).into_iter().filter_map(row).collect()
}

fn counted(words: impl Iterator<Item = String>) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    words.for_each(|word| *counts.entry(word).or_default() += 1);
    counts
}
