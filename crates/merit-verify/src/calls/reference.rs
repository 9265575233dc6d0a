//! Reference actions: which of the expected calls were made, by which call, and how far things had come after each.
//!
//! Ordered: the longest common subsequence. Unordered and subset: the largest pairing. Progress after each call is read
//! from the final alignment, so that credit by turn adds up to the share at the end. Calls of write tools that match
//! nothing cost `extra_penalty` each, except under `subset`, which leaves extra calls alone.

use super::arguments::ReadCall;
use super::rule::{CallPattern, RuleError};
use crate::json::limits::{Budget, Exhausted};
use crate::json::matching;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The calls that are expected.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReferenceActions {
    /// Expected calls; arguments have to be exactly these.
    pub calls: Vec<CallPattern>,
    /// What order and company are allowed.
    pub matching: Matching,
    /// Arguments that are not compared, such as free text.
    #[serde(default)]
    pub ignore_arguments: Vec<String>,
    /// Tools that change the world: a call of one that was not expected costs. Empty: extra calls cost nothing.
    #[serde(default)]
    pub writes: Vec<String>,
    /// What one extra write costs, in expected calls. Absent: as much as one expected call earns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra_penalty: Option<f64>,
}

/// What order and company are allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Matching {
    /// In the expected order; other calls may stand between.
    Ordered,
    /// The calls may come in any order.
    Unordered,
    /// In any order, and extra writes cost nothing.
    Subset,
}

/// How calls and expected calls fit together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Alignment {
    /// What each call was, in order.
    pub calls: Vec<CallMatch>,
    /// Indices of expected calls that were not made.
    pub missing: Vec<usize>,
    /// After each call: the share of expected calls made so far, less penalties, from 0 to 1.
    pub progress: Vec<f64>,
    /// The share at the end, less penalties.
    pub share: f64,
}

/// How a call of the response matches the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum CallMatch {
    Expected {
        /// Its index among the expected calls.
        index: usize,
    },
    /// A call that was not expected and changes nothing.
    Extra,
    /// A write that was not expected.
    ExtraWrite,
}

impl ReferenceActions {
    pub(super) fn check(&self, rule: usize) -> Result<(), RuleError> {
        if self.calls.is_empty() {
            return Err(RuleError::NothingExpected { rule });
        }
        if let Some(value) = self.extra_penalty.filter(|value| !value.is_finite() || *value < 0.0) {
            return Err(RuleError::Penalty { rule, value });
        }
        let penalises = self.extra_penalty.is_some() || !self.writes.is_empty();
        if self.matching == Matching::Subset && penalises {
            let why =
                "`subset` leaves extra calls alone; drop `writes` and `extra_penalty`, or use `unordered`";
            return Err(RuleError::Idle { rule, why });
        }
        if self.extra_penalty.is_some() && self.writes.is_empty() {
            return Err(RuleError::Idle {
                rule,
                why: "`extra_penalty` needs `writes` to say which tools it is for",
            });
        }
        Ok(())
    }

    pub(super) fn align(&self, calls: &[ReadCall<'_>], budget: &mut Budget) -> Result<Alignment, Exhausted> {
        let fits = |call: &ReadCall<'_>, expected: usize| {
            let pattern = &self.calls[expected];
            call.tool == pattern.tool && call.is(&pattern.arguments, &self.ignore_arguments)
        };
        let found = match self.matching {
            Matching::Ordered => in_order(calls.len(), self.calls.len(), budget, |c, e| fits(&calls[c], e))?,
            Matching::Unordered | Matching::Subset => {
                matching::pair(calls.len(), self.calls.len(), budget, |c, e, _| Ok(fits(&calls[c], e)))?
            }
        };
        Ok(self.describe(calls, &found))
    }

    fn describe(&self, calls: &[ReadCall<'_>], found: &[Option<usize>]) -> Alignment {
        let total = self.calls.len() as f64;
        let penalty = self.extra_penalty.unwrap_or(1.0);
        let kind = |(call, expected): (&ReadCall<'_>, &Option<usize>)| match expected {
            Some(index) => CallMatch::Expected { index: *index },
            None if self.writes.iter().any(|tool| tool == call.tool) => CallMatch::ExtraWrite,
            None => CallMatch::Extra,
        };
        let kinds: Vec<CallMatch> = calls.iter().zip(found).map(kind).collect();
        let mut earned = 0.0;
        let progress: Vec<f64> = kinds
            .iter()
            .map(|kind| {
                earned += match kind {
                    CallMatch::Expected { .. } => 1.0,
                    CallMatch::Extra => 0.0,
                    CallMatch::ExtraWrite => -penalty,
                };
                f64::clamp(earned / total, 0.0, 1.0)
            })
            .collect();
        let missing = (0..self.calls.len()).filter(|index| !found.contains(&Some(*index))).collect();
        let share = progress.last().copied().unwrap_or(0.0);
        Alignment { calls: kinds, missing, progress, share }
    }
}

/// The longest common subsequence: for each call, the expected call it is. Each call is taken as early as it can be.
fn in_order(
    calls: usize,
    expected: usize,
    budget: &mut Budget,
    fits: impl Fn(usize, usize) -> bool,
) -> Result<Vec<Option<usize>>, Exhausted> {
    let width = expected + 1;
    budget.spend((calls as u64 + 1).saturating_mul(width as u64))?;
    // longest[c][e]: the most that calls c.. and expected e.. have in common.
    let mut longest = vec![0u32; (calls + 1) * width];
    let mut fit = vec![false; calls * expected];
    for c in (0..calls).rev() {
        for e in (0..expected).rev() {
            let is_fit = fits(c, e);
            fit[c * expected + e] = is_fit;
            let skip = longest[(c + 1) * width + e].max(longest[c * width + e + 1]);
            let take = if is_fit { longest[(c + 1) * width + e + 1] + 1 } else { 0 };
            longest[c * width + e] = skip.max(take);
        }
    }
    let mut found = vec![None; calls];
    let (mut c, mut e) = (0, 0);
    while c < calls && e < expected {
        let here = longest[c * width + e];
        if fit[c * expected + e] && here == longest[(c + 1) * width + e + 1] + 1 {
            found[c] = Some(e);
            c += 1;
            e += 1;
        } else if here == longest[c * width + e + 1] {
            e += 1;
        } else {
            c += 1;
        }
    }
    Ok(found)
}
