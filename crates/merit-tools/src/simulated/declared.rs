//! A declaration, checked: schemas compiled, recorded calls by their arguments.

use super::declaration::{Declaration, Example};
use super::draw::Drawer;
use crate::excerpt::{excerpt, refused};
use crate::{Arguments, ToolAnswer, ToolSpec};
use merit_core::canonical;
use merit_core::{Seed, Task};
use merit_verify::Conclusion;
use merit_verify::json::{Empty, Failure, JsonConfig, JsonVerifier, Limits};
use serde::Deserialize;
use serde_json::{Number, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The key of a task's payload: calls that were recorded for this task.
const KEY: &str = "recorded";
/// Longest arguments, in bytes.
const MAX_ARGUMENTS: usize = 100_000;

/// A tool, ready to be called.
#[derive(Debug)]
pub(crate) struct Declared {
    pub(crate) declaration: Declaration,
    parameters: JsonVerifier,
    returns: Option<JsonVerifier>,
    recorded: Recorded,
}

/// Outputs by the arguments in their one spelling.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Recorded(pub(super) BTreeMap<String, String>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordedCall {
    tool: String,
    arguments: Value,
    output: Value,
}

/// All tools of a set, with names of their own.
pub(crate) fn all(declarations: Vec<Declaration>) -> Result<Vec<Arc<Declared>>, String> {
    if declarations.is_empty() {
        return Err("there are no tools; declare at least one".to_owned());
    }
    let mut names = BTreeSet::new();
    for declaration in &declarations {
        let name = &declaration.name;
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
        if name.is_empty() || name.len() > 64 || !name.chars().all(is_plain) {
            return Err(format!(
                "`{}` is no name: letters, digits, _ - and . only, at most 64",
                excerpt(name, 64)
            ));
        }
        if !names.insert(name.clone()) {
            return Err(format!("two tools are called `{name}`"));
        }
    }
    let read = |declaration: Declaration| {
        let name = declaration.name.clone();
        Declared::read(declaration).map(Arc::new).map_err(|why| format!("tool `{name}`: {why}"))
    };
    declarations.into_iter().map(read).collect()
}

pub(super) fn verifier(schema: &Value) -> Result<JsonVerifier, String> {
    let limits = Limits { bytes: 4 << 20, depth: 32, ..Limits::default() };
    let config =
        JsonConfig { schema: Some(schema.clone()), empty: Empty::Allow, limits, ..JsonConfig::default() };
    JsonVerifier::compile(config).map_err(|error| error.to_string())
}

impl Declared {
    fn read(declaration: Declaration) -> Result<Self, String> {
        let parameters = verifier(&declaration.parameters).map_err(|why| format!("`parameters`: {why}"))?;
        let returns = declaration.returns.as_ref().map(verifier).transpose();
        let returns = returns.map_err(|why| format!("`returns`: {why}"))?;
        let mut declared = Self { declaration, parameters, returns, recorded: Recorded::default() };
        let mut recorded = BTreeMap::new();
        for (i, Example { arguments, output }) in declared.declaration.examples.iter().enumerate() {
            declared.admit(arguments).map_err(|why| format!("example {i}: {why}"))?;
            if recorded.insert(key(arguments), shown(output)).is_some_and(|before| before != shown(output)) {
                return Err(format!("example {i}: the same arguments have another output above"));
            }
        }
        declared.recorded = Recorded(recorded);
        Ok(declared)
    }

    /// What it says of itself. Its example is a recorded call, or arguments drawn from their schema.
    pub(crate) fn spec(&self) -> ToolSpec {
        let Declaration { name, summary, parameters, examples, .. } = &self.declaration;
        let drawn = || {
            let drawer = Drawer::new(parameters).ok()?;
            drawer.draw(&mut Seed::root(0).child(name, 0).stream()).ok()
        };
        let example = examples.first().map(|example| example.arguments.clone()).or_else(drawn);
        ToolSpec {
            name: name.clone(),
            summary: summary.clone(),
            arguments: Arguments::Json { schema: parameters.clone() },
            example: example.map_or_else(|| "{}".to_owned(), |arguments| canonical(&arguments)),
        }
    }

