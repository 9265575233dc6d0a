//! The verdict: one rule for all systems.
//!
//! Claims are paired by seed. A t interval up to 20 seeds, a bootstrap above, at 97.5 %, because there may be two looks: the
//! file's seeds and, only where they decide nothing, twice as many. An arm that never arrives at a level is censored: a claim holds
//! only where it holds however late the arm is, and does not hold only where no arrival could save it.

use crate::claim::Bound;
use crate::range::{Ends, Range};
use crate::{Cells, Claim, Part, System, Test};
use merit_core::Seed;
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
    /// Mean over seeds of the value, the difference or the ratio; the median where it has no logarithm. Absent: nothing could be
    /// read, or it lies in a range.
    pub estimate: Option<f64>,
    /// Absent: there are too few seeds, or an end is not known.
    pub interval: Option<(f64, f64)>,
    /// Every seed; absent values have no number, as of an arm that never arrived.
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
    judge_again(system, cells, None)
}

/// The same of recorded cells, whose curves have fewer points than those that were judged first: the number that a claim had at a seed
/// is taken from what was `recorded`.
pub fn judge_again(system: &System, cells: &Cells, recorded: Option<&Ruling>) -> Ruling {
    let of = |claims: fn(&Part) -> &Vec<Claim>, premise: bool| -> Vec<Judged> {
        let before =
            recorded.map_or(&[][..], |ruling| if premise { &ruling.premises } else { &ruling.claims });
        let all = system.parts.iter().flat_map(|part| claims(part).iter().map(move |claim| (part, claim)));
        all.enumerate()
            .map(|(at, (part, claim))| {
                let before = before.get(at).filter(|before| before.says == claim.says);
                judged(part, claim, cells, premise, before)
            })
            .collect()
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
fn judged(part: &Part, claim: &Claim, cells: &Cells, premise: bool, recorded: Option<&Judged>) -> Judged {
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
        Ok(mut values) => {
            for (seed, value) in &mut values {
                let known = recorded.and_then(|judged| judged.seeds.iter().find(|(of, _)| of == seed)?.1);
                *value = known.map_or(*value, Range::known);
            }
            judged.seeds = values.iter().map(|(seed, value)| (*seed, value.number())).collect();
            let values: Vec<Range> = values.into_iter().map(|(_, value)| value).collect();
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

/// What is known of the value, the difference or the ratio at each seed that both arms have. Of an arm that never arrives it is
/// known that it is later than its budget.
fn values(part: &Part, claim: &Claim, cells: &Cells, test: &Test) -> Result<Vec<(u64, Range)>, String> {
    let mut found = Vec::new();
    for (seed, record) in cells.of(&part.name, &claim.arm) {
        let others = cells.at(&part.name, seed);
        let own = claim.measure.read(record, &others)?.range();
        let Some(against) = &claim.against else {
            found.push((seed, own));
            continue;
        };
        let Some((_, other)) = others.iter().find(|(arm, _)| arm == against) else { continue };
        let other_measure = claim.against_measure.as_ref().unwrap_or(&claim.measure);
        let other = other_measure.read(other, &others)?.range();
        let costs = claim.measure.is_cost() && other_measure.is_cost();
        found.push((
            seed,
            match test {
                // What it cost to be where an arm began is 0; of any other number a quotient with 0 says nothing.
                Test::Ratio(_) if !costs && (own.low <= 0.0 || other.low <= 0.0) => {
                    return Err(format!(
                        "a ratio of {} and {} (seed {seed}) says nothing",
                        own.low, other.low
                    ));
                }
                Test::Ratio(_) => own.over(other),
                _ => own.less(other.times(claim.times.unwrap_or(1.0))),
            },
        ));
    }
    Ok(found)
}

fn decide(judged: &mut Judged, claim: &Claim, test: Test, values: &[Range], premise: bool) {
    let bound = match test {
        Test::Value(bound) | Test::Difference(bound) | Test::Ratio(bound) => bound,
        Test::Within(within) => Bound { at_least: Some(-within), at_most: Some(within) },
    };
    let ratio = matches!(test, Test::Ratio(_));
    let scale: Vec<Range> = values.iter().map(|value| if ratio { value.ln() } else { *value }).collect();
    let Some(ends) = Ends::of(&scale, LEVEL, &Seed::root(0).child(&claim.says, 0)) else { return };
    let back = |range: Range| if ratio { range.exp() } else { range };
    let (estimate, interval) = (back(ends.estimate()), back(ends.interval()));
    let unknown = values.iter().filter(|value| value.number().is_none()).count();
    judged.estimate = estimate.number();
    judged.interval = (ends.both_have_one() && interval.bounded()).then_some((interval.low, interval.high));
    if let Some(share) = claim.in_seeds {
        (judged.verdict, judged.why) = in_seeds(&bound, share, values);
        return;
    }
    let nothing = values.iter().filter(|value| ratio && value.number() == Some(0.0)).count();
    if unknown > 0 {
        judged.why = without_number(unknown, values.len(), ratio, estimate);
    } else if nothing > 0 {
        judged.why = format!("the median, since {nothing} of {} ratios are 0", values.len());
    }
    if premise {
        let met = unknown == 0 && bound.met_by(estimate);
        judged.verdict = if met { Verdict::Holds } else { Verdict::DoesNotHold };
        return;
    }
    if values.len() == 1 {
        judged.why = "one seed has no spread".into();
        return;
    }
    let holds = match test {
        Test::Value(_) | Test::Within(_) => bound.met_by(interval),
        Test::Difference(_) => meets_and_excludes(&bound, 0.0, estimate, interval),
        Test::Ratio(_) => meets_and_excludes(&bound, 1.0, estimate, interval),
    };
    judged.verdict = if holds {
        Verdict::Holds
    } else if bound.excluded_by(interval) {
        Verdict::DoesNotHold
    } else {
        Verdict::Inconclusive
    };
}

/// Whether the share of the seeds that must meet the bound does, wherever the seeds without a number lie.
fn in_seeds(bound: &Bound, share: f64, values: &[Range]) -> (Verdict, String) {
    let sure = values.iter().filter(|value| bound.met_by(**value)).count();
    let possible = values.iter().filter(|value| !bound.excluded_by(**value)).count();
    let enough = |met: usize| met as f64 >= share * values.len() as f64 - 1e-9;
    let verdict = match (enough(sure), enough(possible)) {
        (true, _) => Verdict::Holds,
        (_, false) => Verdict::DoesNotHold,
        _ => Verdict::Inconclusive,
    };
    let met = if sure == possible { sure.to_string() } else { format!("{sure} to {possible}") };
    (verdict, format!("{met} of {} seeds", values.len()))
}

/// That seeds have no number, and what is known of the estimate all the same.
fn without_number(unknown: usize, count: usize, ratio: bool, estimate: Range) -> String {
    let short = crate::scoreboard::number;
    let (least, most) = (estimate.low.min(estimate.high), estimate.high.max(estimate.low));
    let known = match (least > 0.0 && least.is_finite(), most.is_finite()) {
        _ if estimate.number().is_some() => String::new(),
        (true, true) => format!("; between {} and {}", short(least), short(most)),
        (true, false) => format!("; at least {}", short(least)),
        (false, true) => format!("; at most {}", short(most)),
        (false, false) => String::new(),
    };
    let or = if ratio { ", or the arm it is divided by was there before it learned" } else { "" };
    format!("no number in {unknown} of {count} seeds: an arm never arrived{or}{known}")
}

/// Whether the estimate meets the margin and the interval excludes no effect. Where the margin itself allows no effect ("no worse
/// than"), the whole interval must meet it.
fn meets_and_excludes(bound: &Bound, none: f64, estimate: Range, interval: Range) -> bool {
    if bound.meets(none) {
        return bound.met_by(interval);
    }
    bound.met_by(estimate) && (interval.low > none || interval.high < none)
}
