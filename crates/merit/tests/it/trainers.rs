//! What `merit export` writes, in the trainers that it is for: TRL trains on it, verl reads it.

use crate::tiny::{reference, say};
use merit_testing::{TRAINERS, present, root};
use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;

/// What the trainer says of rows of `shape` in a file with this ending. Absent: the trainers were not fetched.
fn loaded(shape: &str, trainer: &str, ending: &str) -> Option<(Value, usize)> {
    let python = present(TRAINERS, root().join(".cache/trainers/bin/python"))?;
    let folder = tempfile::tempdir().unwrap();
    let file: PathBuf = folder.path().join(format!("rows.{ending}"));
    let run = reference().path.display().to_string();
    let told = ["export", &run, "--as", shape, "--phase", "train", "--out", file.to_str().unwrap()];
    let told = say(folder.path(), told).well().err;
    let rows = told.split_whitespace().next().unwrap().parse().unwrap();
    let program = root().join("benchmarks/peers/trainers.py");
    let output = Command::new(python)
        .args([program.as_os_str(), trainer.as_ref(), file.as_os_str()])
        .output()
        .unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}{err}");
    let said: Value = serde_json::from_str(out.lines().last().unwrap()).unwrap();
    assert_eq!(said["rows"], rows, "{said}");
    Some((said, rows))
}

#[test]
fn trl_learns_what_the_assistant_said_from_exported_messages() {
    for ending in ["jsonl", "parquet"] {
        let Some((said, _)) = loaded("messages", "sft", ending) else { return };
        assert_eq!((&said["steps"], &said["columns"][0]), (&2.into(), &"messages".into()), "{said}");
        assert!(said["learned"].as_str().unwrap().contains("<|im_end|>"), "{said}");
    }
}

#[test]
fn trl_prefers_the_better_of_exported_pairs() {
    let Some((said, _)) = loaded("preference", "dpo", "parquet") else { return };
    assert_eq!(said["columns"], serde_json::json!(["prompt", "chosen", "rejected"]));
    // The first loss of DPO is the logarithm of two, since policy and reference are the same.
    assert!((said["losses"][0].as_f64().unwrap() - 2_f64.ln()).abs() < 1e-4, "{said}");
}

#[test]
fn trl_samples_for_exported_tasks_and_hands_on_their_answers() {
    let Some((said, _)) = loaded("grpo", "grpo", "parquet") else { return };
    assert!(said["seen"]["answer"].is_string() && said["seen"]["task_id"].is_string(), "{said}");
    let columns = said["seen"]["columns"].to_string();
    assert!(["world", "split", "size"].iter().all(|name| columns.contains(name)), "{said}");
}

#[test]
fn verl_reads_exported_tasks() {
    let Some((said, _)) = loaded("verl", "verl", "parquet") else { return };
    let first = &said["first"];
    assert_eq!(first["raw_prompt"], first["prompt"]);
    assert_eq!(first["reward_model"]["style"], "rule");
    assert!(first["reward_model"]["ground_truth"].is_string() && first["index"] == 0, "{first}");
    assert!(said["batch"].to_string().contains("data_source"), "{said}");
}
