//! How often is a judge right? Any judge against labelled pairs, in both orders, beside the rows of [`crate::leaks`].
//!
//! Accuracy counts a tie as half right; a refusal or an unreadable answer is wrong. A failure of the infrastructure is neither: it is
//! left out and counted apart. Intervals are bootstraps over groups.

use crate::agreement::{Metric, kappa};
use crate::judge::BothOrders;
use crate::leaks::{Leak, cross_fitted, length};
use crate::panel::side;
use crate::{Choice, Judge, Label, Pair, Verdict, both_orders, rightness};
use merit_core::stats::{Interval, auroc, mean, mean_share_interval, quantile};
use merit_core::{Cost, Seed};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Draws of a bootstrap.
pub(crate) const RESAMPLES: u32 = 2000;
/// Folds of the rows that learn.
const FOLDS: usize = 5;
/// Bins of the calibration.
const BINS: usize = 10;

/// One row: a judge, or something that knows less.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Name of the judge, or of what it is compared with.
    pub name: String,
    /// Share of pairs that it is right about. Absent: it answered nothing.
    pub accuracy: Option<f64>,
    /// 95 %, over groups.
    pub interval: Option<Interval>,
    /// Share of ties among its choices.
    pub ties: f64,
    /// How right it is about each pair, in the order of the file. Absent: the infrastructure failed.
    pub right: Vec<Option<f64>>,
}

/// What came of a test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tested {
    /// How many pairs were judged.
    pub pairs: usize,
    /// How many groups they form.
    pub groups: usize,
    pub judge: Row,
    /// Rows that know nothing of quality.
    pub leaks: Vec<Row>,
    /// Cohen's kappa of its choices and the labels: agreement beyond chance, ties being a choice of their own. Absent: nothing could
    /// disagree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kappa: Option<f64>,
    /// Share of pairs where the order decided, among those with two verdicts.
    pub flips: Option<f64>,
    /// Share of verdicts for what was shown first, less a half, over both orders; ties count a half.
    pub position_bias: Option<f64>,
    /// Share of choices for the longer one, less the share of labels for it.
    pub length_bias: Option<f64>,
    /// Mean distance between how sure the judge was and how often it was right, by bins. Absent: it does not say how sure it is.
    pub calibration_error: Option<f64>,
    /// Answers by kind that were no choice.
    pub unsaid: BTreeMap<String, usize>,
    /// Why the first question that failed did. Absent: none failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Share of verdicts that changed when the same was asked again. Absent: it was asked once.
    pub drift: Option<f64>,
    pub cost: Cost,
}

/// Holds a judge against pairs, `repeats` times (at least once). The rows that know nothing of quality learn from `learned_from`;
/// where that is empty, from the other folds of the pairs themselves.
pub fn test(judge: &mut dyn Judge, pairs: &[Pair], learned_from: &[Pair], repeats: usize) -> Tested {
    test_beside(judge, pairs, leak_rows(pairs, learned_from), repeats)
}

/// The same beside rows that were made before.
pub(crate) fn test_beside(judge: &mut dyn Judge, pairs: &[Pair], leaks: Vec<Row>, repeats: usize) -> Tested {
    let rounds: Vec<Vec<BothOrders>> = (0..repeats.max(1)).map(|_| both_orders(judge, pairs)).collect();
    let asked = &rounds[0];
    let right: Vec<Option<f64>> =
        asked.iter().zip(pairs).map(|(both, pair)| judged(both, pair.label)).collect();
    let choices: Vec<Option<Choice>> = asked.iter().map(BothOrders::choice).collect();
    let groups: std::collections::BTreeSet<&str> = pairs.iter().map(|pair| pair.group.as_str()).collect();
    let answers = || rounds.iter().flatten().flat_map(|both| [&both.straight, &both.swapped]);
    Tested {
        pairs: pairs.len(),
        groups: groups.len(),
        judge: row(judge.id(), &choices, right, pairs),
        leaks,
        kappa: label_kappa(&choices, pairs),
        flips: share(asked.iter().filter_map(BothOrders::flipped)),
        position_bias: position_bias(asked),
        length_bias: length_bias(&choices, pairs),
        calibration_error: calibration(asked, pairs),
        unsaid: unsaid(asked),
        failure: asked.iter().find_map(failure),
        drift: drift(&rounds),
        cost: answers().map(|answer| answer.cost).sum(),
    }
}

/// The fewest pairs that say anything against a leak.
const FEWEST: usize = 10;

impl Tested {
    /// Why the judge may not pay: it is not better than a row that knows nothing of quality.
    pub fn beats_leaks(&self) -> Result<(), String> {
        if self.pairs < FEWEST {
            return Err(format!("it was tested on {} pairs; at least {FEWEST} are needed", self.pairs));
        }
        let own = self.judge.accuracy.ok_or("it answered nothing")?;
        let better = self.leaks.iter().find(|row| row.accuracy.is_some_and(|accuracy| accuracy >= own));
        better.map_or(Ok(()), |row| {
            let theirs = row.accuracy.unwrap_or_default();
            Err(format!(
                "on {} test pairs it is right about {:.1} %, and `{}`, which knows nothing of quality, about {:.1} %",
                self.pairs,
                own * 100.0,
                row.name,
                theirs * 100.0
            ))
        })
    }
}

