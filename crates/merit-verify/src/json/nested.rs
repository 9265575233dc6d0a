//! JSON inside strings: a field whose text is itself a document, such as `{"answer": "{\"n\": 4}"}`.

use super::limits::Limits;
use super::parse::parse;
use super::path::{PathPattern, Pointer, named};
use serde_json::Value;

/// Replaces the strings at `places` by the documents they hold; pointers of those that hold none.
pub(crate) fn unfold(value: &mut Value, places: &[PathPattern], limits: &Limits) -> Vec<String> {
    let mut failed = Vec::new();
    if !places.is_empty() {
        walk(value, places, limits, &mut Pointer::default(), &mut failed);
    }
    failed
}

fn walk(
    value: &mut Value,
    places: &[PathPattern],
    limits: &Limits,
    at: &mut Pointer,
    failed: &mut Vec<String>,
) {
    match value {
        Value::String(text) if named(places, at.as_str()) => {
            let parsed = parse(text, limits);
            match Some(&parsed).filter(|parsed| parsed.is_strict()).and_then(|parsed| parsed.value.clone()) {
                Some(document) => *value = document,
                None => failed.push(at.as_str().to_owned()),
            }
        }
        Value::Array(items) => {
            for (i, item) in items.iter_mut().enumerate() {
                let mark = at.index(i);
                walk(item, places, limits, at, failed);
                at.back(mark);
            }
        }
        Value::Object(map) => {
            for (key, item) in map.iter_mut() {
                let mark = at.key(key);
                walk(item, places, limits, at, failed);
                at.back(mark);
            }
        }
        _ => {}
    }
}
