//! Math-Verify's own suite: every triple agrees in compat mode, every difference of the strict rules is accounted for.
//!
//! The triples are read from `.cache/math-verify/triples.json`, which `cargo xtask test` writes from the peer's source
//! distribution; they are not part of this repository.

use merit_maths::{Compat, Conclusion, MathVerifyOptions, MathsConfig, Target};
use merit_maths_compat::verify;
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct Triple {
    id: String,
    gold: String,
    prediction: String,
    expected: bool,
    targets: Option<Vec<Target>>,
    options: Options,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct Options {
    float_rounding: Option<u32>,
    numeric_precision: Option<u32>,
    strict: Option<bool>,
    allow_set_relation_comp: Option<bool>,
}

impl Triple {
    /// The peer's rules with the options its test gave.
    fn config(&self) -> MathsConfig {
        let mut options = MathVerifyOptions::default();
        if let Some(targets) = &self.targets {
            options.targets = targets.clone();
        }
        options.float_rounding = self.options.float_rounding.unwrap_or(options.float_rounding);
        options.numeric_precision = self.options.numeric_precision.unwrap_or(options.numeric_precision);
        options.strict = self.options.strict.unwrap_or(options.strict);
        options.allow_set_relation_comp =
            self.options.allow_set_relation_comp.unwrap_or(options.allow_set_relation_comp);
        MathsConfig { compat: Compat::MathVerify, math_verify: Some(options), ..MathsConfig::default() }
    }
}

/// The triples. Absent: the suite was not fetched, and the test is skipped.
fn triples() -> Option<Vec<Triple>> {
    let path = merit_testing::root().join(".cache/math-verify/triples.json");
    let text = std::fs::read_to_string(merit_testing::present(merit_testing::MATHS_SUITE, path)?).unwrap();
    Some(serde_json::from_str(&text).unwrap())
}

#[test]
fn every_triple_of_the_peers_suite_agrees_in_compat_mode() {
    let Some(triples) = triples() else { return };
    assert_eq!(triples.len(), 275, "Math-Verify 0.9.0 has 275 triples");
    let mut wrong = Vec::new();
    for triple in &triples {
        let config = triple.config();
        config.check().unwrap();
        let verdict = verify(&triple.gold, &triple.prediction, &config);
        if (verdict.conclusion == Conclusion::Pass) != triple.expected {
            wrong.push(format!(
                "{}: expected {}, {:?} by {} ({})",
                triple.id, triple.expected, verdict.conclusion, verdict.rule, verdict.why
            ));
        }
    }
    assert!(wrong.is_empty(), "{} of {} disagree:\n{}", wrong.len(), triples.len(), wrong.join("\n"));
}

/// Where the strict rules come to another verdict than the suite expects, with the reason.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Differences {
    differences: BTreeMap<String, String>,
}

#[test]
fn every_strict_difference_from_the_peers_suite_is_listed_with_its_reason() {
    let Some(triples) = triples() else { return };
    let listed: Differences = toml::from_str(include_str!("../strict_differences.toml")).unwrap();
    let mut found = BTreeMap::new();
    for triple in &triples {
        let verdict = verify(&triple.gold, &triple.prediction, &MathsConfig::default());
        if (verdict.conclusion == Conclusion::Pass) != triple.expected {
            let line = format!(
                "expected {}, {:?} by {} ({})",
                triple.expected, verdict.conclusion, verdict.rule, verdict.why
            );
            found.insert(triple.id.clone(), line);
        }
    }
    let unlisted: Vec<String> = found
        .iter()
        .filter(|(id, _)| !listed.differences.contains_key(*id))
        .map(|(id, line)| format!("{id}: {line}"))
        .collect();
    let stale: Vec<&String> = listed.differences.keys().filter(|id| !found.contains_key(*id)).collect();
    assert!(
        unlisted.is_empty(),
        "differences without a reason in strict_differences.toml:\n{}",
        unlisted.join("\n")
    );
    assert!(stale.is_empty(), "no longer different, remove from strict_differences.toml: {stale:?}");
}
