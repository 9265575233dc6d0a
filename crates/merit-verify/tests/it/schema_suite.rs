//! The public JSON Schema test suite, where a copy of it is at hand.
//!
//! `MERIT_SCHEMA_SUITE=path/to/JSON-Schema-Test-Suite/tests cargo test -p merit-verify --test it schema_suite -- --ignored`

use merit_verify::json::{ConfigError, JsonConfig, JsonVerifier, SchemaError, UnknownKeywords};
use serde_json::Value;
use std::path::Path;

#[derive(Default)]
struct Count {
    agreeing: usize,
    refused: usize,
    wrong: Vec<String>,
}

#[test]
#[ignore = "needs a copy of the public suite in MERIT_SCHEMA_SUITE"]
fn every_schema_is_either_refused_or_judged_as_the_suite_says() {
    let root = std::env::var("MERIT_SCHEMA_SUITE").unwrap();
    for (draft, dialect) in
        [("draft2020-12", None), ("draft7", Some("http://json-schema.org/draft-07/schema#"))]
    {
        let mut count = Count::default();
        let mut files: Vec<_> = std::fs::read_dir(Path::new(&root).join(draft))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        files.sort();
        for file in files.iter().filter(|file| file.extension().is_some_and(|ext| ext == "json")) {
            let groups: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
            for group in groups.as_array().unwrap() {
                run_group(group, dialect, file, &mut count);
            }
        }
        let Count { agreeing, refused, wrong } = count;
        assert!(
            wrong.is_empty(),
            "{draft}: {agreeing} agree, {refused} refused, {} wrong:\n{}",
            wrong.len(),
            wrong.join("\n")
        );
        assert!(agreeing > 700, "{draft}: only {agreeing} cases were judged, {refused} were refused");
        eprintln!("{draft}: {agreeing} agree, {refused} refused");
    }
}

fn run_group(group: &Value, dialect: Option<&str>, file: &Path, count: &mut Count) {
    let mut schema = group["schema"].clone();
    if let (Some(dialect), Value::Object(map)) = (dialect, &mut schema) {
        map.insert("$schema".to_owned(), dialect.into());
    }
    let tests = group["tests"].as_array().unwrap();
    let config = JsonConfig {
        schema: Some(schema),
        unknown_keywords: UnknownKeywords::Ignore,
        ..JsonConfig::default()
    };
    let verifier = match JsonVerifier::compile(config) {
        Ok(verifier) => verifier,
        Err(ConfigError::Schema(error)) => {
            if std::env::var("SHOW_REFUSED").is_ok() && !matches!(error, SchemaError::Unsupported { .. }) {
                eprintln!("refused {} / {}: {error}", file.display(), group["description"]);
            }
            count.refused += tests.len();
            return;
        }
        Err(error) => panic!("{error}"),
    };
    for test in tests {
        let verdict = verifier.verify(&test["data"].to_string(), None);
        if verdict.valid == test["valid"].as_bool() {
            count.agreeing += 1;
        } else {
            let name = file.file_name().unwrap().to_string_lossy();
            count.wrong.push(format!(
                "{name} / {} / {}: found {:?}",
                group["description"], test["description"], verdict.valid
            ));
        }
    }
}
