//! The judge bench: several judges on the same pairs, side by side, with what knows nothing of quality among the rows.
//!
//! In: labelled pairs, and judges one after another. Out: a row for each, parts of the pairs by kind, and every two judges against
//! each other on the pairs that both gave a verdict on. What a row holds is measured by [`crate::test()`]; nothing here reads a clock.

use crate::test::{RESAMPLES, Row, Tested, area_under_curve, leak_rows, test_beside};
use crate::{Judge, Pair};
use merit_core::stats::{Interval, mean, paired_difference};
use merit_core::{Cost, Seed};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Most kinds that pairs are broken down by; with more of them each says nothing.
const MOST_KINDS: usize = 32;

/// One row of the bench: a judge, or what knows nothing of quality.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BenchRow {
    /// Who, as the bench calls it.
    pub name: String,
    /// Name and version as the judge itself has them. Absent: it knows nothing of quality.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Share of pairs that it is right about; a tie is half right. Absent: it answered nothing.
    pub accuracy: Option<f64>,
    /// 95 %, over groups.
    pub interval: Option<Interval>,
    /// Share of ties among its choices.
    pub ties: f64,
    /// Cohen's kappa of its choices and the labels. Absent: nothing could disagree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kappa: Option<f64>,
    /// The chance that a better answer, of whatever pair, has a higher number than a worse one. Absent: it gives no numbers.
    pub auc: Option<f64>,
    /// Mean distance between how sure it was and how often it was right. Absent: it does not say how sure it is.
    pub calibration_error: Option<f64>,
    /// Share of pairs where the order decided.
    pub flips: Option<f64>,
    /// Share of verdicts for what was shown first, less a half.
    pub position_bias: Option<f64>,
    /// Share of choices for the longer one, less the share of labels for it.
    pub length_bias: Option<f64>,
    /// Share of verdicts that changed when the same was asked again. Absent: it was asked once.
    pub drift: Option<f64>,
    /// Answers by kind that were no choice.
    pub unsaid: BTreeMap<String, usize>,
    /// Tokens and calls of all questions.
    pub cost: Cost,
    /// Wall seconds. Absent: they were not measured.
    pub seconds: Option<f64>,
    /// The same share for each kind of pairs.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub kinds: BTreeMap<String, Part>,
    /// Why it may not pay: it is not better than a row that knows nothing of quality. Absent: it is, or is such a row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// How right it is about each pair, in order.
    #[serde(skip)]
    right: Vec<Option<f64>>,
}

/// Pairs of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Part {
    pub accuracy: f64,
    /// Pairs with a verdict.
    pub pairs: usize,
}

/// Two rows on the pairs that both gave a verdict on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Versus {
    /// Name of the one row.
    pub one: String,
    /// Name of the other row.
    pub other: String,
    /// By how much one is right about more pairs than the other.
    pub difference: f64,
    /// 95 %, over groups.
    pub interval: Interval,
    /// Groups with pairs of both.
    pub groups: usize,
}

/// The kind of each pair.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Kinds(Vec<Option<String>>);

impl Kinds {
    /// By an info of the world at the end, or, where the name begins with `/`, by a place in the payload; both where the two
    /// candidates differ in it. `Err` with the reason where that says nothing.
    pub fn of(pairs: &[Pair], name: &str) -> Result<Self, String> {
        let kind = |pair: &Pair| match (pair.a.value_of(name), pair.b.value_of(name)) {
            (Some(a), Some(b)) if a == b => Some(a),
            (Some(a), Some(b)) => Some(format!("{} and {}", a.clone().min(b.clone()), a.max(b))),
            (one, other) => one.or(other),
        };
        let kinds: Vec<Option<String>> = pairs.iter().map(kind).collect();
        match kinds.iter().flatten().collect::<BTreeSet<_>>().len() {
            0 => Err(format!(
                "no pair has `{name}`; name an info of the world, or a place in the payload such as `/kind`"
            )),
            many if many > MOST_KINDS => {
                Err(format!("`{name}` has {many} values; pairs are broken down by at most {MOST_KINDS}"))
            }
            _ => Ok(Self(kinds)),
        }
    }