/// How right both orders are. Absent where the infrastructure failed in one of them.
fn judged(both: &BothOrders, label: Label) -> Option<f64> {
    let failed = |verdict: &Verdict| matches!(verdict, Verdict::Failed { .. });
    let failed = failed(&both.straight.verdict) || failed(&both.swapped.verdict);
    (!failed).then(|| rightness(both.choice(), label))
}

fn row(name: String, choices: &[Option<Choice>], right: Vec<Option<f64>>, pairs: &[Pair]) -> Row {
    let mut groups: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for (pair, right) in pairs.iter().zip(&right) {
        if let Some(right) = right {
            groups.entry(&pair.group).or_default().push(*right);
        }
    }
    let by_group: Vec<f64> = groups.values().filter_map(|values| mean(values)).collect();
    let said: Vec<f64> = right.iter().flatten().copied().collect();
    let ties = choices.iter().flatten().filter(|choice| **choice == Choice::Tie).count();
    Row {
        name,
        accuracy: mean(&said),
        interval: mean_share_interval(&by_group, RESAMPLES, &Seed::root(0).child("judge", 0)),
        ties: ties as f64 / choices.len().max(1) as f64,
        right,
    }
}

/// The rows that know nothing of quality.
pub(crate) fn leak_rows(pairs: &[Pair], learned_from: &[Pair]) -> Vec<Row> {
    Leak::ALL.into_iter().map(|leak| leak_row(leak, pairs, learned_from)).collect()
}

fn leak_row(leak: Leak, pairs: &[Pair], learned_from: &[Pair]) -> Row {
    let choices = match learned_from.is_empty() {
        true => cross_fitted(leak, pairs, FOLDS),
        false => leak.choices(&learned_from.iter().collect::<Vec<_>>(), &pairs.iter().collect::<Vec<_>>()),
    };
    of_choices(leak.name(), &choices, pairs)
}

/// A row of plain choices.
fn of_choices(name: &str, choices: &[Choice], pairs: &[Pair]) -> Row {
    let right =
        choices.iter().zip(pairs).map(|(choice, pair)| Some(rightness(Some(*choice), pair.label))).collect();
    let choices: Vec<Option<Choice>> = choices.iter().copied().map(Some).collect();
    row(name.to_owned(), &choices, right, pairs)
}

fn label_kappa(choices: &[Option<Choice>], pairs: &[Pair]) -> Option<f64> {
    let both = choices.iter().zip(pairs);
    let said: Vec<(f64, f64)> =
        both.filter_map(|(choice, pair)| Some((side((*choice)?), side(pair.label.into())))).collect();
    kappa(&said, Metric::Nominal)
}

fn share(flags: impl Iterator<Item = bool>) -> Option<f64> {
    let flags: Vec<f64> = flags.map(|flag| f64::from(u8::from(flag))).collect();
    mean(&flags)
}

fn position_bias(asked: &[BothOrders]) -> Option<f64> {
    let first = |choice: Choice| match choice {
        Choice::First => 1.0,
        Choice::Tie => 0.5,
        Choice::Second => 0.0,
    };
    let shares: Vec<f64> = asked
        .iter()
        .filter_map(|both| {
            let (straight, swapped) = (both.straight.verdict.choice()?, both.swapped.verdict.choice()?);
            // The swapped choice was turned back; what was shown first there is the other.
            Some((first(straight) + first(swapped.swapped())) / 2.0)
        })
        .collect();
    mean(&shares).map(|share| share - 0.5)
}

fn length_bias(choices: &[Option<Choice>], pairs: &[Pair]) -> Option<f64> {
    let longer = |pair: &Pair, choice: Choice| match (choice, length(&pair.a).cmp(&length(&pair.b))) {
        (_, std::cmp::Ordering::Equal) => None,
        (Choice::Tie, _) => Some(0.5),
        (Choice::First, order) => Some(f64::from(u8::from(order.is_gt()))),
        (Choice::Second, order) => Some(f64::from(u8::from(order.is_lt()))),
    };
    let both: Vec<f64> = choices
        .iter()
        .zip(pairs)
        .filter_map(|(choice, pair)| Some(longer(pair, (*choice)?)? - longer(pair, pair.label.into())?))
        .collect();
    mean(&both)
}

/// The expected calibration error over single verdicts that say how sure they are.
fn calibration(asked: &[BothOrders], pairs: &[Pair]) -> Option<f64> {
    let mut bins = vec![(0.0, 0.0, 0.0); BINS];
    for (both, pair) in asked.iter().zip(pairs) {
        for answer in [&both.straight, &both.swapped] {
            let (Some(sure), Some(choice)) = (answer.confidence, answer.verdict.choice()) else { continue };
            let bin = &mut bins[((sure * BINS as f64) as usize).min(BINS - 1)];
            bin.0 += 1.0;
            bin.1 += sure;
            bin.2 += rightness(Some(choice), pair.label);
        }
    }
    let all: f64 = bins.iter().map(|bin| bin.0).sum();
    (all > 0.0).then(|| bins.iter().map(|(_, sure, right)| (sure - right).abs()).sum::<f64>() / all)
}