    /// The arguments that `input` writes down, or what to answer instead.
    pub(crate) fn arguments(&self, input: &str) -> Result<Value, ToolAnswer> {
        if input.len() > MAX_ARGUMENTS {
            return Err(refused(format!("the arguments are too long: at most {MAX_ARGUMENTS} bytes")));
        }
        let verdict = self.parameters.verify(input.trim(), None);
        match &verdict.conclusion {
            Conclusion::GraderFailed { why } | Conclusion::BadReference { why } => {
                return Err(ToolAnswer::Broken(format!("the arguments could not be checked: {why}")));
            }
            Conclusion::Unreadable { why } => {
                return Err(refused(format!("the arguments are not a JSON object: {why}")));
            }
            Conclusion::Refused { why } => return Err(refused(why.as_ref())),
            Conclusion::Pass | Conclusion::Fail | Conclusion::NotApplicable { .. } => {}
        }
        let detail = verdict.detail;
        let failures = detail.structure.failures.iter().chain(&detail.types.failures);
        match (detail.valid, detail.value) {
            (Some(true), Some(value @ Value::Object(_))) => Ok(value),
            (Some(true), _) => Err(refused("the arguments must be a JSON object")),
            _ => Err(refused(format!("wrong arguments: {}", first(failures)))),
        }
    }

    /// Whether arguments fit.
    fn admit(&self, arguments: &Value) -> Result<(), String> {
        match self.arguments(&canonical(arguments)) {
            Ok(_) => Ok(()),
            Err(ToolAnswer::Refused(why) | ToolAnswer::Broken(why)) => Err(why),
            Err(other) => Err(format!("{other:?}")),
        }
    }

    /// Whether an output is what the tool returns; any is, where nothing is declared.
    pub(super) fn admit_output(&self, output: &Value) -> Result<(), String> {
        let Some(returns) = &self.returns else { return Ok(()) };
        let verdict = returns.verify(&canonical(output), None);
        if verdict.valid == Some(true) {
            return Ok(());
        }
        let failures = verdict.structure.failures.iter().chain(&verdict.types.failures);
        Err(format!("the output does not fit `returns`: {}", first(failures)))
    }
}

fn first<'f>(mut failures: impl Iterator<Item = &'f Failure>) -> String {
    failures.next().map_or_else(
        || "the schema is not satisfied".to_owned(),
        |failure| format!("`{}`: {}", excerpt(&failure.path, 80), failure.why),
    )
}

impl Recorded {
    /// What is recorded of a tool: by its declaration, and by the task, which goes first.
    pub(super) fn of_task(tool: &Declared, task: &Task) -> Result<Self, String> {
        let mut recorded = tool.recorded.clone();
        let Some(calls) = task.payload.get(KEY) else { return Ok(recorded) };
        let calls =
            Vec::<RecordedCall>::deserialize(calls).map_err(|error| format!("its `{KEY}`: {error}"))?;
        for (i, call) in calls.iter().enumerate().filter(|(_, call)| call.tool == tool.declaration.name) {
            tool.admit(&call.arguments).map_err(|why| format!("call {i} of its `{KEY}`: {why}"))?;
            recorded.0.insert(key(&call.arguments), shown(&call.output));
        }
        Ok(recorded)
    }
}

/// One spelling of arguments: keys in order, and 2.0 the same number as 2.
pub(super) fn key(arguments: &Value) -> String {
    canonical(&with_whole_numbers(arguments))
}

fn with_whole_numbers(value: &Value) -> Value {
    // Floats below 2^53 that have no fraction are whole numbers exactly.
    let whole = |x: f64| (x.fract() == 0.0 && x.abs() < 9e15).then(|| Value::Number(Number::from(x as i64)));
    match value {
        Value::Number(n) if n.is_f64() => n.as_f64().and_then(whole).unwrap_or_else(|| value.clone()),
        Value::Array(items) => items.iter().map(with_whole_numbers).collect(),
        Value::Object(map) => map.iter().map(|(key, item)| (key.clone(), with_whole_numbers(item))).collect(),
        other => other.clone(),
    }
}

/// An output as agents see it.
pub(super) fn shown(output: &Value) -> String {
    match output {
        Value::String(text) => text.clone(),
        other => canonical(other),
    }
}
