//! Many records: order, threads, lines that are no records, and readers that leave.

use crate::tiny::{Said, merit, say};
use crate::words::golden::check;
use crate::words::verify_feed::{feed, judge};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::Stdio;

/// Records of which every third is wrong and every seventh line is none.
fn many(count: usize) -> String {
    let mut text = String::new();
    for i in 0..count {
        let said = if i % 3 == 0 { i + 1 } else { i };
        match i % 7 {
            6 => writeln!(text, "{{\"gold\": \"{i}\", \"respones\": \"\"}}").unwrap(),
            _ => {
                let response = format!("After some thought, \\boxed{{{said}}}.");
                writeln!(text, "{}", json!({"gold": i.to_string(), "response": response, "id": i})).unwrap();
            }
        }
    }
    text
}

#[test]
fn nothing_is_lost_the_order_is_kept_and_threads_change_nothing() {
    let input = many(5000);
    let one = judge(&["maths", "--threads", "1"], &input);
    assert_eq!(one.code, Some(2));
    assert_eq!(one.err, "merit: 714 of 5000 lines could not be judged; the output says why\n");
    for threads in ["2", "16"] {
        assert_eq!(judge(&["maths", "--threads", threads], &input).out, one.out, "{threads} threads");
    }
    for (i, line) in one.json().into_iter().enumerate() {
        assert_eq!(line["line"], i + 1);
        match i % 7 {
            6 => assert!(line["error"].is_string() && line["passed"].is_null(), "{line}"),
            _ => assert_eq!((&line["id"], &line["passed"]), (&json!(i), &json!(i % 3 != 0)), "{line}"),
        }
    }
}

#[test]
fn a_line_that_is_no_record_is_named_with_what_would_work() {
    let good = json!({"gold": "1", "response": "1"}).to_string();
    let cases: [(&str, &[&str]); 6] = [
        (
            "maths",
            &[
                "nonsense",
                "\"text\"",
                "[\"1\", \"1\"]",
                "{\"gold\": \"1\"",
                "{\"gold\": \"1\"}",
                "{\"gold\": 1, \"response\": \"1\"}",
                "{\"gold\": \"1\", \"respone\": \"1\"}",
                "{\"gold\": \"1\", \"gold\": \"1\", \"response\": \"1\"}",
                "{\"gold\": \"1\", \"response\": \"1\", \"settings\": {\"unit\": \"ignored\"}, \"id\": 7}",
                "{\"gold\": \"1\", \"response\": \"1\", \"settings\": {\"units\": \"ignore\"}}",
                "{\"gold\": \"1\", \"response\": \"1\", \"settings\": {\"math_verify\": {}}}",
                "{\"gold\": \"1\", \"response\": \"1\", \"settings\": [1]}",
                "{\"gold\": \"1\", \"response\": \"\\ud800\"}",
            ],
        ),
        (
            "json",
            &[
                "{\"output\": {\"n\": 4}}",
                "{\"output\": \"1\", \"shema\": {}}",
                "{\"output\": \"1\", \"schema\": {\"requird\": []}}",
                "{\"output\": \"1\", \"schema\": 7}",
            ],
        ),
        (
            "sql",
            &[
                "{\"response\": \"SELECT 1\", \"expected\": {\"rows\": [[1]]}}",
                "{\"script\": \"\", \"database\": \"x\", \"response\": \"SELECT 1\", \"expected\": {\"rows\": [[1]]}}",
                "{\"database\": \"absent.db\", \"response\": \"SELECT 1\", \"expected\": {\"rows\": [[1]]}}",
                "{\"script\": \"CREATE TABEL t\", \"response\": \"SELECT 1\", \"expected\": {\"rows\": [[1]]}}",
                "{\"script\": \"\", \"response\": \"SELECT 1\", \"expected\": {}}",
                "{\"script\": \"\", \"response\": \"SELECT 1\", \"expected\": {\"query\": \"SELECT 1\", \"ordered\": true}}",
            ],
        ),
        (
            "text",
            &[
                "{\"response\": \"x\"}",
                "{\"reference\": \"x\"}",
                "{\"response\": \"x\", \"reference\": \"x\", \"references\": [\"x\"]}",
                "{\"response\": \"x\", \"reference\": \"x\", \"sources\": []}",
                "{\"spans\": [], \"reference_spans\": []}",
                "{\"response\": \"x\", \"reference\": \"x\", \"settings\": {\"metric\": {\"type\": \"length\", \"unit\": \"words\", \"min\": 1, \"max\": 2}}}",
            ],
        ),
        ("state", &["{\"state\": {}}", "{\"state\": {}, \"gaol\": {}}"]),
        (
            "calls",
            &[
                "{\"calls\": []}",
                "{\"tools\": [{\"name\": \"f\"}]}",
                "{\"tools\": [{\"nme\": \"f\"}], \"calls\": []}",
                "{\"rules\": [{\"must_cal\": {\"tool\": \"f\"}}], \"calls\": []}",
                "{\"rules\": [{\"before\": [\"f\", \"f\"]}], \"calls\": []}",
            ],
        ),
    ];
    let mut text = String::new();
    for (kind, lines) in cases {
        let said = judge(&[kind], &lines.join("\n"));
        assert_eq!(said.code, Some(2), "{}", said.out);
        let verdicts = said.json();
        assert_eq!(verdicts.len(), lines.len(), "{}", said.out);
        writeln!(text, "$ merit verify {kind}").unwrap();
        for (line, verdict) in lines.iter().zip(&verdicts) {
            assert!(verdict["error"].is_string(), "{line}: {verdict}");
            writeln!(text, "{line}\n  {verdict}").unwrap();
        }
        writeln!(text, "{}[2]\n", said.err).unwrap();
    }
    check("verify-lines.txt", &text);
    // A good line among them is judged all the same.
    let said = judge(&["maths"], &format!("nonsense\n{good}\nnonsense\n"));
    assert_eq!(said.json()[1]["passed"], true, "{}", said.out);
}

