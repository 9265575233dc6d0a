//! From a name and arguments to a call: the part that all formats share.
//!
//! Arguments may be an object, the text of one (some models encode twice), or nothing where the tool needs nothing. They are
//! held against the tool's schema, and the input is canonical. A call of an unknown tool is a call all the same.

use super::literal::{self, Grammar};
use super::malformed::shown;
use super::{CallFormat, MalformedCall, schema};
use crate::ToolSpec;
use merit_core::ToolCall;
use merit_core::canonical;
use serde_json::{Map, Value, json};

pub(super) fn card_of<'a>(name: &str, cards: &'a [ToolSpec]) -> Option<&'a ToolSpec> {
    cards.iter().find(|card| card.name == name)
}

/// The error of `format` for a call of `name`.
pub(super) fn wrong<F: CallFormat + ?Sized>(
    format: &F,
    what: &str,
    name: Option<&str>,
    cards: &[ToolSpec],
) -> MalformedCall {
    let named = name.and_then(|name| card_of(name, cards));
    MalformedCall::teach(format, what, named.or_else(|| cards.first().filter(|_| name.is_none())))
}

/// The call that a JSON value describes: an object with a name and arguments.
pub(super) fn call_of<F: CallFormat + ?Sized>(
    format: &F,
    value: Value,
    cards: &[ToolSpec],
) -> Result<ToolCall, MalformedCall> {
    let Value::Object(mut object) = value else {
        return Err(wrong(format, "a call is a JSON object", None, cards));
    };
    let name = match object.remove("name") {
        Some(Value::String(name)) if !name.trim().is_empty() => name.trim().to_owned(),
        Some(_) => return Err(wrong(format, "the `name` must be the name of a tool", None, cards)),
        None => return Err(wrong(format, "the call has no `name`", None, cards)),
    };
    let fail = |what: &str| wrong(format, what, Some(&name), cards);
    let arguments = match (object.remove("arguments"), object.remove("parameters")) {
        (Some(_), Some(_)) => return Err(fail("both `arguments` and `parameters` are given")),
        (Some(arguments), None) | (None, Some(arguments)) => arguments,
        (None, None) => return Err(fail("the call has no `arguments`")),
    };
    // Numbers of calls and the like are of no use here, but no fault of the agent either.
    if let Some(other) = object.keys().find(|key| !matches!(key.as_str(), "id" | "type")) {
        let what = format!("`{}` does not belong beside the name; put it into the arguments", shown(other));
        return Err(fail(&what));
    }
    finish(format, &name, arguments, cards)
}

/// The call of `name` with these arguments.
pub(super) fn finish<F: CallFormat + ?Sized>(
    format: &F,
    name: &str,
    arguments: Value,
    cards: &[ToolSpec],
) -> Result<ToolCall, MalformedCall> {
    let fail = |what: String| wrong(format, &what, Some(name), cards);
    let arguments = Value::Object(object_of(arguments).map_err(fail)?);
    let input = match card_of(name, cards) {
        None => canonical(&arguments),
        Some(card) => {
            schema::check(card, &arguments).map_err(fail)?;
            card.arguments.input(&arguments).map_err(fail)?
        }
    };
    Ok(ToolCall { tool: name.to_owned(), input })
}

fn object_of(arguments: Value) -> Result<Map<String, Value>, String> {
    let kind = match arguments {
        Value::Object(map) => return Ok(map),
        Value::Null => return Ok(Map::new()),
        Value::String(text) if text.trim().is_empty() => return Ok(Map::new()),
        Value::String(text) => match literal::whole(&text, Grammar::Json) {
            Ok(Value::Object(map)) => return Ok(map),
            _ => "a string",
        },
        Value::Array(_) => "an array",
        Value::Number(_) => "a number",
        Value::Bool(_) => "a boolean",
    };
    Err(format!("the arguments are {kind}, not a JSON object"))
}

/// The JSON arguments of a call that is to be written; a call that no card describes is written as it can be.
pub(super) fn arguments_of(call: &ToolCall, cards: &[ToolSpec]) -> Value {
    let described = card_of(&call.tool, cards).and_then(|card| card.arguments.arguments(&call.input).ok());
    described
        .or_else(|| serde_json::from_str(&call.input).ok().filter(Value::is_object))
        .unwrap_or_else(|| json!({ "input": call.input }))
}

/// A call as a JSON object, the name first; `key` is what its arguments are called.
pub(super) fn object(call: &ToolCall, key: &str, cards: &[ToolSpec]) -> String {
    format!("{{\"name\": {}, \"{key}\": {}}}", json!(call.tool), canonical(&arguments_of(call, cards)))
}
