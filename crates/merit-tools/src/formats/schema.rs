//! Arguments held against a tool's schema, in words that the agent can learn from.
//!
//! Tools that take text judge their one argument themselves. A schema that the validator does not understand checks nothing
//! here: the tool that came with it will.

use super::malformed::shown;
use crate::{Arguments, ToolSpec};
use merit_core::canonical;
use merit_core::registry::nearest;
use merit_verify::Conclusion;
use merit_verify::json::{Failure, FailureKind, JsonConfig, JsonVerifier, Limits, UnknownKeywords};
use serde_json::Value;

/// Says what is wrong with the arguments, if anything is.
pub(super) fn check(card: &ToolSpec, arguments: &Value) -> Result<(), String> {
    let Arguments::Json { schema } = &card.arguments else { return Ok(()) };
    let limits = Limits { bytes: 8 << 20, depth: super::literal::MAX_DEPTH + 2, ..Limits::default() };
    let config = JsonConfig {
        schema: Some(schema.clone()),
        unknown_keywords: UnknownKeywords::Ignore,
        limits,
        ..JsonConfig::default()
    };
    let Ok(verifier) = JsonVerifier::compile(config) else { return Ok(()) };
    let verdict = verifier.verify(&canonical(arguments), None);
    match &verdict.conclusion {
        Conclusion::Refused { why } | Conclusion::GraderFailed { why } => {
            Err(format!("the arguments: {why}"))
        }
        _ if verdict.valid != Some(false) => Ok(()),
        _ => {
            let mut failures = verdict.structure.failures.iter().chain(&verdict.types.failures);
            Err(failures.next().map_or_else(|| "the arguments do not fit".to_owned(), |f| told(f, schema)))
        }
    }
}

fn told(failure: &Failure, schema: &Value) -> String {
    let place = failure.path.trim_start_matches('/').replace("~1", "/").replace("~0", "~");
    let name = shown(&place);
    match failure.kind {
        FailureKind::Missing => format!("argument `{name}` is missing"),
        FailureKind::Unknown => format!("unknown argument `{name}`{}", known(&place, schema)),
        FailureKind::Type | FailureKind::Value if name.is_empty() => {
            format!("the arguments: {}", failure.why)
        }
        FailureKind::Type | FailureKind::Value => format!("argument `{name}`: {}", failure.why),
    }
}

/// The argument that may have been meant.
fn known(name: &str, schema: &Value) -> String {
    let names = schema.get("properties").and_then(Value::as_object);
    let nearest = names.and_then(|names| nearest(name, names.keys().map(String::as_str)));
    nearest.map_or_else(String::new, |nearest| format!("; did you mean `{nearest}`?"))
}
