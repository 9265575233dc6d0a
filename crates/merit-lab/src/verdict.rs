//! The verdict: one rule for all systems.
//!
//! Claims are paired by seed. A t interval up to 20 seeds, a bootstrap above, at 97.5 %, because there may be two looks: the
//! file's seeds and, only where they decide nothing, twice as many.

use crate::claim::Bound;
use crate::{Cells, Claim, Part, Reading, System, Test};
use merit_core::Seed;
use merit_core::stats;
use serde::{Deserialize, Serialize};

/// Confidence of every interval; two looks together stay at 95 %.
const LEVEL: f64 = 0.975;
/// How far budgets that must be equal may be apart.
const BUDGET_SLACK: f64 = 0.02;

/// What may be said of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    Holds,
    DoesNotHold,
    Inconclusive,
}

impl Verdict {
    pub fn words(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::DoesNotHold => "does not hold",
            Self::Inconclusive => "inconclusive",
        }
    }
}

/// A premise or a claim with what the cells say of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Judged {
    pub part: String,
    pub says: String,
    pub measure: String,
    /// The comparison in signs.
    pub comparison: String,
    pub required: bool,
    pub verdict: Verdict,
    /// Mean over seeds of the value, the difference or the ratio. Absent: nothing could be read, or it is without bound.
    pub estimate: Option<f64>,
    pub interval: Option<(f64, f64)>,
    /// Every seed; absent values are arms that never arrived.
    pub seeds: Vec<(u64, Option<f64>)>,
    /// Why it is so, where numbers do not say it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
}

/// How many seeds were looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Look {
    /// The file's seeds.
    First,
    /// Twice as many, because the first decided nothing.
    Second,
}

/// Everything that is said of a system.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ruling {
    pub verdict: Verdict,
    /// In a few words, where it is inconclusive for another reason than its claims.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
    pub premises: Vec<Judged>,
    pub claims: Vec<Judged>,
}

impl Ruling {
    /// Whether more seeds could decide it.
    pub fn wants_more_seeds(&self) -> bool {
        self.verdict == Verdict::Inconclusive && self.why.is_empty()
    }
}

/// Judges a system by its cells.
///
/// ```
/// use merit_lab::{Cells, Verdict, judge, load};
/// let system = load("knapsack-composer", &[])?;
/// assert_eq!(judge(&system, &Cells::default()).verdict, Verdict::Inconclusive, "no cell was run");
/// # Ok::<(), merit_lab::LabError>(())
/// ```
pub fn judge(system: &System, cells: &Cells) -> Ruling {
    let of = |claims: fn(&Part) -> &Vec<Claim>, premise: bool| -> Vec<Judged> {
        let all = system.parts.iter().flat_map(|part| claims(part).iter().map(move |claim| (part, claim)));
        all.map(|(part, claim)| judged(part, claim, cells, premise)).collect()
    };
    let (premises, claims) = (of(|part| &part.premises, true), of(|part| &part.claims, false));
    let why = obstacle(system, cells, &premises);
    let required = || claims.iter().filter(|claim| claim.required);
    let verdict = if !why.is_empty() {
        Verdict::Inconclusive
    } else if required().any(|claim| claim.verdict == Verdict::DoesNotHold) {
        Verdict::DoesNotHold
    } else if required().all(|claim| claim.verdict == Verdict::Holds) {
        Verdict::Holds
    } else {
        Verdict::Inconclusive
    };
    Ruling { verdict, why, premises, claims }
}

/// What makes any verdict impossible: a broken cell, a premise that fails, unequal budgets.
fn obstacle(system: &System, cells: &Cells, premises: &[Judged]) -> String {
    let broken = cells.0.iter().find_map(|cell| {
        let why = cell.broken.as_ref()?;
        let how = if cell.lost { "was lost" } else { "broke twice" };
        Some(format!("the cell {} of seed {} {how}: {why}", cell.arm, cell.seed))
    });
    let premise = || {
        let failed = premises.iter().find(|premise| premise.verdict != Verdict::Holds)?;
        Some(format!("a premise fails: {}", failed.says))
    };
    let unequal = || system.parts.iter().find_map(|part| unequal_budgets(part, cells));
    broken.or_else(premise).or_else(unequal).unwrap_or_default()
}

fn unequal_budgets(part: &Part, cells: &Cells) -> Option<String> {
    for axis in part.budget.keys() {
        let mut spent: Vec<(&str, u64, f64)> = Vec::new();
        for arm in part.arms.iter().filter(|arm| arm.equal) {
            let costs = cells.of(&part.name, &arm.name);
            spent.extend(costs.map(|(seed, record)| {
                (arm.name.as_str(), seed, record.costs.get(axis).copied().unwrap_or(0.0))
            }));
        }
        for &(arm, seed, cost) in &spent {
            let least = spent.iter().filter(|other| other.1 == seed).min_by(|a, b| a.2.total_cmp(&b.2))?;
            if cost > least.2 * (1.0 + BUDGET_SLACK) {
                let (other, less) = (least.0, least.2);
                return Some(format!(
                    "budgets differ by more than 2 % on `{axis}`: {arm} spent {cost:.0}, {other} {less:.0} (seed {seed})"
                ));
            }
        }
    }
    None
}

