//! What a model is fitted to: labelled episodes by task, a part of the tasks kept aside, and how well the scores of those agree.

use crate::metrics::Metrics;
use crate::models::{Fit, FitLoss};
use crate::policy::tail;
use merit_core::stats::mean;
use merit_core::{Outcome, Role, ScoredEpisode, Seed, TokenId};
use std::collections::BTreeMap;

/// An episode with what is to be said of it.
pub(crate) struct Labelled {
    tokens: Vec<TokenId>,
    /// What was said, without what was observed.
    said: Vec<TokenId>,
    /// Where the last turn begins in it.
    last: usize,
    /// The recorded reward; for a verdict 1 where the task was solved, else 0.
    pub(crate) label: f64,
}

impl Labelled {
    fn of(scored: &ScoredEpisode, loss: FitLoss) -> Option<Self> {
        let told = scored.outcome().is_verdict();
        let label = match loss {
            FitLoss::BradleyTerry | FitLoss::Regression => scored.reward()?,
            FitLoss::Token if !told => return None,
            FitLoss::Token => f64::from(u8::from(scored.outcome() == Outcome::Solved)),
        };
        let tokens = scored.episode.transcript.tokens();
        let segments = scored.episode.transcript.segments().iter();
        let (mut said, mut last) = (Vec::new(), 0);
        for segment in segments.filter(|segment| segment.role == Role::Policy) {
            last = said.len();
            said.extend_from_slice(&segment.tokens);
        }
        (scored.outcome().is_valid() && !tokens.is_empty()).then_some(Self { tokens, said, last, label })
    }

    /// What was said in its last turn.
    fn end(&self) -> &[TokenId] {
        &self.said[self.last..]
    }

    /// Its last tokens, as many as are read.
    pub(crate) fn read(&self, most: usize) -> &[TokenId] {
        tail(&self.tokens, most)
    }
}

/// Labelled episodes, task by task. A pair is the better and the worse.
pub(crate) struct Parted {
    pub(crate) train: Vec<Vec<Labelled>>,
    pub(crate) held_out: Vec<Vec<Labelled>>,
}

impl Parted {
    /// A task is held out by its own seed, so that a model that is fitted again still has not learned from it. At least one task is
    /// on either side; `None` where there are not two.
    pub(crate) fn of(tasks: &[Vec<ScoredEpisode>], how: &Fit, seed: &Seed) -> Option<Self> {
        let draw = |id: &str| seed.child("held-out-of-fits", 0).child(id, 0).stream().unit();
        let mut by_task: BTreeMap<&str, (f64, Vec<Vec<Labelled>>)> = BTreeMap::new();
        for task in tasks {
            let labelled: Vec<Labelled> = task.iter().filter_map(|one| Labelled::of(one, how.loss)).collect();
            let whole = how.loss != FitLoss::BradleyTerry || labelled.len() == 2;
            let id = task.first().map(|one| one.episode.task.id.as_str());
            if let Some(id) = id.filter(|_| whole && !labelled.is_empty()) {
                by_task.entry(id).or_insert_with(|| (draw(id), Vec::new())).1.push(labelled);
            }
        }
        if by_task.len() < 2 {
            return None;
        }
        let mut drawn: Vec<f64> = by_task.values().map(|(drawn, _)| *drawn).collect();
        drawn.sort_by(f64::total_cmp);
        // The share as it was drawn, but neither none nor all.
        let below = how.held_out.max(drawn[0].next_up()).min(drawn[drawn.len() - 1]);
        let (held_out, train): (Vec<_>, Vec<_>) =
            by_task.into_values().partition(|(drawn, _)| *drawn < below);
        let flat =
            |part: Vec<(f64, Vec<Vec<Labelled>>)>| part.into_iter().flat_map(|(_, task)| task).collect();
        Some(Self { train: flat(train), held_out: flat(held_out) })
    }

    /// How well `scores`, one for each held-out episode in order, agree with the labels.
    pub(crate) fn measures(&self, loss: FitLoss, scores: &[f64]) -> Metrics {
        let mut left = scores.iter().copied();
        let scored: Vec<Vec<(&Labelled, f64)>> = self
            .held_out
            .iter()
            .map(|task| task.iter().zip(left.by_ref().take(task.len())).collect())
            .collect();
        // What a rule would reach that knows nothing but the length, and from the other tasks which is better.
        let longer = mean(&told_apart(&unscored(&self.train), |(one, _)| one.tokens.len() as f64));
        let sign = if longer.is_some_and(|share| share >= 0.5) { 1.0 } else { -1.0 };
        let mut numbers = Metrics::new();
        let mut put = |name: &str, values: &[f64]| {
            numbers.extend(mean(values).map(|value| (name.to_owned(), value)));
        };
        put("pair_accuracy", &told_apart(&scored, |(_, score)| *score));
        put("pair_accuracy_length", &told_apart(&scored, |(one, _)| sign * one.tokens.len() as f64));
        let (bag, end) = (Bag::fitted(&self.train, |one| &one.said), Bag::fitted(&self.train, Labelled::end));
        put("pair_accuracy_actions", &told_apart(&scored, |(one, _)| bag.score(&one.said)));
        put("pair_accuracy_last", &told_apart(&scored, |(one, _)| end.score(one.end())));
        let all = || scored.iter().flatten();
        match loss {
            FitLoss::BradleyTerry => {}
            FitLoss::Regression => {
                let usual: Vec<f64> = self.train.iter().flatten().map(|one| one.label).collect();
                let usual = mean(&usual).unwrap_or_default();
                put("mse", &all().map(|(one, score)| (score - one.label).powi(2)).collect::<Vec<_>>());
                put("mse_of_mean", &all().map(|(one, _)| (usual - one.label).powi(2)).collect::<Vec<_>>());
            }
            FitLoss::Token => {
                let right = |(one, score): &(&Labelled, f64)| {
                    f64::from(u8::from((*score > 0.5) == (one.label > 0.5)))
                };
                put("accuracy", &all().map(right).collect::<Vec<_>>());
            }
        }
        numbers.insert("tasks".into(), self.train.len() as f64);
        numbers.insert("held_out_tasks".into(), self.held_out.len() as f64);
        numbers
    }
}

