//! What the verifiers say: right, wrong, or that nobody can tell.

use crate::tiny::say;
use crate::words::golden::check;
use crate::words::verify_feed::{feed, judge};
use serde_json::{Value, json};
use std::fmt::Write as _;

const MATHS: &str = r#"
{"gold": "1/2", "response": "So it is \\boxed{0.5}.", "id": "same"}
{"gold": "1/2", "response": "So it is \\boxed{0.6}.", "id": "other"}
{"gold": "", "response": "\\boxed{1}", "id": "no reference"}
"#;
const JSON: &str = r#"
{"output": "{\"n\": 4}", "reference": {"n": 4}, "id": "same"}
{"output": "{\"n\": 4", "reference": {"n": 4}, "id": "cut off"}
{"output": "{\"n\": \"4\"}", "schema": {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}, "id": "ill typed"}
{"output": "null", "reference": null, "id": "null is a value"}
{"output": "1", "settings": {"limits": {"nodes": 1}}, "reference": [1, 2], "id": "the reference is too large"}
"#;
const SQL: &str = r#"
{"script": "CREATE TABLE t (n); INSERT INTO t VALUES (1), (2);", "response": "SELECT n FROM t", "expected": {"query": "SELECT n FROM t ORDER BY 1 DESC"}, "id": "out of order"}
{"script": "CREATE TABLE t (n); INSERT INTO t VALUES (1), (2);", "response": "SELECT max(n) FROM t", "expected": {"rows": [[2]]}, "id": "same"}
{"script": "CREATE TABLE t (n); INSERT INTO t VALUES (1), (2);", "response": "DROP TABLE t", "expected": {"rows": [[2]]}, "id": "not a query"}
{"script": "CREATE TABLE t (n); INSERT INTO t VALUES (1), (2);", "response": "SELECT 1", "expected": {"query": "SELECT m FROM t"}, "id": "bad reference"}
"#;
const TEXT: &str = r#"
{"response": "The Eiffel Tower!", "references": ["Louvre", "eiffel tower"], "id": "same"}
{"response": "Paris or Rome", "reference": "Paris", "settings": {"metric": {"type": "contains"}}, "id": "guessing"}
{"response": "x", "reference": " ", "id": "blank reference"}
{"response": "The tower is 330 metres tall [1]. Pigeons built it yesterday [1].", "sources": [{"id": "1", "text": "The tower is 330 metres tall."}], "id": "cited"}
{"spans": [{"start": 0, "end": 4}], "reference_spans": [{"start": 0, "end": 8}], "settings": {"spans": {"measure": "iou", "pass_at": 0.5}}, "id": "half"}
"#;
const STATE: &str = r#"
{"state": {"a": 1, "b": 2.0}, "goal": {"b": 2, "a": 1}, "id": "there"}
{"state": {"a": 1, "b": 9}, "goal": {"a": 1, "b": 2}, "initial": {"a": 0, "b": 2}, "id": "and one thing broken"}
{"state": {"a": 0}, "goal": {"a": 1}, "initial": {"a": 0}, "id": "idle"}
"#;
const CALLS: &str = r#"
{"tools": [{"name": "find", "parameters": {"type": "object", "required": ["q"], "properties": {"q": {"type": "string"}}}}], "calls": [{"tool": "find", "arguments": "{\"q\": \"x\"}"}], "rules": [{"must_call": {"tool": "find"}}], "id": "fine"}
{"tools": [{"name": "find", "parameters": {"type": "object", "required": ["q"], "properties": {"q": {"type": "string"}}}}], "calls": [{"tool": "fnd", "arguments": {}}, {"tool": "find", "arguments": "{\"p\": 1}"}], "id": "unknown and ill formed"}
{"trace": [{"type": "observation", "text": "user 12"}, {"type": "call", "tool": "get", "arguments": "{\"id\": 12}"}], "rules": [{"args_from_observations": {}}, {"at_most": {"n": 0}}], "id": "by rules alone"}
{"tools": [{"name": "find"}], "calls": [], "id": "nothing was called"}
"#;

