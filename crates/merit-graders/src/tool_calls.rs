//! The share of tool calls that are well formed: the tool exists, the arguments are strict JSON and obey its schema.
//!
//! Specifications stand with the task (imported files keep them at `/tools`) or in the reward's file. Without any call the
//! term is not applicable, and so it is for a task without specifications; specifications that cannot be used are the
//! grader's failure. `max_calls` counts only the first calls of an episode, so that a policy cannot mend its share by
//! piling up trivial calls. Told by turn.

use crate::KEPT;
use merit_reward::prelude::*;
use merit_reward::terms::NO_CALLS;
use merit_verify::calls::{Call, CallChecker, CallProblem, ToolSchema};
use merit_verify::json::{Limits, UnknownKeywords};
use merit_verify::records::Kept;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;

/// The share of tool calls that are well formed by the tools' own specifications.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolCalls {
    /// The tools' specifications: a place in the task's payload, or the list itself.
    #[serde(default = "tools")]
    pub specs: Reference,
    /// What to do with keywords of a schema that JSON Schema does not have.
    #[serde(default)]
    pub unknown_keywords: UnknownKeywords,
    /// Only this many calls count, the first of the episode. Absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_calls: Option<usize>,
    /// Sizes and work of one check.
    #[serde(default)]
    pub limits: Limits,
}

impl Component for ToolCalls {
    const ABOUT: About = About {
        name: "tool-calls",
        summary: "The share of tool calls that are well formed by the tools' own specifications.",
        paper: "",
    };
    const EXAMPLE: &'static str = r#"
specs = { value = [
  { name = "calc", parameters = { type = "object", required = ["expression"], properties = { expression = { type = "string" } } } },
] }
max_calls = 8
"#;

    fn check(&self) -> Result<(), Refusal> {
        self.specs.check()?;
        self.limits.check().map_err(|why| Refusal::new(format!("`limits`: {why}")))?;
        if self.max_calls == Some(0) {
            return Err(Refusal::new(NO_CALLS));
        }
        match &self.specs {
            Reference::Answer => {
                let why =
                    "`specs` cannot be the task's answer; give a `pointer` into its payload or a `value`";
                Err(Refusal::new(why))
            }
            Reference::Pointer(_) | Reference::Value(_) => Ok(()),
        }
    }
}

impl PreparedTerm for ToolCalls {
    type Prepared = Prepared;

    fn kind(&self) -> TermKind {
        TermKind::VERDICT
    }

    fn prepare(&self) -> Result<Prepared, Refusal> {
        let fixed = match &self.specs {
            Reference::Value(specs) => Some(Arc::new(self.checker(specs).map_err(Refusal::new)?)),
            Reference::Answer | Reference::Pointer(_) => None,
        };
        Ok(Prepared { fixed, kept: Kept::new(KEPT) })
    }

    fn evaluate(&self, with: &Prepared, context: &EvalContext<'_>) -> Result<TermResult, TermResult> {
        let episode = context.episode;
        let mut left = self.max_calls.unwrap_or(usize::MAX);
        if episode.turns.iter().all(|turn| turn.calls.is_empty()) {
            return Err(TermResult::not_applicable("no tool was called"));
        }
        let checker = self.checker_of(with, episode)?;
        let (mut good, mut counted) = (0, 0);
        let mut first = None;
        let mut turns = Vec::with_capacity(episode.turns.len());
        for turn in &episode.turns {
            let here = turn.calls.len().min(left);
            let mut valid = 0;
            for record in turn.calls.iter().take(here) {
                let call = Call { tool: record.call.tool.clone(), arguments: record.call.input.clone() };
                let verdict = checker.check(&call);
                let Some(is_valid) = verdict.is_valid() else {
                    let why = verdict.problems.first().map_or_else(String::new, words);
                    return Err(TermResult::broken(format!(
                        "a call of `{}` could not be checked: {why}",
                        call.tool
                    )));
                };
                valid += usize::from(is_valid);
                if first.is_none() {
                    let problem = verdict.problems.first();
                    first = problem.map(|p| format!("; turn {}, `{}`: {}", turn.index, call.tool, words(p)));
                }
            }
            turns.push((here > 0).then(|| valid as f64 / here as f64));
            left -= here;
            good += valid;
            counted += here;
        }
        let finding =
            format!("{good} of {counted} counted calls are well formed{}", first.unwrap_or_default());
        Ok(TermResult::value(good as f64 / counted as f64, Evidence::new("parsed", finding))
            .with_turns(turns))
    }
}

/// The checker of fixed specifications, or those of specifications that stand with tasks.
pub struct Prepared {
    /// Absent: the specifications stand with the task.
    fixed: Option<Arc<CallChecker>>,
    kept: Kept<Value, CallChecker>,
}

fn tools() -> Reference {
    Reference::Pointer("/tools".to_owned())
}

impl ToolCalls {
    fn checker(&self, specs: &Value) -> Result<CallChecker, String> {
        let read = Vec::<ToolSchema>::deserialize(specs)
            .map_err(|why| format!("`specs` is no list of tools: {why}"))?;
        CallChecker::compile(&read, self.unknown_keywords, self.limits)
            .map_err(|why| format!("`specs`: {why}"))
    }
}

impl ToolCalls {
    fn checker_of(&self, with: &Prepared, episode: &Episode) -> Result<Arc<CallChecker>, TermResult> {
        if let Some(checker) = &with.fixed {
            return Ok(Arc::clone(checker));
        }
        let specs = self.specs.of(episode).filter(|specs| !specs.is_null());
        let specs = specs.ok_or_else(|| TermResult::not_applicable(self.specs.missing()))?;
        with.kept.get(&specs, || self.checker(&specs)).map_err(TermResult::broken)
    }
}

fn words(problem: &CallProblem) -> String {
    let hint = |nearest: &Option<String>| {
        nearest.as_ref().map_or_else(String::new, |name| format!(" (is `{name}` meant?)"))
    };
    match problem {
        CallProblem::UnknownTool { nearest } => format!("there is no such tool{}", hint(nearest)),
        CallProblem::InvalidJson { why } => format!("its arguments are not strict JSON: {why}"),
        CallProblem::TooLarge { why } | CallProblem::CheckFailed { why } => why.clone(),
        CallProblem::MissingArgument { path } => format!("argument `{path}` is missing"),
        CallProblem::UnknownArgument { path, nearest } => {
            format!("there is no argument `{path}`{}", hint(nearest))
        }
        CallProblem::IllTyped { path, why } | CallProblem::BadValue { path, why } => {
            format!("`{path}`: {why}")
        }
    }
}
