//! Writes calls with Python literals.

use super::{STOPS, TAG};
use crate::ToolSpec;
use crate::formats::finish;
use merit_core::ToolCall;
use serde_json::{Value, json};

/// One call; arguments whose names are no names in Python come in a dictionary.
pub(super) fn call(call: &ToolCall, cards: &[ToolSpec]) -> String {
    let arguments = finish::arguments_of(call, cards);
    let entries = arguments.as_object().into_iter().flatten();
    let argument = |(key, value): (&String, &Value)| {
        if is_identifier(key) {
            format!("{key}={}", literal(value))
        } else {
            format!("**{{{}: {}}}", text(key), literal(value))
        }
    };
    let mut written: Vec<String> = entries.map(argument).collect();
    written.sort_unstable();
    format!("{}({})", call.tool, written.join(", "))
}

fn is_identifier(key: &str) -> bool {
    let begins = key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    begins && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn literal(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(string) => text(string),
        Value::Array(items) => format!("[{}]", items.iter().map(literal).collect::<Vec<_>>().join(", ")),
        Value::Object(map) => {
            let entries = map.iter().map(|(key, value)| format!("{}: {}", text(key), literal(value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
    }
}

/// A string. Every escape that JSON is written with means the same in Python.
fn text(string: &str) -> String {
    crate::formats::hide::in_json(json!(string).to_string(), &[TAG, STOPS[0], STOPS[1], STOPS[2]])
}
