//! What `merit export` writes, in the trainers that it is for: TRL trains on it, verl reads it.

use crate::tiny::{reference, say};
use merit_testing::{TRAINERS, present, root};
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

/// What is exported: its shape, the trainer that it is for, the ending of the file.
const EXPORTED: [(&str, &str, &str); 5] = [
    ("messages", "sft", "jsonl"),
    ("messages", "sft", "parquet"),
    ("preference", "dpo", "parquet"),
    ("grpo", "grpo", "parquet"),
    ("verl", "verl", "parquet"),
];

/// What the trainers say of all of it, in one process: most of its time goes by before the first of them begins.
fn loaded(python: &Path) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    let run = reference().path.display().to_string();
    let mut command = Command::new(python);
    command.arg(root().join("benchmarks/peers/trainers.py"));
    let mut rows: Vec<usize> = Vec::new();
    for (shape, trainer, ending) in EXPORTED {
        let file = folder.path().join(format!("{shape}.{ending}"));
        let told = ["export", &run, "--as", shape, "--phase", "train", "--out", file.to_str().unwrap()];
        let told = say(folder.path(), told).well().err;
        rows.push(told.split_whitespace().next().unwrap().parse().unwrap());
        command.arg(trainer).arg(file);
    }
    let output = command.output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}{err}");
    // The trainers say what they like besides.
    let lines: Vec<&str> = out.lines().filter(|line| line.starts_with("{\"rows\"")).collect();
    assert_eq!(lines.len(), EXPORTED.len(), "{out}");
    let said: Vec<Value> = lines.into_iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (said, rows) in said.iter().zip(rows) {
        assert_eq!(said["rows"], rows, "{said}");
    }
    said
}

/// What the trainer said of the rows in this ending. Absent: the trainers were not fetched.
fn said(trainer: &str, ending: &str) -> Option<&'static Value> {
    static SAID: OnceLock<Vec<Value>> = OnceLock::new();
    let python = present(TRAINERS, root().join(".cache/trainers/bin/python"))?;
    let at = EXPORTED.iter().position(|(_, to, with)| (*to, *with) == (trainer, ending)).unwrap();
    Some(&SAID.get_or_init(|| loaded(&python))[at])
}

#[test]
fn trl_learns_what_the_assistant_said_from_exported_messages() {
    for ending in ["jsonl", "parquet"] {
        let Some(said) = said("sft", ending) else { return };
        assert_eq!((&said["steps"], &said["columns"][0]), (&2.into(), &"messages".into()), "{said}");
        assert!(said["learned"].as_str().unwrap().contains("<|im_end|>"), "{said}");
    }
}

#[test]
fn trl_prefers_the_better_of_exported_pairs() {
    let Some(said) = said("dpo", "parquet") else { return };
    assert_eq!(said["columns"], serde_json::json!(["prompt", "chosen", "rejected"]));
    // The first loss of DPO is the logarithm of two, since policy and reference are the same.
    assert!((said["losses"][0].as_f64().unwrap() - 2_f64.ln()).abs() < 1e-4, "{said}");
}

#[test]
fn trl_samples_for_exported_tasks_and_hands_on_their_answers() {
    let Some(said) = said("grpo", "parquet") else { return };
    assert!(said["seen"]["answer"].is_string() && said["seen"]["task_id"].is_string(), "{said}");
    let columns = said["seen"]["columns"].to_string();
    assert!(["world", "split", "size"].iter().all(|name| columns.contains(name)), "{said}");
}

#[test]
fn verl_reads_exported_tasks() {
    let Some(said) = said("verl", "parquet") else { return };
    let first = &said["first"];
    assert_eq!(first["raw_prompt"], first["prompt"]);
    assert_eq!(first["reward_model"]["style"], "rule");
    assert!(first["reward_model"]["ground_truth"].is_string() && first["index"] == 0, "{first}");
    assert!(said["batch"].to_string().contains("data_source"), "{said}");
}
