//! Reads a list of calls with literal arguments. Only literals nest, within their own limit.

use super::Pythonic;
use crate::ToolSpec;
use crate::formats::literal::{self, Grammar};
use crate::formats::malformed::shown;
use crate::formats::turn::Reading;
use crate::formats::{MalformedCall, finish};
use merit_core::ToolCall;
use serde_json::{Map, Value};

/// The name at the start of `text`, when a `(` follows it.
pub(super) fn name_of(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let name = word(text);
    let is_name = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    (is_name && text.get(name.len()..)?.starts_with('(')).then_some(name)
}

/// What may be a name: dots and dashes belong to the names of some tools.
fn word(text: &str) -> &str {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '/' | ':');
    let end = text.find(|c: char| !is_part(c)).unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}

/// The list that comes next.
pub(super) fn calls(
    format: &Pythonic,
    reading: &mut Reading<'_>,
    cards: &[ToolSpec],
) -> Result<(), MalformedCall> {
    let fail = |what: &str| finish::wrong(format, what, None, cards);
    if !reading.pass("[") {
        return Err(fail("calls stand in a list"));
    }
    loop {
        reading.space();
        let Some(name) = name_of(reading.rest()) else { return Err(fail("a call is missing in the list")) };
        reading.skip(name.len() + "(".len());
        let call = call(format, name, reading, cards)?;
        reading.call(call)?;
        reading.space();
        let more = reading.pass(",");
        reading.space();
        if reading.pass("]") {
            return Ok(());
        }
        if !more {
            return Err(fail("a `,` or `]` must follow the call"));
        }
    }
}

/// The rest of a call, behind its `(`.
fn call(
    format: &Pythonic,
    name: &str,
    reading: &mut Reading<'_>,
    cards: &[ToolSpec],
) -> Result<ToolCall, MalformedCall> {
    let fail = |what: String| finish::wrong(format, &what, Some(name), cards);
    let mut arguments = Map::new();
    loop {
        reading.space();
        if reading.pass(")") {
            break;
        }
        for (key, value) in argument(name, arguments.is_empty(), reading, cards).map_err(fail)? {
            if arguments.contains_key(&key) {
                return Err(fail(format!("argument `{}` is given twice", shown(&key))));
            }
            arguments.insert(key, value);
        }
        reading.space();
        if !reading.pass(",") && !reading.rest().starts_with(')') {
            return Err(fail(format!("a `,` or `)` is missing in the call of `{}`", shown(name))));
        }
    }
    finish::finish(format, name, Value::Object(arguments), cards)
}

/// `name=value`, `**{…}`, or a value alone where it is clear what it is for.
fn argument(
    tool: &str,
    is_first: bool,
    reading: &mut Reading<'_>,
    cards: &[ToolSpec],
) -> Result<Map<String, Value>, String> {
    if reading.pass("**") {
        return match value(reading)? {
            Value::Object(map) => Ok(map),
            _ => Err("`**` must be followed by a dictionary".to_owned()),
        };
    }
    let key = word(reading.rest());
    let after = reading.rest().get(key.len()..).unwrap_or_default().trim_start();
    if !key.is_empty() && after.starts_with('=') && !after.starts_with("==") {
        reading.skip(reading.rest().len() - after.len() + 1);
        return Ok(Map::from_iter([(key.to_owned(), value(reading)?)]));
    }
    let value = value(reading)?;
    match only_argument(tool, cards) {
        Some(only) if is_first => Ok(Map::from_iter([(only, value)])),
        _ => Err("arguments need their names".to_owned()),
    }
}

fn value(reading: &mut Reading<'_>) -> Result<Value, String> {
    let (value, length) = literal::prefix(reading.rest(), Grammar::Python).map_err(|fault| fault.text())?;
    reading.skip(length);
    Ok(value)
}

/// The argument of a tool that has exactly one.
fn only_argument(tool: &str, cards: &[ToolSpec]) -> Option<String> {
    let schema = finish::card_of(tool, cards)?.arguments.schema();
    let mut names = schema.get("properties")?.as_object()?.keys();
    names.next().filter(|_| names.next().is_none()).cloned()
}
