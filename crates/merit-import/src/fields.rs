//! Looking into JSON: what is missing or of another kind is said with its path.

use crate::ItemError;
use serde_json::{Map, Value};

/// What kind of value it is, with its article.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

pub(crate) fn wrong(field: &str, want: &'static str, value: &Value) -> ItemError {
    ItemError::Type { field: field.to_owned(), want, got: kind(value) }
}

pub(crate) fn object<'a>(value: &'a Value, field: &str) -> Result<&'a Map<String, Value>, ItemError> {
    value.as_object().ok_or_else(|| wrong(field, "an object", value))
}

pub(crate) fn array<'a>(value: &'a Value, field: &str) -> Result<&'a [Value], ItemError> {
    value.as_array().map(Vec::as_slice).ok_or_else(|| wrong(field, "an array", value))
}

pub(crate) fn required<'a>(
    map: &'a Map<String, Value>,
    key: &str,
    field: &str,
) -> Result<&'a Value, ItemError> {
    map.get(key).ok_or_else(|| ItemError::Missing { field: field.to_owned() })
}

/// A string that may be absent or null.
pub(crate) fn optional_text<'a>(
    map: &'a Map<String, Value>,
    key: &str,
    field: &str,
) -> Result<Option<&'a str>, ItemError> {
    match map.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(wrong(field, "a string", other)),
    }
}

/// Names of the fields, for a message.
pub(crate) fn seen(value: &Value) -> String {
    const SHOWN: usize = 8;
    let Some(map) = value.as_object() else { return kind(value).to_owned() };
    let short = |key: &String| format!("`{}`", key.chars().take(40).collect::<String>());
    let names: Vec<String> = map.keys().take(SHOWN).map(short).collect();
    match map.len() {
        0 => "no field".to_owned(),
        n if n > SHOWN => format!("the fields {} and {} more", names.join(", "), n - SHOWN),
        _ => format!("the fields {}", names.join(", ")),
    }
}
