//! The official JSON Schema test suite, drafts 2020-12 and 7: every case is judged as the suite says, or its schema is
//! refused for a reason that `tests/schema_suite/refused.toml` names.
//!
//! `tests/schema_suite/*.jsonl` holds the required cases of the suite as the Python package jsonschema 4.26.0 carries them, one
//! group of cases per line, under the licence beside them.

use merit_verify::json::{ConfigError, JsonConfig, JsonVerifier, SchemaError, UnknownKeywords};
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const DRAFTS: [Draft; 2] = [
    Draft {
        name: "draft2020-12",
        url: None,
        groups: include_str!("../schema_suite/draft2020-12.jsonl"),
        judged: 952,
        cases: 1257,
    },
    Draft {
        name: "draft7",
        url: Some("http://json-schema.org/draft-07/schema#"),
        groups: include_str!("../schema_suite/draft7.jsonl"),
        judged: 864,
        cases: 913,
    },
];

struct Draft {
    name: &'static str,
    /// What `$schema` has to say, where the suite leaves it to the folder.
    url: Option<&'static str>,
    groups: &'static str,
    /// The cases whose schema is not refused.
    judged: usize,
    /// All of them.
    cases: usize,
}

/// Cases of one schema.
#[derive(Deserialize)]
struct Group {
    file: String,
    description: String,
    schema: Value,
    tests: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    description: String,
    data: Value,
    valid: bool,
}

/// Reasons by their short name, and the groups that are refused for each, as `draft/file: group`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Refused {
    reasons: BTreeMap<String, String>,
    groups: BTreeMap<String, BTreeSet<String>>,
}

/// What came of a draft.
#[derive(Default)]
struct Count {
    judged: usize,
    cases: usize,
    wrong: Vec<String>,
    refused: BTreeMap<String, BTreeSet<String>>,
}

fn compile(group: &Group, url: Option<&str>) -> Result<JsonVerifier, SchemaError> {
    let mut schema = group.schema.clone();
    if let (Some(url), Value::Object(map)) = (url, &mut schema) {
        map.insert("$schema".to_owned(), url.into());
    }
    let unknown_keywords = UnknownKeywords::Ignore;
    let config = JsonConfig { schema: Some(schema), unknown_keywords, ..JsonConfig::default() };
    JsonVerifier::compile(config).map_err(|error| match error {
        ConfigError::Schema(error) => error,
        error => panic!("{}: {error}", group.description),
    })
}

/// The short name of a reason.
fn reason(error: &SchemaError) -> String {
    match error {
        // Which of the two is met first depends on the order of keys in memory.
        SchemaError::Unsupported { keyword, .. } | SchemaError::Keyword { keyword, .. }
            if keyword == "$id" =>
        {
            "other-document".to_owned()
        }
        SchemaError::Unsupported { keyword, .. } | SchemaError::Keyword { keyword, .. } => keyword.clone(),
        SchemaError::Reference { .. } => "other-document".to_owned(),
        SchemaError::Draft(_) => "other-draft".to_owned(),
        error => error.to_string(),
    }
}

impl Count {
    fn run(&mut self, draft: &Draft, group: &Group) {
        let place = format!("{}/{}: {}", draft.name, group.file, group.description);
        self.cases += group.tests.len();
        let verifier = match compile(group, draft.url) {
            Ok(verifier) => verifier,
            Err(error) => {
                self.refused.entry(reason(&error)).or_default().insert(place);
                return;
            }
        };
        self.judged += group.tests.len();
        for case in &group.tests {
            let found = verifier.verify(&case.data.to_string(), None).valid;
            if found != Some(case.valid) {
                self.wrong.push(format!("{place}: {}: found {found:?}", case.description));
            }
        }
    }
}

#[test]
fn every_case_of_the_official_suite_is_judged_as_it_says_or_refused_for_a_listed_reason() {
    let listed: Refused = toml::from_str(include_str!("../schema_suite/refused.toml")).unwrap();
    let mut refused: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for draft in &DRAFTS {
        let mut count = Count::default();
        for line in draft.groups.lines() {
            count.run(draft, &serde_json::from_str(line).unwrap());
        }
        assert!(count.wrong.is_empty(), "{}:\n{}", count.wrong.len(), count.wrong.join("\n"));
        assert_eq!((count.judged, count.cases), (draft.judged, draft.cases), "{}", draft.name);
        for (reason, groups) in count.refused {
            refused.entry(reason).or_default().extend(groups);
        }
    }
    assert!(listed.reasons.keys().eq(listed.groups.keys()), "every reason is explained");
    assert!(
        refused == listed.groups,
        "refused.toml should say\n{}",
        toml::to_string_pretty(&refused).unwrap()
    );
}