fn unsaid(asked: &[BothOrders]) -> BTreeMap<String, usize> {
    let mut kinds = BTreeMap::new();
    for answer in asked.iter().flat_map(|both| [&both.straight, &both.swapped]) {
        if answer.verdict.choice().is_none() {
            *kinds.entry(answer.verdict.word().to_owned()).or_default() += 1;
        }
    }
    kinds
}

fn failure(both: &BothOrders) -> Option<String> {
    [&both.straight, &both.swapped].into_iter().find_map(|answer| match &answer.verdict {
        Verdict::Failed { why } => Some(why.clone()),
        _ => None,
    })
}

fn drift(rounds: &[Vec<BothOrders>]) -> Option<f64> {
    let (first, later) = rounds.split_first()?;
    let changed = later.iter().flat_map(|round| round.iter().zip(first)).flat_map(|(again, once)| {
        let same = |one: &Verdict, other: &Verdict| one.choice() == other.choice();
        [
            !same(&again.straight.verdict, &once.straight.verdict),
            !same(&again.swapped.verdict, &once.swapped.verdict),
        ]
    });
    share(changed)
}

/// A judge as a verdict on single answers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pointwise {
    /// The score from which on an answer passes.
    pub threshold: f64,
    /// Share of the worse ones that pass.
    pub false_positives: f64,
    /// Share of the better ones that fail.
    pub false_negatives: f64,
    /// Answers with a score.
    pub scored: usize,
    /// Number of answers, with a score or without.
    pub candidates: usize,
}

/// Scores both answers of every pair that is no tie: the better one should pass, the worse one should not. Without a threshold the
/// middle score is taken.
pub fn pointwise(judge: &mut dyn Judge, pairs: &[Pair], threshold: Option<f64>) -> Pointwise {
    let (values, better) = sides(judge, pairs);
    let said: Vec<f64> = values.iter().flatten().copied().collect();
    let threshold = threshold.or_else(|| quantile(&said, 0.5)).unwrap_or_default();
    let passed = |wanted: bool| {
        let sides =
            values.iter().zip(&better).filter(move |(value, better)| value.is_some() && **better == wanted);
        share(sides.map(|(value, _)| value.is_some_and(|value| value >= threshold))).unwrap_or_default()
    };
    Pointwise {
        threshold,
        false_positives: passed(false),
        false_negatives: 1.0 - passed(true),
        scored: said.len(),
        candidates: values.len(),
    }
}

/// The number of each answer of every pair that is no tie, and whether it is the better one.
fn sides(judge: &mut dyn Judge, pairs: &[Pair]) -> (Vec<Option<f64>>, Vec<bool>) {
    let decided = pairs.iter().filter(|pair| pair.label != Label::Tie);
    let sides =
        decided.flat_map(|pair| [(&pair.a, pair.label == Label::A), (&pair.b, pair.label == Label::B)]);
    let (episodes, better): (Vec<_>, Vec<bool>) =
        sides.map(|(episode, better)| (Arc::clone(episode), better)).unzip();
    (judge.score(&episodes).iter().map(|answer| answer.verdict.value()).collect(), better)
}

/// The chance that a better answer, of whatever pair, has a higher number than a worse one. Absent: it gives no numbers, or there is
/// nothing to tell apart.
pub(crate) fn area_under_curve(judge: &mut dyn Judge, pairs: &[Pair]) -> Option<f64> {
    let (values, better) = sides(judge, pairs);
    let said: Vec<(f64, bool)> =
        values.into_iter().zip(better).filter_map(|(value, better)| Some((value?, better))).collect();
    auroc(&said)
}

/// The true success rate behind one that an imperfect judge observed (Rogan and Gladen):
///   p = (p_obs + specificity − 1) / (sensitivity + specificity − 1)
/// Absent where the judge is no better than chance. Kept within 0 and 1.
pub fn corrected_rate(observed: f64, false_positives: f64, false_negatives: f64) -> Option<f64> {
    let (sensitivity, specificity) = (1.0 - false_negatives, 1.0 - false_positives);
    let informed = sensitivity + specificity - 1.0;
    (informed > 1e-9).then(|| ((observed + specificity - 1.0) / informed).clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_corrected_for_the_errors_of_the_judge() {
        // Of 40 % true successes a judge with 10 % false positives and 20 % false negatives sees 0.4·0.8 + 0.6·0.1 = 0.38.
        let corrected = corrected_rate(0.38, 0.1, 0.2).unwrap();
        assert!((corrected - 0.4).abs() < 1e-12);
        assert_eq!(corrected_rate(0.5, 0.5, 0.5), None);
    }
}
