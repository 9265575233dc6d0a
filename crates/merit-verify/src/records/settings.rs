//! Settings laid over settings: those of a record or of the command line over those of a file.

use serde_json::Value;

/// Lays `change` over `base`, table by table. A table of another `type` replaces the old one: it has other settings.
pub fn lay_over(base: &mut Value, change: Value) {
    match (base, change) {
        (Value::Object(base), Value::Object(change)) => {
            let other_type =
                change.get("type").is_some_and(|new| base.get("type").is_some_and(|old| old != new));
            if other_type {
                *base = change;
                return;
            }
            for (key, value) in change {
                lay_over(base.entry(key).or_insert(Value::Null), value);
            }
        }
        (base, change) => *base = change,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(base: Value, change: Value, expected: Value) {
        let mut merged = base;
        lay_over(&mut merged, change);
        assert_eq!(merged, expected);
    }

    #[test]
    fn settings_are_laid_over_table_by_table() {
        check(
            json!({"a": {"b": 1, "c": 2}, "d": 3}),
            json!({"a": {"b": 9}}),
            json!({"a": {"b": 9, "c": 2}, "d": 3}),
        );
    }

    #[test]
    fn another_type_has_other_settings() {
        let base = json!({"metric": {"type": "rouge", "variant": "l"}});
        check(base.clone(), json!({"metric": {"type": "exact"}}), json!({"metric": {"type": "exact"}}));
        let finer = json!({"metric": {"type": "rouge", "variant": "1"}});
        check(base, finer.clone(), finer);
    }
}