    fn parts(&self, right: &[Option<f64>]) -> BTreeMap<String, Part> {
        let mut parts: BTreeMap<&String, Vec<f64>> = BTreeMap::new();
        for (kind, right) in self.0.iter().zip(right) {
            if let (Some(kind), Some(right)) = (kind, right) {
                parts.entry(kind).or_default().push(*right);
            }
        }
        let part = |right: Vec<f64>| Some(Part { accuracy: mean(&right)?, pairs: right.len() });
        parts.into_iter().filter_map(|(kind, right)| Some((kind.clone(), part(right)?))).collect()
    }
}

/// Pairs that judges are held against one after another.
pub struct Bench<'a> {
    pairs: &'a [Pair],
    kinds: Kinds,
    leaks: Vec<Row>,
    /// The judges, in the order in which they came.
    pub rows: Vec<BenchRow>,
}

impl<'a> Bench<'a> {
    /// A bench of these pairs. What knows nothing of quality learns from the other folds of the pairs themselves.
    pub fn of(pairs: &'a [Pair], kinds: Kinds) -> Self {
        Self { pairs, kinds, leaks: leak_rows(pairs, &[]), rows: Vec::new() }
    }

    /// Holds one more judge against the pairs, `repeats` times, and says what the test came to. `numbers`: it also scores single
    /// answers. Time is not measured: set `seconds` of the last of [`Self::rows`].
    pub fn enter(&mut self, name: &str, judge: &mut dyn Judge, numbers: bool, repeats: usize) -> Tested {
        let tested = test_beside(judge, self.pairs, self.leaks.clone(), repeats);
        let auc = numbers.then(|| area_under_curve(judge, self.pairs)).flatten();
        let row = BenchRow {
            id: Some(tested.judge.name.clone()),
            kappa: tested.kappa,
            auc,
            calibration_error: tested.calibration_error,
            flips: tested.flips,
            position_bias: tested.position_bias,
            length_bias: tested.length_bias,
            drift: tested.drift,
            unsaid: tested.unsaid.clone(),
            cost: tested.cost,
            refused: tested.beats_leaks().err(),
            ..self.plain(name, &tested.judge)
        };
        self.rows.push(row);
        tested
    }

    /// The rows that know nothing of quality.
    pub fn leaks(&self) -> Vec<BenchRow> {
        self.leaks.iter().map(|row| self.plain(&row.name, row)).collect()
    }

    /// Every two judges, and each of them against the best row that knows nothing of quality.
    pub fn versus(&self) -> Vec<Versus> {
        let better = |a: &&BenchRow, b: &&BenchRow| {
            a.accuracy.unwrap_or_default().total_cmp(&b.accuracy.unwrap_or_default())
        };
        let leaks = self.leaks();
        let floor = leaks.iter().max_by(better);
        let mut all = Vec::new();
        for (at, one) in self.rows.iter().enumerate() {
            let others = self.rows[at + 1..].iter().chain(floor);
            all.extend(others.filter_map(|other| self.apart(one, other)));
        }
        all
    }

    fn apart(&self, one: &BenchRow, other: &BenchRow) -> Option<Versus> {
        let both = self.pairs.iter().zip(one.right.iter().zip(&other.right));
        let both = both.filter_map(|(pair, (one, other))| Some((pair.group.clone(), (*one)?, (*other)?)));
        let (mine, theirs): (Vec<_>, Vec<_>) =
            both.map(|(group, one, other)| ((group.clone(), one), (group, other))).unzip();
        let seed = Seed::root(0).child("judge-bench", 0);
        let found = paired_difference(&theirs, &mine, RESAMPLES, &seed)?;
        Some(Versus {
            one: one.name.clone(),
            other: other.name.clone(),
            difference: found.mean,
            interval: found.interval,
            groups: found.tasks,
        })
    }

    /// A row of which only the choices are known.
    fn plain(&self, name: &str, row: &Row) -> BenchRow {
        BenchRow {
            name: name.to_owned(),
            id: None,
            accuracy: row.accuracy,
            interval: row.interval,
            ties: row.ties,
            kappa: None,
            auc: None,
            calibration_error: None,
            flips: None,
            position_bias: None,
            length_bias: None,
            drift: None,
            unsaid: BTreeMap::new(),
            cost: Cost::default(),
            seconds: None,
            kinds: self.kinds.parts(&row.right),
            refused: None,
            right: row.right.clone(),
        }
    }
}
