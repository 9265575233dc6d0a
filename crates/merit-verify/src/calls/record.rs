//! The verifier over records, each with calls, tools and rules; and its verdict in words.

use super::{Call, CallChecker, CallProblem, CallVerdict, Rule, RuleVerdict, Step, ToolSchema, TraceRules};
use crate::json::given::{given, given_as};
use crate::json::{Limits, UnknownKeywords};
use crate::records::{Kept, words};
use merit_core::printable::piece;
use merit_core::{Conclusion, Envelope, Judgement, Verifier};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::sync::Arc;

/// Lists of tools that are kept compiled.
const TOOLS: usize = 64;

/// Tools and rules that hold for all records; a record's own take their place.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CallsConfig {
    /// The tools that may be called.
    pub tools: Vec<ToolSchema>,
    /// What the sequence of calls must obey.
    pub rules: Vec<Rule>,
    /// What to do with keywords of a tool's schema that JSON Schema does not have.
    pub unknown_keywords: UnknownKeywords,
    /// Largest input, and most steps of one check.
    pub limits: Limits,
}

/// Judges records of calls; lists of tools that records bring are compiled once.
#[derive(Debug)]
pub struct CallsVerifier {
    config: CallsConfig,
    /// Absent: the settings have no tools.
    checker: Option<CallChecker>,
    rules: TraceRules,
    by_tools: Kept<String, CallChecker>,
}

/// What was called, and what it is held against.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallsRecord<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, alias = "policy")]
    settings: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tools: Option<&'a RawValue>,
    #[serde(borrow, default)]
    rules: Option<&'a RawValue>,
    #[serde(borrow, default)]
    calls: Option<Vec<Made<'a>>>,
    /// Calls among what the agent was shown.
    #[serde(default)]
    trace: Option<Vec<Step>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Made<'a> {
    tool: String,
    /// The text the policy wrote, or the object itself.
    #[serde(borrow)]
    arguments: &'a RawValue,
}

/// The verdict on every call and every rule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallsDetail {
    /// One for each call, in order. Absent: there are no tools to hold them against.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<Vec<CallVerdict>>,
    /// One for each rule, in order.
    pub rules: Vec<RuleVerdict>,
}

impl Verifier for CallsVerifier {
    type Settings = CallsConfig;
    type Record<'a> = CallsRecord<'a>;
    type Detail = CallsDetail;

    fn compile(config: CallsConfig) -> Result<Self, String> {
        let CallsConfig { tools, rules, unknown_keywords, limits } = &config;
        let checker =
            CallChecker::compile(tools, *unknown_keywords, *limits).map_err(|e| format!("`tools`: {e}"))?;
        let rules = TraceRules::compile(rules.clone(), *limits).map_err(|e| e.to_string())?;
        let checker = (!tools.is_empty()).then_some(checker);
        Ok(Self { config, checker, rules, by_tools: Kept::new(TOOLS) })
    }

    fn envelope<'a>(record: &Self::Record<'a>) -> Envelope<'a> {
        Envelope { id: record.id, settings: record.settings }
    }

    fn judge(&self, record: &CallsRecord<'_>) -> Result<Judgement<CallsDetail>, String> {
        let trace = record.trace()?;
        let own = record.tools.map(|tools| self.checker(tools)).transpose()?;
        let checker = own.as_deref().or(self.checker.as_ref());
        let own_rules = record.rules()?;
        let has_rules = !own_rules.as_ref().unwrap_or(&self.config.rules).is_empty();
        let own_rules = own_rules
            .map(|rules| TraceRules::compile(rules, self.config.limits).map_err(|e| e.to_string()))
            .transpose()?;
        if checker.is_none() && !has_rules {
            return Err("there is nothing to check; give `tools`, `rules` or both".to_owned());
        }
        let rules = own_rules.as_ref().unwrap_or(&self.rules).apply(&trace).map_err(|e| e.to_string())?;
        let calls =
            checker.map(|checker| trace.iter().filter_map(call).map(|call| checker.check(&call)).collect());
        let detail = CallsDetail { calls, rules };
        Ok(Judgement::unmeasured(detail.conclusion(), detail))
    }

    fn explain(verdict: &Judgement<CallsDetail>) -> Vec<String> {
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

impl CallsVerifier {
    fn checker(&self, tools: &RawValue) -> Result<Arc<CallChecker>, String> {
        let CallsConfig { unknown_keywords, limits, .. } = &self.config;
        let make = || {
            given(tools.get())?;
            let specs: Vec<ToolSchema> = serde_json::from_str(tools.get()).map_err(|e| words(&e))?;
            CallChecker::compile(&specs, *unknown_keywords, *limits).map_err(|e| e.to_string())
        };
        self.by_tools.get(tools.get(), make).map_err(|why| format!("`tools`: {why}"))
    }
}

impl CallsRecord<'_> {
    fn rules(&self) -> Result<Option<Vec<Rule>>, String> {
        let Some(rules) = self.rules else { return Ok(None) };
        given_as("rules", rules.get())?;
        serde_json::from_str(rules.get()).map(Some).map_err(|e| format!("`rules`: {}", words(&e)))
    }

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
            true => serde_json::from_str(raw).map_err(|e| words(&e))?,
            false => raw.to_owned(),
        };
        Ok(Step::Call { tool: self.tool.clone(), arguments })
    }
}

impl CallsDetail {
    /// `Pass` where every call is well formed and every rule holds.
    fn conclusion(&self) -> Conclusion {
        let calls = self.calls.as_deref().unwrap_or_default();
        if calls.is_empty() && self.rules.is_empty() {
            return Conclusion::not_applicable("nothing was called");
        }
        let valid: Option<Vec<bool>> = calls.iter().map(CallVerdict::is_valid).collect();
        let holds = self.rules.iter().all(|rule| rule.passed);
        valid.map_or_else(
            || Conclusion::grader_failed("a call could not be checked"),
            |valid| Conclusion::of(holds && valid.into_iter().all(|good| good)),
        )
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
