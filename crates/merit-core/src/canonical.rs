//! One spelling for each JSON value, for keys and hashes: maps keep the order they were filled in.

use serde_json::Value;

/// JSON with sorted keys and no spaces: equal values always give the same text.
pub fn canonical(value: &Value) -> String {
    sorted(value).to_string()
}

/// The same value with the keys of every object in order, whatever order the map itself keeps.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
        Value::Object(map) => {
            let mut entries: Vec<(&String, &Value)> = map.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            Value::Object(entries.into_iter().map(|(key, value)| (key.clone(), sorted(value))).collect())
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::canonical;
    use serde_json::{Value, json};

    #[test]
    fn the_order_of_fields_does_not_show_and_everything_else_does() {
        let value: Value = serde_json::from_str(r#"{"b":[{"d":3,"c":2}],"a":1}"#).unwrap();
        assert_eq!(canonical(&value), r#"{"a":1,"b":[{"c":2,"d":3}]}"#);
        assert_ne!(canonical(&json!([1, 2])), canonical(&json!([2, 1])));
    }
}