/// Whether each record passed, with its score.
fn check_standing(kind: &str, input: &str, expected: &[(Option<bool>, Option<f64>)]) {
    let said = judge(&[kind], input).well();
    let lines = said.json();
    let standing: Vec<_> =
        lines.iter().map(|line| (line["passed"].as_bool(), line["score"].as_f64())).collect();
    assert_eq!(standing, expected, "{kind}\n{}", said.out);
    let ids = |text: &str| -> Vec<Value> {
        text.trim().lines().map(|l| serde_json::from_str::<Value>(l).unwrap()["id"].clone()).collect()
    };
    assert_eq!(ids(&said.out), ids(input));
}

const RIGHT: (Option<bool>, Option<f64>) = (Some(true), Some(1.0));
const WRONG: (Option<bool>, Option<f64>) = (Some(false), Some(0.0));
const UNKNOWN: (Option<bool>, Option<f64>) = (None, None);

#[test]
fn a_verdict_is_right_wrong_or_unknown_and_unknown_is_not_wrong() {
    check_standing("maths", MATHS, &[RIGHT, WRONG, UNKNOWN]);
    // Cut off: nothing of 0.25 for parsing, and content counts only in valid JSON. Ill typed: parsed and with its key, 0.45
    // of 0.65.
    let ill_typed = (Some(false), Some((0.25 + 0.2) / (0.25 + 0.2 + 0.2)));
    check_standing("json", JSON, &[RIGHT, WRONG, ill_typed, RIGHT, UNKNOWN]);
    check_standing("sql", SQL, &[WRONG, RIGHT, WRONG, UNKNOWN]);
    let half = |passed| (Some(passed), Some(0.5));
    check_standing("text", TEXT, &[RIGHT, WRONG, UNKNOWN, half(false), half(true)]);
    check_standing("state", STATE, &[RIGHT, WRONG, WRONG]);
    check_standing("calls", CALLS, &[RIGHT, WRONG, WRONG, UNKNOWN]);
}

#[test]
fn verdicts_are_explained_to_people() {
    let mut text = String::new();
    for (kind, input) in [("json", JSON), ("sql", SQL), ("text", TEXT), ("state", STATE), ("calls", CALLS)] {
        let said = judge(&[kind, "--explain"], input).well();
        writeln!(text, "$ merit verify {kind} --explain\n{}", said.out).unwrap();
    }
    check("verify-explained.txt", &text);
}

