//! `merit verify calls`: are the tool calls well formed, and is their sequence what it should be?

use super::kept::Kept;
use super::refusal;
use super::verifier::{Common, Judged, Verifier};
use crate::terminal::piece;
use merit_verify::calls::{
    Call, CallChecker, CallProblem, CallVerdict, Rule, RuleVerdict, Step, ToolSpec, TraceRules,
};
use merit_verify::json::{Limits, UnknownKeywords};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::sync::Arc;

/// Lists of tools that are kept compiled.
const TOOLS: usize = 64;

/// Tools and rules that hold for all records; a record's own take their place.
#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct CallsPolicy {
    tools: Vec<ToolSpec>,
    rules: Vec<Rule>,
    unknown_keywords: UnknownKeywords,
    limits: Limits,
}

pub(super) struct Calls {
    policy: CallsPolicy,
    /// Absent: the policy has no tools.
    checker: Option<CallChecker>,
    rules: TraceRules,
    by_tools: Kept<CallChecker>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Record<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    policy: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tools: Option<&'a RawValue>,
    #[serde(default)]
    rules: Option<Vec<Rule>>,
    #[serde(borrow, default)]
    calls: Option<Vec<Made<'a>>>,
    /// Calls among what the agent was shown.
    #[serde(default)]
    trace: Option<Vec<Step>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Made<'a> {
    tool: String,
    /// The text the policy wrote, or the object itself.
    #[serde(borrow)]
    arguments: &'a RawValue,
}

#[derive(Serialize)]
pub(super) struct Verdict {
    /// One for each call, in order. Absent: there are no tools to hold them against.
    #[serde(skip_serializing_if = "Option::is_none")]
    calls: Option<Vec<CallVerdict>>,
    rules: Vec<RuleVerdict>,
}

impl Verifier for Calls {
    type Policy = CallsPolicy;
    type Record<'a> = Record<'a>;
    type Verdict = Verdict;

    fn compile(policy: CallsPolicy) -> Result<Self, String> {
        let CallsPolicy { tools, rules, unknown_keywords, limits } = &policy;
        let checker =
            CallChecker::compile(tools, *unknown_keywords, *limits).map_err(|e| format!("`tools`: {e}"))?;
        let rules = TraceRules::compile(rules.clone(), *limits).map_err(|e| e.to_string())?;
        let checker = (!tools.is_empty()).then_some(checker);
        Ok(Self { policy, checker, rules, by_tools: Kept::new(TOOLS) })
    }

    fn common<'a>(record: &Self::Record<'a>) -> Common<'a> {
        Common { id: record.id, policy: record.policy }
    }

    fn judge(&self, record: &Record<'_>) -> Result<Judged<Verdict>, String> {
        let trace = record.trace()?;
        let own = record.tools.map(|tools| self.checker(tools)).transpose()?;
        let checker = own.as_deref().or(self.checker.as_ref());
        let own_rules = match &record.rules {
            Some(rules) => {
                Some(TraceRules::compile(rules.clone(), self.policy.limits).map_err(|e| e.to_string())?)
            }
            None => None,
        };
        let has_rules = !record.rules.as_ref().unwrap_or(&self.policy.rules).is_empty();
        if checker.is_none() && !has_rules {
            return Err("there is nothing to check; give `tools`, `rules` or both".to_owned());
        }
        let rules = own_rules.as_ref().unwrap_or(&self.rules).apply(&trace).map_err(|e| e.to_string())?;
        let calls =
            checker.map(|checker| trace.iter().filter_map(call).map(|call| checker.check(&call)).collect());
        let verdict = Verdict { calls, rules };
        let passed = verdict.passed();
        Ok(Judged { passed, score: passed.map(|right| f64::from(u8::from(right))), verdict })
    }

    fn explain(verdict: &Verdict) -> Vec<String> {
        let calls = verdict.calls.iter().flatten().enumerate().map(|(i, call)| {
            let problems: Vec<String> = call.problems.iter().map(problem).collect();
            let words = if problems.is_empty() { "well formed".to_owned() } else { problems.join("; ") };
            format!("call {i}: {words}")
        });
        let rules = verdict.rules.iter().map(|rule| {
            let holds = if rule.passed { "holds" } else { "broken" };
            format!("rule {} (`{}`): {holds}: {}", rule.rule, rule.name, piece(&rule.evidence))
        });
        let lines: Vec<String> = calls.chain(rules).collect();
        if lines.is_empty() { vec!["nothing was called".to_owned()] } else { lines }
    }
}

impl Calls {
    fn checker(&self, tools: &RawValue) -> Result<Arc<CallChecker>, String> {
        let CallsPolicy { unknown_keywords, limits, .. } = &self.policy;
        let make = || {
            let specs: Vec<ToolSpec> = serde_json::from_str(tools.get()).map_err(|e| refusal::words(&e))?;
            CallChecker::compile(&specs, *unknown_keywords, *limits).map_err(|e| e.to_string())
        };
        self.by_tools.get(tools.get(), make).map_err(|why| format!("`tools`: {why}"))
    }
}

impl Record<'_> {
    fn trace(&self) -> Result<Vec<Step>, String> {
        match (&self.calls, &self.trace) {
            (Some(calls), None) => calls.iter().map(Made::step).collect(),
            (None, Some(trace)) => Ok(trace.clone()),
            _ => Err("give either `calls` or `trace`, which has observations too".to_owned()),
        }
    }
}

impl Made<'_> {
    fn step(&self) -> Result<Step, String> {
        let raw = self.arguments.get();
        let arguments = match raw.starts_with('"') {
            true => serde_json::from_str(raw).map_err(|e| refusal::words(&e))?,
            false => raw.to_owned(),
        };
        Ok(Step::Call { tool: self.tool.clone(), arguments })
    }
}

impl Verdict {
    /// Every call is well formed and every rule holds. Absent: a check failed, or there was neither call nor rule.
    fn passed(&self) -> Option<bool> {
        let calls = self.calls.as_deref().unwrap_or_default();
        let valid: Option<Vec<bool>> = calls.iter().map(CallVerdict::is_valid).collect();
        let all = valid?.into_iter().chain(self.rules.iter().map(|rule| rule.passed)).collect::<Vec<_>>();
        (!all.is_empty()).then(|| all.into_iter().all(|good| good))
    }
}

fn call(step: &Step) -> Option<Call> {
    match step {
        Step::Call { tool, arguments } => Some(Call { tool: tool.clone(), arguments: arguments.clone() }),
        Step::Observation { .. } => None,
    }
}

fn problem(problem: &CallProblem) -> String {
    let hint = |nearest: &Option<String>| match nearest {
        Some(name) => format!(" (did it mean `{}`?)", piece(name)),
        None => String::new(),
    };
    match problem {
        CallProblem::UnknownTool { nearest } => format!("there is no such tool{}", hint(nearest)),
        CallProblem::InvalidJson { why } => format!("its arguments are not strict JSON: {}", piece(why)),
        CallProblem::TooLarge { why } | CallProblem::CheckFailed { why } => piece(why),
        CallProblem::MissingArgument { path } => format!("argument `{}` is missing", piece(path)),
        CallProblem::UnknownArgument { path, nearest } => {
            format!("there is no argument `{}`{}", piece(path), hint(nearest))
        }
        CallProblem::IllTyped { path, why } | CallProblem::BadValue { path, why } => {
            format!("`{}`: {}", piece(path), piece(why))
        }
    }
}
