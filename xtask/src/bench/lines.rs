//! Picking numbers out of raw lines.

use super::spread::median;
use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use std::collections::BTreeMap;

/// The lines that have every field of `wanted`, an object.
pub(super) fn matching<'a>(lines: &'a [Value], wanted: &'a Value) -> impl Iterator<Item = &'a Value> {
    lines.iter().filter(move |line| {
        wanted.as_object().is_some_and(|fields| fields.iter().all(|(key, value)| &line[key] == value))
    })
}

/// One number per round: `key` of the matching lines, their median where a process printed several.
pub(super) fn per_round(lines: &[Value], wanted: &Value, key: &str) -> Result<Vec<f64>> {
    let mut rounds: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for line in matching(lines, wanted) {
        let value = line[key].as_f64().with_context(|| format!("no number `{key}` in {line}"))?;
        let round = line["round"].as_u64().with_context(|| format!("no `round` in {line}"))?;
        rounds.entry(round).or_default().push(value);
    }
    if rounds.is_empty() {
        bail!("no line has {wanted}: a side did not print what was asked of it");
    }
    Ok(rounds.values().map(|values| median(values)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_round_counts_once_however_often_its_process_repeated() {
        let line = |round, side, ms| json!({"round": round, "side": side, "ms": ms});
        let lines = [
            line(1, "merit", 1.0),
            line(1, "merit", 9.0),
            line(1, "merit", 2.0),
            line(2, "merit", 5.0),
            line(2, "verl", 7.0),
        ];
        assert_eq!(per_round(&lines, &json!({"side": "merit"}), "ms").unwrap(), [2.0, 5.0]);
        let missing = |side, key| per_round(&lines, &json!({"side": side}), key).unwrap_err().to_string();
        assert!(missing("torch", "ms").contains("a side did not print what was asked of it"));
        assert!(missing("merit", "us").contains("no number `us` in"));
    }
}
