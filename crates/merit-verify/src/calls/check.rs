//! Is a call well formed? Its tool has to exist, its arguments have to be strict JSON and obey the tool's schema.

use super::spec::{Call, ToolSchema};
use crate::json::limits::Budget;
use crate::json::schema::Validation;
use crate::json::{BadLimits, Failure, FailureKind, Limits, Schema, SchemaError, UnknownKeywords, parse};
use merit_core::registry::nearest;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// Why a list of tools cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CheckError {
    /// The schema of a tool's arguments cannot be used.
    #[error("tool `{tool}`: {source}")]
    Schema {
        tool: String,
        /// What is wrong with its schema.
        source: SchemaError,
    },
    /// Two tools have one name.
    #[error("tool `{0}` is listed twice; names have to be unique")]
    Duplicate(String),
    /// The limits cannot be used.
    #[error(transparent)]
    Limits(#[from] BadLimits),
}

/// What is wrong with a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum CallProblem {
    UnknownTool {
        /// A tool with a similar name.
        nearest: Option<String>,
    },
    /// The arguments are not strict JSON, or hold a key twice.
    InvalidJson { why: String },
    /// The arguments pass a size limit.
    TooLarge { why: String },
    /// An argument that the tool needs is not there.
    MissingArgument {
        /// Pointer of the argument.
        path: String,
    },
    /// An argument that the tool does not have.
    UnknownArgument {
        /// Pointer of the argument.
        path: String,
        /// An argument with a similar name.
        nearest: Option<String>,
    },
    /// An argument of the wrong type.
    IllTyped {
        /// Pointer of the argument.
        path: String,
        /// What was demanded and what was found.
        why: String,
    },
    /// An argument of the right type that breaks another rule.
    BadValue {
        /// Pointer of the argument.
        path: String,
        /// What was demanded and what was found.
        why: String,
    },
    /// The check needs too many steps: the schema's fault, not the call's.
    CheckFailed { why: String },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallVerdict {
    /// Everything that is wrong, at most 16; empty for a call that can be carried out.
    pub problems: Vec<CallProblem>,
    /// The arguments, where they could be read strictly.
    pub arguments: Option<Value>,
}

impl CallVerdict {
    /// Whether the call is well formed. Absent when the check could not be carried out; that is neither.
    pub fn is_valid(&self) -> Option<bool> {
        let failed = self.problems.iter().any(|problem| matches!(problem, CallProblem::CheckFailed { .. }));
        (!failed).then_some(self.problems.is_empty())
    }
}

/// Checks calls against a list of tools. May be shared by threads.
#[derive(Debug, Clone)]
pub struct CallChecker {
    tools: BTreeMap<String, Schema>,
    limits: Limits,
}

impl CallChecker {
    /// Compiles the tools' schemas. Arguments that a schema lists no property for are refused, unless it speaks of them
    /// with `additionalProperties` or is put together from other schemas.
    pub fn compile(
        specs: &[ToolSchema],
        unknown: UnknownKeywords,
        limits: Limits,
    ) -> Result<Self, CheckError> {
        limits.check()?;
        let mut tools = BTreeMap::new();
        for spec in specs {
            let schema = Schema::compile(&closed(&spec.parameters), unknown)
                .and_then(|schema| schema.refuse_depth(&limits).map(|()| schema))
                .map_err(|source| CheckError::Schema { tool: spec.name.clone(), source })?;
            if tools.insert(spec.name.clone(), schema).is_some() {
                return Err(CheckError::Duplicate(spec.name.clone()));
            }
        }
        Ok(Self { tools, limits })
    }

    pub fn check(&self, call: &Call) -> CallVerdict {
        let parsed = parse(&call.arguments, &self.limits);
        let mut problems = Vec::new();
        if let Some(limit) = parsed.too_large {
            problems.push(CallProblem::TooLarge { why: limit.to_string() });
        } else if let Some(why) = parsed.objection(0) {
            problems.push(CallProblem::InvalidJson { why });
        }
        let arguments = parsed.value.filter(|_| problems.is_empty());
        match (self.tools.get(&call.tool), &arguments) {
            (None, _) => {
                let nearest = nearest(&call.tool, self.tools.keys().map(String::as_str));
                problems.insert(0, CallProblem::UnknownTool { nearest });
            }
            (Some(schema), Some(arguments)) => problems.extend(self.argument_problems(schema, arguments)),
            (Some(_), None) => {}
        }
        CallVerdict { problems, arguments }
    }

    fn argument_problems(&self, schema: &Schema, arguments: &Value) -> Vec<CallProblem> {
        let mut budget = Budget::new(self.limits.steps);
        let mut validation = Validation::new(schema, &mut budget);
        match validation.run(arguments) {
            Err(exhausted) => vec![CallProblem::CheckFailed { why: exhausted.to_string() }],
            Ok(_) => validation.failures.into_iter().map(|failure| problem(schema, failure)).collect(),
        }
    }
}

/// The schema with its undeclared arguments refused, where it declares some and does not speak of the rest.
fn closed(parameters: &Value) -> Value {
    let mut schema = parameters.clone();
    if let Value::Object(map) = &mut schema {
        let combines = [
            "$ref",
            "allOf",
            "anyOf",
            "oneOf",
            "if",
            "patternProperties",
            "dependentSchemas",
            "dependencies",
        ]
        .iter()
        .any(|keyword| map.contains_key(*keyword));
        if map.contains_key("properties") && !map.contains_key("additionalProperties") && !combines {
            map.insert("additionalProperties".to_owned(), Value::Bool(false));
        }
    }
    schema
}

fn problem(schema: &Schema, failure: Failure) -> CallProblem {
    let Failure { path, kind, why } = failure;
    match kind {
        FailureKind::Missing => CallProblem::MissingArgument { path },
        FailureKind::Unknown => {
            let name = path.strip_prefix('/').unwrap_or(&path);
            let known = schema.source().get("properties").and_then(Value::as_object);
            let nearest = nearest(name, known.into_iter().flat_map(|known| known.keys()).map(String::as_str));
            CallProblem::UnknownArgument { path, nearest }
        }
        FailureKind::Type => CallProblem::IllTyped { path, why },
        FailureKind::Value => CallProblem::BadValue { path, why },
    }
}