#[test]
fn a_key_written_twice_and_a_number_that_loses_digits_decide_nothing() {
    for (kind, record, words) in [
        (
            "json",
            r#"{"output": "4", "reference": {"n": {"a": 1, "a": 2}}}"#,
            "`reference`: the key `/n/a` is",
        ),
        ("json", r#"{"output": "4", "schema": {"type": "string", "type": "integer"}}"#, "`schema`: the key"),
        ("json", r#"{"output": "4", "settings": {"gate": "none", "gate": "valid"}}"#, "`settings`: the key"),
        ("json", r#"{"output": "4", "reference": 18446744073709551617}"#, "`reference`: an integer of more"),
        ("json", r#"{"output": "4", "schema": {"const": 18446744073709551617}}"#, "`schema`: an integer of"),
        ("state", r#"{"state": {"a": 1, "a": 2}, "goal": {"a": 2}}"#, "`state`: the key `/a` is"),
        ("state", r#"{"state": {"a": 2}, "goal": {"a": 1, "a": 2}}"#, "`goal`: the key `/a` is"),
        ("state", r#"{"state": 18446744073709551617, "goal": 18446744073709551616}"#, "`state`: an integer"),
        (
            "calls",
            r#"{"calls": [], "rules": [{"must_call": {"tool": "f", "arguments": {"n": 18446744073709551617}}}]}"#,
            "`rules`: an integer of more",
        ),
    ] {
        let said = judge(&[kind], record);
        let error = said.json().remove(0)["error"].to_string();
        assert!(said.code == Some(2) && error.contains(words), "{record}: {}", said.out);
    }
    let wrong = r#"{"output": "18446744073709551617", "reference": 18446744073709551616}"#;
    assert_eq!(judge(&["json"], wrong).well().json()[0]["passed"], false);
    let call = r#"{"tool": "f", "arguments": {"n": 18446744073709551617}}"#;
    let rule = r#"{"must_call": {"tool": "f", "arguments": {"n": 18446744073709551616}}}"#;
    let wrong = format!("{{\"calls\": [{call}], \"rules\": [{rule}]}}");
    assert_eq!(judge(&["calls"], &wrong).well().json()[0]["passed"], false);
    let step = r#"{"output": "1000000.0005", "schema": {"multipleOf": 1}}"#;
    assert_eq!(judge(&["json"], step).well().json()[0]["passed"], false);
}

#[test]
fn a_verdict_on_mathematics_says_what_was_read_and_which_rule_decided() {
    let said = judge(&["maths", "--explain"], MATHS).well();
    for words in [
        "line 2 (same): right, score 1.0000\n  reference: plain `1/2`",
        "\n  response: boxed `0.6`",
        "(rule `exact-rational`",
        "line 4 (no reference): cannot be judged\n",
        "\n3 records: 1 right, 1 wrong, 1 that cannot be judged, 0 errors\n",
    ] {
        assert!(said.out.contains(words), "{words}\n{}", said.out);
    }
}

#[test]
fn nothing_that_a_response_holds_reaches_the_terminal() {
    let hostile = json!({"response": "\u{1b}[2J\u{202e}x", "reference": "\u{1b}[31my", "id": "\u{1b}[2J"});
    let unknown = json!({"response": "x", "\u{1b}[2J": 1});
    let said = judge(&["text", "--explain"], &format!("{hostile}\n{unknown}\n"));
    assert!(!said.out.contains(['\u{1b}', '\u{202e}']), "{:?}", said.out);
}

#[test]
fn settings_come_from_a_file_from_settings_and_from_the_record() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("f1.toml"), "pass_at = 0.9\n[metric]\ntype = \"f1\"\n").unwrap();
    // Two of three words on either side: precision and recall are 2/3.
    let record = json!({"response": "red green blue", "reference": "red green black"});
    let score = |arguments: &[&str], own: Option<Value>| {
        let mut record = record.clone();
        if let Some(own) = own {
            record["settings"] = own;
        }
        let line =
            feed(dir.path(), &[&["text"], arguments].concat(), &record.to_string()).well().json().remove(0);
        (line["passed"].as_bool().unwrap(), (line["score"].as_f64().unwrap() * 3.0).round())
    };
    assert_eq!(score(&[], None), (false, 0.0));
    assert_eq!(score(&["--settings", "f1.toml"], None), (false, 2.0));
    assert_eq!(score(&["--settings", "f1.toml", "--set", "pass_at=0.5"], None), (true, 2.0));
    assert_eq!(score(&["--set", "metric.type=f1", "--set", "pass_at=0.5"], None), (true, 2.0));
    assert_eq!(score(&["--settings", "f1.toml"], Some(json!({"pass_at": 0.6}))), (true, 2.0));
    assert_eq!(score(&["--settings", "f1.toml"], Some(json!({"metric": {"type": "exact"}}))), (false, 0.0));
}

#[test]
fn a_database_file_is_judged_on_and_never_written() {
    let dir = tempfile::tempdir().unwrap();
    let run = &crate::tiny::reference().path;
    let database = dir.path().join("some.db");
    std::fs::copy(run.join("merit.db"), &database).unwrap();
    let before = std::fs::read(&database).unwrap();
    let record = |response: &str| {
        let expected = json!({"query": "SELECT count(*) FROM episodes"});
        json!({"database": "some.db", "response": response, "expected": expected})
    };
    let input =
        format!("{}\n{}\n", record("SELECT count(key) FROM episodes"), record("DELETE FROM episodes"));
    let said = feed(dir.path(), &["sql"], &input).well();
    let passed: Vec<Option<bool>> = said.json().iter().map(|line| line["passed"].as_bool()).collect();
    assert_eq!(passed, [Some(true), Some(false)], "{}", said.out);
    assert_eq!(std::fs::read(&database).unwrap(), before);
}

#[test]
fn a_file_says_the_same_as_standard_input() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("records.jsonl"), MATHS).unwrap();
    let from_file = say(dir.path(), ["verify", "maths", "records.jsonl"]).well().out;
    assert_eq!(from_file, judge(&["maths"], MATHS).well().out);
    assert_eq!(from_file, judge(&["maths", "-"], MATHS).well().out);
    let windows = format!("\u{feff}{}", MATHS.trim_start().replace('\n', "\r\n"));
    let lines =
        |said: &str| said.lines().map(|l| l.split_once(',').unwrap().1.to_owned()).collect::<Vec<_>>();
    assert_eq!(lines(&judge(&["maths"], &windows).well().out), lines(&from_file));
}