#[test]
fn policies_and_files_that_cannot_be_used_are_refused_before_anything_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
    write("key.toml", "several = \"any-one\"\nunit = \"ignored\"\n");
    write("value.toml", "units = \"ignore\"\n");
    write("type.toml", "round_to = \"many\"\n");
    write("garbage.toml", "units = = 3\n");
    write("idle.toml", "[math_verify]\n");
    write("metric.toml", "[metric]\ntype = \"rogue\"\nvariant = \"l\"\n");
    std::fs::create_dir(dir.path().join("folder")).unwrap();
    let cases: [&[&str]; 14] = [
        &["maths", "--settings", "key.toml"],
        &["maths", "--settings", "value.toml"],
        &["maths", "--settings", "type.toml"],
        &["maths", "--settings", "garbage.toml"],
        &["maths", "--settings", "idle.toml"],
        &["maths", "--settings", "absent.toml"],
        &["text", "--settings", "metric.toml"],
        &["maths", "--settings", "key.toml", "--set", "units=ignored"],
        &["maths", "--set", "unit=ignored"],
        &["maths", "--set", "a b=1"],
        &["json", "--set", "weights.parse=-1"],
        &["maths", "absent.jsonl"],
        &["maths", "folder"],
        &["math"],
    ];
    let mut text = String::new();
    for arguments in cases {
        let said = feed(dir.path(), arguments, "{\"gold\": \"1\", \"response\": \"1\"}\n");
        assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{arguments:?}: {}", said.err);
        writeln!(text, "$ merit verify {}\n{}[2]\n", arguments.join(" "), said.err).unwrap();
    }
    check("verify-refused.txt", &text);
}

#[test]
fn whoever_sends_one_record_and_waits_gets_its_verdict() {
    let mut command = merit(Path::new("."));
    command.args(["verify", "text"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    for (response, right) in [("red", true), ("blue", false), ("Red", true)] {
        writeln!(stdin, "{}", json!({"response": response, "reference": "red"})).unwrap();
        stdin.flush().unwrap();
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap()["passed"], right);
    }
    drop(stdin);
    assert_eq!(Said::of(&child.wait_with_output().unwrap()).code, Some(0));
}

#[test]
fn a_reader_that_leaves_ends_it_quietly() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("records.jsonl"), many(20_000)).unwrap();
    let mut command = merit(dir.path());
    command.args(["verify", "maths", "records.jsonl"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut out = child.stdout.take().unwrap();
    out.read_exact(&mut [0]).unwrap();
    drop(out);
    let said = Said::of(&child.wait_with_output().unwrap());
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
}

#[test]
fn no_records_are_no_failure() {
    let said = judge(&["json"], "\n \r\n").well();
    assert_eq!((said.out.as_str(), said.err.as_str()), ("", ""));
    let said = say(Path::new("."), ["verify", "json", "--explain"]).well();
    assert_eq!(said.out, "0 records: 0 right, 0 wrong, 0 that cannot be judged, 0 errors\n");
}