/// What a rule would reach that knows only which tokens occur and how often, not where: a weight for each, fitted to the order of
/// pairs of the other tasks. A set that it tells apart is told apart by traces of how it was made.
struct Bag(BTreeMap<TokenId, f64>);

impl Bag {
    const EPOCHS: usize = 30;
    const RATE: f64 = 0.1;

    fn fitted<'a>(tasks: &'a [Vec<Labelled>], of: impl Fn(&'a Labelled) -> &'a [TokenId]) -> Self {
        let mut bag = Self(BTreeMap::new());
        let pairs: Vec<(&Labelled, &Labelled)> = tasks.iter().flat_map(|task| ordered(task)).collect();
        for (better, worse) in pairs.iter().cycle().take(pairs.len() * Self::EPOCHS) {
            let (better, worse) = (of(better), of(worse));
            // The slope of -log sigmoid of the difference.
            let slope = Self::RATE / (1.0 + (bag.score(better) - bag.score(worse)).exp());
            better.iter().for_each(|token| *bag.0.entry(*token).or_default() += slope);
            worse.iter().for_each(|token| *bag.0.entry(*token).or_default() -= slope);
        }
        bag
    }

    fn score(&self, tokens: &[TokenId]) -> f64 {
        tokens.iter().filter_map(|token| self.0.get(token)).sum()
    }
}

/// Every two episodes of a task with different labels, the better first.
fn ordered(task: &[Labelled]) -> Vec<(&Labelled, &Labelled)> {
    let others =
        task.iter().enumerate().flat_map(|(at, one)| task[at + 1..].iter().map(move |other| (one, other)));
    let differ = others.filter(|(one, other)| one.label != other.label);
    differ.map(|(one, other)| if one.label > other.label { (one, other) } else { (other, one) }).collect()
}

fn unscored(tasks: &[Vec<Labelled>]) -> Vec<Vec<(&Labelled, f64)>> {
    tasks.iter().map(|task| task.iter().map(|one| (one, 0.0)).collect()).collect()
}

/// Of each two episodes of a task with different labels: 1 where `rank` puts the better one first, half where it cannot tell.
fn told_apart<'a>(
    tasks: &[Vec<(&'a Labelled, f64)>],
    rank: impl Fn(&(&'a Labelled, f64)) -> f64,
) -> Vec<f64> {
    let mut told = Vec::new();
    for task in tasks {
        for (at, one) in task.iter().enumerate() {
            for other in task[at + 1..].iter().filter(|other| other.0.label != one.0.label) {
                let (better, worse) = if one.0.label > other.0.label { (one, other) } else { (other, one) };
                let ahead = rank(better) - rank(worse);
                told.push(if ahead > 0.0 {
                    1.0
                } else if ahead == 0.0 {
                    0.5
                } else {
                    0.0
                });
            }
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(len: usize, label: f64) -> Labelled {
        Labelled { tokens: vec![TokenId(0); len], said: Vec::new(), last: 0, label }
    }

    fn saying(said: &[u32], last: usize, label: f64) -> Labelled {
        let said: Vec<TokenId> = said.iter().map(|token| TokenId(*token)).collect();
        Labelled { tokens: said.clone(), said, last, label }
    }

    #[test]
    fn what_a_bag_of_actions_and_the_last_turn_tell_is_measured_beside_the_model() {
        // Where it learned, token 7 is said in worse episodes, never in the last turn; the last turns are alike.
        let pair = || vec![saying(&[1, 2, 9], 2, 1.0), saying(&[1, 7, 9], 2, 0.0)];
        let parted = Parted { train: vec![pair(), pair()], held_out: vec![pair()] };
        let numbers = parted.measures(FitLoss::BradleyTerry, &[0.0, 0.0]);
        assert_eq!((numbers["pair_accuracy"], numbers["pair_accuracy_length"]), (0.5, 0.5));
        assert_eq!((numbers["pair_accuracy_actions"], numbers["pair_accuracy_last"]), (1.0, 0.5));
    }

    #[test]
    fn scores_are_held_against_labels_and_against_what_length_alone_tells() {
        // Where it learned, the longer episode was better; in one of the two held-out tasks it is worse.
        let train = vec![vec![one(9, 1.0), one(3, 0.0)]];
        let held_out = vec![vec![one(8, 1.0), one(2, 0.0)], vec![one(2, 1.0), one(8, 0.0), one(5, 0.0)]];
        let parted = Parted { train, held_out };
        let numbers = parted.measures(FitLoss::Regression, &[1.0, 0.0, 0.5, 0.5, 0.0]);
        // Right, cannot tell, right; two episodes of equal label are no pair.
        assert!((numbers["pair_accuracy"] - 2.5 / 3.0).abs() < 1e-12);
        assert!((numbers["pair_accuracy_length"] - 1.0 / 3.0).abs() < 1e-12);
        assert!((numbers["mse"] - 0.1).abs() < 1e-12);
        assert!((numbers["mse_of_mean"] - 0.25).abs() < 1e-12);
        assert_eq!((numbers["tasks"], numbers["held_out_tasks"]), (1.0, 2.0));
    }
}
