//! A set of rules applied to a trace: one verdict per rule, with the call that decided.

use super::arguments::{ReadCall, read_calls};
use super::grounding::Grounding;
use super::reference::{Alignment, CallMatch, ReferenceActions};
use super::rule::{AtMost, CallPattern, NoRepeat, Rule, RuleError};
use super::spec::Step;
use crate::json::limits::{Budget, Exhausted};
use crate::json::{BadLimits, Limits};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Rules over a trace. Holds nothing else; may be shared by threads.
#[derive(Debug, Clone)]
pub struct TraceRules {
    rules: Vec<Rule>,
    limits: Limits,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RuleVerdict {
    /// Index of the rule.
    pub rule: usize,
    pub name: String,
    pub passed: bool,
    /// From 0 to 1: how far it holds, for rules that know degrees; else 0 or 1.
    pub share: f64,
    /// Index of the call that decided, counted among calls. Absent when no single call did.
    pub call: Option<usize>,
    /// What was found, in words.
    pub evidence: String,
    /// How the calls fit the expected ones; only for `reference_actions`.
    pub alignment: Option<Alignment>,
}

/// Why rules cannot be used, or could not be applied. Neither is the policy's doing.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum TraceError {
    #[error(transparent)]
    Rule(#[from] RuleError),
    /// The limits cannot be used.
    #[error(transparent)]
    Limits(#[from] BadLimits),
    /// Applying a rule takes too long.
    #[error("rule {rule} (`{name}`): {source}")]
    Exhausted { rule: usize, name: &'static str, source: Exhausted },
}

/// What a rule found, before it is named.
struct Finding {
    share: f64,
    call: Option<usize>,
    evidence: String,
}

impl TraceRules {
    pub fn compile(rules: Vec<Rule>, limits: Limits) -> Result<Self, TraceError> {
        limits.check()?;
        rules.iter().enumerate().try_for_each(|(index, rule)| rule.check(index))?;
        Ok(Self { rules, limits })
    }

    pub fn apply(&self, trace: &[Step]) -> Result<Vec<RuleVerdict>, TraceError> {
        let calls = read_calls(trace, &self.limits);
        let apply = |(rule, entry): (usize, &Rule)| {
            let mut budget = Budget::new(self.limits.steps);
            apply_one(entry, trace, &calls, &mut budget)
                .map(|(finding, alignment)| verdict(rule, entry.name(), finding, alignment))
                .map_err(|source| TraceError::Exhausted { rule, name: entry.name(), source })
        };
        self.rules.iter().enumerate().map(apply).collect()
    }
}

fn verdict(rule: usize, name: &str, finding: Finding, alignment: Option<Alignment>) -> RuleVerdict {
    let Finding { share, call, evidence } = finding;
    let has_extra_write = alignment.as_ref().is_some_and(|a| a.calls.contains(&CallMatch::ExtraWrite));
    let passed = share >= 1.0 && !has_extra_write;
    RuleVerdict { rule, name: name.to_owned(), passed, share, call, evidence, alignment }
}

fn apply_one(
    rule: &Rule,
    trace: &[Step],
    calls: &[ReadCall<'_>],
    budget: &mut Budget,
) -> Result<(Finding, Option<Alignment>), Exhausted> {
    let finding = match rule {
        Rule::MustCall(pattern) => must_call(pattern, calls),
        Rule::MustNotCall(pattern) => must_not_call(pattern, calls),
        Rule::Before(first, then) => before(first, then, calls),
        Rule::AtMost(limit) => at_most(limit, calls),
        Rule::NoRepeat(rule) => no_repeat(rule, calls),
        Rule::ArgsFromObservations(rule) => grounded(rule, trace, calls, budget)?,
        Rule::ReferenceActions(rule) => {
            let alignment = rule.align(calls, budget)?;
            return Ok((expected(rule, &alignment), Some(alignment)));
        }
    };
    Ok((finding, None))
}

fn pass(call: Option<usize>, evidence: String) -> Finding {
    Finding { share: 1.0, call, evidence }
}

fn fail(call: Option<usize>, evidence: String) -> Finding {
    Finding { share: 0.0, call, evidence }
}

fn first_fit(pattern: &CallPattern, calls: &[ReadCall<'_>]) -> Option<usize> {
    calls.iter().position(|call| call.tool == pattern.tool && call.has(&pattern.arguments))
}

fn must_call(pattern: &CallPattern, calls: &[ReadCall<'_>]) -> Finding {
    match first_fit(pattern, calls) {
        Some(call) => pass(Some(call), format!("call {call} is the `{}` that was demanded", pattern.tool)),
        None => {
            fail(None, format!("none of {} calls is the `{}` that was demanded", calls.len(), pattern.tool))
        }
    }
}

fn must_not_call(pattern: &CallPattern, calls: &[ReadCall<'_>]) -> Finding {
    match first_fit(pattern, calls) {
        Some(call) => fail(Some(call), format!("call {call} is the `{}` that was forbidden", pattern.tool)),
        None => {
            pass(None, format!("none of {} calls is the `{}` that was forbidden", calls.len(), pattern.tool))
        }
    }
}

fn before(first: &str, then: &str, calls: &[ReadCall<'_>]) -> Finding {
    let earliest = |tool: &str| calls.iter().position(|call| call.tool == tool);
    match (earliest(first), earliest(then)) {
        (_, None) => pass(None, format!("`{then}` was not called")),
        (Some(a), Some(b)) if a < b => {
            pass(Some(b), format!("`{first}` (call {a}) came before `{then}` (call {b})"))
        }
        (_, Some(b)) => fail(Some(b), format!("`{then}` (call {b}) came without an earlier `{first}`")),
    }
}

fn at_most(limit: &AtMost, calls: &[ReadCall<'_>]) -> Finding {
    let is_meant = |call: &ReadCall<'_>| limit.tool.as_deref().is_none_or(|tool| tool == call.tool);
    let meant: Vec<usize> = (0..calls.len()).filter(|index| is_meant(&calls[*index])).collect();
    let what = limit.tool.as_ref().map_or_else(|| "calls".to_owned(), |tool| format!("calls of `{tool}`"));
    let evidence = format!("{} {what}, at most {} allowed", meant.len(), limit.n);
    match meant.get(limit.n) {
        Some(call) => fail(Some(*call), evidence),
        None => pass(None, evidence),
    }
}

fn no_repeat(rule: &NoRepeat, calls: &[ReadCall<'_>]) -> Finding {
    let mut seen: BTreeMap<(&str, String), usize> = BTreeMap::new();
    let checked =
        calls.iter().enumerate().filter(|(_, call)| !rule.except.iter().any(|tool| tool == call.tool));
    for (index, call) in checked {
        if let Some(earlier) = seen.insert(call.spelling(), index) {
            return fail(Some(index), format!("call {index} repeats call {earlier} of `{}`", call.tool));
        }
    }
    pass(None, format!("no call among {} is repeated", calls.len()))
}

fn grounded(
    rule: &Grounding,
    trace: &[Step],
    calls: &[ReadCall<'_>],
    budget: &mut Budget,
) -> Result<Finding, Exhausted> {
    let (checked, invented) = rule.find(trace, calls, budget)?;
    let Some(first) = invented.first() else {
        return Ok(pass(None, format!("all of {checked} argument values were seen before")));
    };
    let share = (checked - invented.len()) as f64 / checked.max(1) as f64;
    let evidence = format!(
        "{} of {checked} argument values were never seen; first `{}` = {} in call {}",
        invented.len(),
        first.argument,
        first.value,
        first.call
    );
    Ok(Finding { share, call: Some(first.call), evidence })
}

fn expected(rule: &ReferenceActions, alignment: &Alignment) -> Finding {
    let made = rule.calls.len() - alignment.missing.len();
    let extra_writes = alignment.calls.iter().filter(|kind| **kind == CallMatch::ExtraWrite).count();
    let first_extra = alignment.calls.iter().position(|kind| *kind == CallMatch::ExtraWrite);
    let missing = alignment.missing.first().map_or_else(String::new, |index| {
        format!("; first missing: {index} (`{}`)", rule.calls[*index].tool)
    });
    let evidence = format!(
        "{made} of {} expected calls made, {extra_writes} unexpected writes{missing}",
        rule.calls.len()
    );
    Finding { share: alignment.share, call: first_extra, evidence }
}
