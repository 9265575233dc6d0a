//! One spelling per value: keys sorted, no white space, numbers in one form. What is equal is written alike.

use super::number;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};
use std::cmp::Ordering;

/// When two numbers are the same.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Numbers {
    /// By value: 1 and 1.0 are one number.
    #[default]
    Value,
    /// By value and kind: 1 is an integer and 1.0 is not.
    Typed,
}

/// Whether two values are the same, numbers by value and keys in any order.
pub(crate) fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => number::compare(a, b) == Ordering::Equal,
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| equal(a, b)))
        }
        _ => a == b,
    }
}

/// Writes `value` in its one spelling.
pub(crate) fn write(value: &Value, numbers: Numbers, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(n) => write_number(n, numbers, out),
        Value::String(text) => write_string(text, out),
        Value::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write(item, numbers, out);
            }
            out.push(']');
        }
        Value::Object(map) => {
            let mut pairs: Vec<_> = map.iter().collect();
            pairs.sort_unstable_by_key(|(key, _)| *key);
            out.push('{');
            for (i, (key, item)) in pairs.into_iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write_string(key, out);
                out.push(':');
                write(item, numbers, out);
            }
            out.push('}');
        }
    }
}

fn write_number(n: &Number, numbers: Numbers, out: &mut String) {
    match (numbers, number::integer(n)) {
        (Numbers::Value, Some(whole)) => out.push_str(&whole.to_string()),
        (Numbers::Typed, Some(0)) if n.is_f64() => out.push_str("0.0"),
        _ => out.push_str(&n.to_string()),
    }
}

fn write_string(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if c < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
}

pub(crate) fn spell(value: &Value, numbers: Numbers) -> String {
    let mut out = String::new();
    write(value, numbers, &mut out);
    out
}

/// A short form of a value for evidence.
pub(crate) fn brief(value: &Value) -> String {
    let text = match value {
        Value::Array(items) if items.len() > 8 => return format!("an array of {}", items.len()),
        Value::Object(map) if map.len() > 8 => return format!("an object of {} keys", map.len()),
        value => spell(value, Numbers::Typed),
    };
    clip(&text)
}

/// The first 80 characters of a text.
pub(crate) fn clip(text: &str) -> String {
    merit_core::printable::beginning(text, 80)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keys_are_sorted_and_numbers_have_one_form() {
        let value = json!({"b": 1.0, "a": [-0.0, 1e2, 0.5], "c": "x\n\""});
        assert_eq!(spell(&value, Numbers::Value), r#"{"a":[0,100,0.5],"b":1,"c":"x\u000a\""}"#);
        assert_eq!(spell(&value, Numbers::Typed), r#"{"a":[0.0,100.0,0.5],"b":1.0,"c":"x\u000a\""}"#);
    }

    #[test]
    fn the_spelling_is_json_of_the_same_value() {
        let value = json!({"é\u{7}": [1, {"k": null}], "n": u64::MAX});
        let back: Value = serde_json::from_str(&spell(&value, Numbers::Typed)).unwrap_or_default();
        assert!(equal(&back, &value));
    }
}