/// One claim by the cells of its arms.
fn judged(part: &Part, claim: &Claim, cells: &Cells, premise: bool) -> Judged {
    let mut judged = Judged {
        part: part.name.clone(),
        says: claim.says.clone(),
        measure: claim.measure.describe(),
        comparison: claim.comparison(),
        required: claim.required,
        verdict: Verdict::Inconclusive,
        estimate: None,
        interval: None,
        seeds: Vec::new(),
        why: String::new(),
    };
    let test = match claim.test() {
        Ok(test) => test,
        Err(why) => return Judged { why, ..judged },
    };
    match values(part, claim, cells, &test) {
        Err(why) => judged.why = why,
        Ok(values) if values.is_empty() => judged.why = absent(part, claim).into(),
        Ok(values) => {
            judged.seeds =
                values.iter().map(|(seed, value)| (*seed, value.is_finite().then_some(*value))).collect();
            let values: Vec<f64> = values.into_iter().map(|(_, value)| value).collect();
            decide(&mut judged, claim, test, &values, premise);
        }
    }
    judged
}

/// Why a claim has no cells.
fn absent(part: &Part, claim: &Claim) -> &'static str {
    match part.arms.iter().any(|arm| !arm.core && claim.names(&arm.name)) {
        true => "of an arm that only `--extended` runs",
        false => "no seed has cells of its arms",
    }
}

/// The value, difference or ratio at each seed that both arms have. An arm that never arrived is infinitely late; the one it is
/// compared with counts as having needed its whole budget, which favours that one.
fn values(part: &Part, claim: &Claim, cells: &Cells, test: &Test) -> Result<Vec<(u64, f64)>, String> {
    let mut found = Vec::new();
    for (seed, record) in cells.of(&part.name, &claim.arm) {
        let others = cells.at(&part.name, seed);
        let own = match claim.measure.read(record, &others)? {
            Reading::Value(value) => value,
            Reading::NotReached { .. } => f64::INFINITY,
        };
        let Some(against) = &claim.against else {
            found.push((seed, own));
            continue;
        };
        let Some((_, other)) = others.iter().find(|(arm, _)| arm == against) else { continue };
        let other = match claim.against_measure.as_ref().unwrap_or(&claim.measure).read(other, &others)? {
            Reading::Value(value) => value,
            Reading::NotReached { budget } => budget,
        };
        found.push((
            seed,
            match test {
                // Both stood at the level before they learned: neither was quicker.
                Test::Ratio(_) if own == 0.0 && other == 0.0 && claim.measure.is_cost() => 1.0,
                Test::Ratio(_) if own <= 0.0 || other <= 0.0 => {
                    return Err(format!("a ratio of {own} and {other} (seed {seed}) says nothing"));
                }
                Test::Ratio(_) => own / other,
                _ => own - claim.times.unwrap_or(1.0) * other,
            },
        ));
    }
    Ok(found)
}

fn decide(judged: &mut Judged, claim: &Claim, test: Test, values: &[f64], premise: bool) {
    let bound = match test {
        Test::Value(bound) | Test::Difference(bound) | Test::Ratio(bound) => bound,
        Test::Within(within) => Bound { at_least: Some(-within), at_most: Some(within) },
    };
    let (met, count) = (values.iter().filter(|value| bound.meets(**value)).count(), values.len());
    let ratio = matches!(test, Test::Ratio(_));
    let infinite = values.iter().any(|value| !value.is_finite());
    let scale: Vec<f64> =
        if ratio { values.iter().map(|value| value.ln()).collect() } else { values.to_vec() };
    if !infinite {
        let back = |value: f64| if ratio { value.exp() } else { value };
        judged.estimate = stats::mean(&scale).map(back);
        let interval = if count <= 20 {
            stats::t_interval(&scale, LEVEL)
        } else {
            stats::bootstrap_mean_at(&scale, LEVEL, 4000, &Seed::root(0).child(&claim.says, 0))
        };
        judged.interval = interval.map(|interval| (back(interval.low), back(interval.high)));
    }
    if let Some(share) = claim.in_seeds {
        judged.why = format!("{met} of {count} seeds");
        let enough = met as f64 >= share * count as f64 - 1e-9;
        judged.verdict = if enough { Verdict::Holds } else { Verdict::DoesNotHold };
        return;
    }
    if infinite {
        let never = values.iter().filter(|value| !value.is_finite()).count();
        judged.why = format!("never arrived in {never} of {count} seeds");
        let most_miss = 2 * met < count;
        judged.verdict = if most_miss { Verdict::DoesNotHold } else { Verdict::Inconclusive };
        return;
    }
    let Some(estimate) = judged.estimate else { return };
    if premise {
        judged.verdict = if bound.meets(estimate) { Verdict::Holds } else { Verdict::DoesNotHold };
        return;
    }
    let Some((low, high)) = judged.interval else {
        judged.why = "one seed has no spread".into();
        return;
    };
    let holds = match test {
        Test::Value(_) | Test::Within(_) => bound.meets(low) && bound.meets(high),
        Test::Difference(_) => meets_and_excludes(&bound, 0.0, estimate, low, high),
        Test::Ratio(_) => meets_and_excludes(&bound, 1.0, estimate, low, high),
    };
    judged.verdict = if holds {
        Verdict::Holds
    } else if bound.excluded_by(low, high) {
        Verdict::DoesNotHold
    } else {
        Verdict::Inconclusive
    };
}

/// Whether the estimate meets the margin and the interval excludes no effect. Where the margin itself allows no effect ("no worse
/// than"), the whole interval must meet it.
fn meets_and_excludes(bound: &Bound, none: f64, estimate: f64, low: f64, high: f64) -> bool {
    if bound.meets(none) {
        return bound.meets(low) && bound.meets(high);
    }
    bound.meets(estimate) && (low > none || high < none)
}
