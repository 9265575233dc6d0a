//! `merit export`: what it says when it is done, and to what it cannot do.

use crate::tiny::say;
use crate::words::golden::{block, check};
use std::fmt::Write as _;
use tempfile::TempDir;

/// Three tries at one task, of which one broke, and one try at another.
const TRIES: &str = r#"{"prompt": "6 times 7?", "response": "42", "answer": "42", "reward": 1.0, "id": "q1"}
{"prompt": "6 times 7?", "response": "41", "answer": "42", "reward": 0.0, "id": "q1"}
{"prompt": "6 times 7?", "response": "", "answer": "42", "error": "no reply", "id": "q1"}
{"prompt": "2 plus 2?", "response": "4", "answer": "4", "reward": 1.0, "id": "q2"}
"#;

fn desk() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("tries.jsonl"), TRIES).unwrap();
    say(dir.path(), ["import", "tries.jsonl", "--out", "tries", "--solved-at", "1"]).well();
    say(dir.path(), ["import", "tries.jsonl", "--out", "unjudged"]).well();
    std::fs::write(dir.path().join("there.jsonl"), "mine").unwrap();
    dir
}

#[test]
fn every_shape_is_written_and_what_was_left_out_is_named() {
    let dir = desk();
    let mut text = String::new();
    for arguments in [
        &["export", "tries", "--as", "messages"][..],
        &["export", "tries", "--as", "messages", "--solved", "--best"],
        &["export", "tries", "--as", "prompt-completion", "--min-reward", "0.5"],
        &["export", "tries", "--as", "preference"],
        &["export", "tries", "--as", "messages", "--pairs"],
        &["export", "tries", "--as", "grpo"],
        &["export", "tries", "--as", "verl", "--phase", "import"],
        &["export", "tries", "--as", "messages", "--out", "rows.jsonl"],
    ] {
        let (said, conversation) = block(dir.path(), arguments);
        said.well();
        text.push_str(&conversation);
    }
    let written = std::fs::read_to_string(dir.path().join("rows.jsonl")).unwrap();
    writeln!(text, "rows.jsonl:\n{written}").unwrap();
    check("export.txt", &text);
}

#[test]
fn what_cannot_be_exported_is_refused_and_nothing_is_overwritten() {
    let dir = desk();
    let mut text = String::new();
    for (code, arguments) in [
        (2, &["export", "tries"][..]),
        (2, &["export", "absent", "--as", "messages"]),
        (2, &["export", "tries", "--as", "mesages"]),
        (2, &["export", "tries", "--as", "parquet"]),
        (2, &["export", "tries", "--as", "messages", "--phase", "imports"]),
        (2, &["export", "tries", "--as", "messages", "--min-reward", "nan"]),
        (2, &["export", "tries", "--as", "messages", "--best", "--pairs"]),
        (2, &["export", "tries", "--as", "preference", "--best"]),
        (2, &["export", "tries", "--solved", "--metrics", "metrics.csv"]),
        (2, &["export", "tries", "--as", "messages", "--out", "there.jsonl"]),
        (2, &["export", "tries", "--metrics", "metrics.csv"]),
        (2, &["export", "tries", "--tensorboard", "board"]),
        (2, &["export", "tries", "--as", "messages", "--out", "no/such/folder.jsonl"]),
        (1, &["export", "tries", "--as", "messages", "--min-reward", "2", "--out", "none.jsonl"]),
        (1, &["export", "unjudged", "--as", "messages"]),
    ] {
        let (said, conversation) = block(dir.path(), arguments);
        assert_eq!((said.code, said.out.as_str()), (Some(code), ""), "{conversation}");
        text.push_str(&conversation);
    }
    check("export-refused.txt", &text);
    assert_eq!(std::fs::read_to_string(dir.path().join("there.jsonl")).unwrap(), "mine");
    let mut names: Vec<String> = std::fs::read_dir(dir.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(names, ["there.jsonl", "tries", "tries.jsonl", "unjudged"], "something was left behind");
}
