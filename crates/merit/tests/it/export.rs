//! `merit export` on a run that was really trained: every shape against the record, metrics back from both kinds of file.

use crate::tiny::{Said, reference, say};
use merit_core::{Outcome, Phase, ScoredEpisode, Task};
use merit_store::{EpisodeFilter, Metric, RunFolder};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

fn folder() -> RunFolder {
    RunFolder::open_read_only(&reference().path).unwrap()
}

/// Asks `merit export` of the reference run.
fn export(arguments: &[&str]) -> Said {
    let all = [&["export", "undisturbed"], arguments].concat();
    say(reference().path.parent().unwrap(), all).well()
}

fn rows(arguments: &[&str]) -> Vec<Value> {
    export(arguments).json()
}

/// The recorded episodes of training and evaluation that have a reward, in the order of the record.
fn counting() -> Vec<ScoredEpisode> {
    let all = folder().episodes(&EpisodeFilter::default()).unwrap();
    let all = all.into_iter().map(|stored| stored.scored);
    let wanted = |phase: &Phase| phase.is_train() || phase.is_eval();
    all.filter(|scored| wanted(&scored.episode.id.phase) && scored.reward().is_some()).collect()
}

fn keys(row: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = row.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

/// What an episode says, written another way than the exporter does.
fn texts(scored: &ScoredEpisode) -> Vec<(&'static str, String)> {
    let said = scored.episode.transcript.segments().iter();
    let role = |role: merit_core::Role| match role.name() {
        "policy" => "assistant",
        "environment" | "hint" => "user",
        other => other,
    };
    let kept = said.filter(|s| !s.text.is_empty() || matches!(s.role.name(), "policy" | "tool"));
    kept.map(|s| (role(s.role), s.text.clone())).collect()
}

fn spoken(messages: &Value) -> Vec<(&str, String)> {
    let each = messages.as_array().unwrap().iter();
    each.map(|m| (m["role"].as_str().unwrap(), m["content"].as_str().unwrap().to_owned())).collect()
}

#[test]
fn messages_are_what_every_counting_episode_says() {
    let (rows, episodes) = (rows(&["--as", "messages"]), counting());
    assert_eq!(rows.len(), episodes.len());
    for (row, scored) in rows.iter().zip(&episodes) {
        assert_eq!(keys(row), ["messages"]);
        assert_eq!(spoken(&row["messages"]), texts(scored), "{}", scored.episode.id);
    }
    // One training step has 16 episodes and there are 7 of them, in two arms; every phase is told with its count.
    let said = export(&["--as", "messages"]).err;
    assert!(said.contains("read: train 112\n") && said.contains("read: train@no-tool 112\n"), "{said}");
    assert!(said.starts_with(&format!("{} rows as messages, from {0} of ", rows.len())), "{said}");
}

#[test]
fn a_prompt_ends_where_the_policy_begins() {
    let whole = rows(&["--as", "messages", "--phase", "train"]);
    let parted = rows(&["--as", "prompt-completion", "--phase", "train"]);
    assert_eq!(whole.len(), parted.len());
    for (whole, row) in whole.iter().zip(&parted) {
        assert_eq!(keys(row), ["completion", "prompt"]);
        assert!(spoken(&row["prompt"]).iter().all(|(role, _)| *role != "assistant"), "{row}");
        assert_eq!(row["completion"][0]["role"], "assistant");
        let joined = [row["prompt"].as_array().unwrap().as_slice(), row["completion"].as_array().unwrap()];
        assert_eq!(json!(joined.concat()), whole["messages"]);
    }
}

/// Counting episodes by group.
fn groups(phase: &str) -> Vec<Vec<ScoredEpisode>> {
    let mut groups: BTreeMap<(u64, u32), Vec<ScoredEpisode>> = BTreeMap::new();
    for scored in counting().into_iter().filter(|s| s.episode.id.phase.to_string() == phase) {
        groups.entry((scored.episode.id.step, scored.episode.id.group)).or_default().push(scored);
    }
    groups.into_values().collect()
}

#[test]
fn a_preference_is_the_best_against_the_worst_of_a_group() {
    let rows = rows(&["--as", "preference", "--phase", "train"]);
    let reward = |scored: &&ScoredEpisode| scored.reward().unwrap();
    let mut expected = Vec::new();
    for group in groups("train") {
        let most = group.iter().map(|s| reward(&s)).fold(f64::MIN, f64::max);
        let least = group.iter().map(|s| reward(&s)).fold(f64::MAX, f64::min);
        if most - least > 1e-6 {
            let of = |value: f64| group.iter().find(|s| reward(s) == value).unwrap().clone();
            expected.push((of(most), of(least)));
        }
    }
    assert!(!expected.is_empty());
    assert_eq!(rows.len(), expected.len());
    for (row, (best, worst)) in rows.iter().zip(&expected) {
        assert_eq!(keys(row), ["chosen", "prompt", "rejected"]);
        let prompt = spoken(&row["prompt"]);
        assert_eq!([prompt.clone(), spoken(&row["chosen"])].concat(), texts(best));
        assert_eq!([prompt, spoken(&row["rejected"])].concat(), texts(worst));
    }
    // The same episodes one by one, the better one first.
    let both = self::rows(&["--as", "messages", "--phase", "train", "--pairs"]);
    assert_eq!(both.len(), 2 * expected.len());
    assert_eq!(spoken(&both[1]["messages"]), texts(&expected[0].1));
}

#[test]
fn filters_take_what_the_record_says() {
    let train = groups("train");
    let count =
        |arguments: &[&str]| rows(&[&["--as", "messages", "--phase", "train"], arguments].concat()).len();
    let mut rewards: Vec<f64> = train.iter().flatten().map(|scored| scored.reward().unwrap()).collect();
    rewards.sort_by(f64::total_cmp);
    let least = rewards[rewards.len() / 2];
    let enough = rewards.iter().filter(|reward| **reward >= least).count();
    assert!(enough < rewards.len(), "every episode has {least}");
    assert_eq!(count(&["--min-reward", &least.to_string()]), enough);
    assert_eq!(count(&["--best"]), train.len());
    let rich = |group: &&Vec<ScoredEpisode>| group.iter().any(|s| s.reward().unwrap() >= least);
    let rich = train.iter().filter(rich).count();
    assert_eq!(count(&["--best", "--min-reward", &least.to_string()]), rich);
    // So small a policy may solve nothing at all, which is no data set.
    let solved = counting().iter().filter(|s| s.outcome() == Outcome::Solved).count();
    let all = ["export", "undisturbed", "--as", "messages", "--solved"];
    let said = say(reference().path.parent().unwrap(), all);
    assert_eq!((said.out.lines().count(), said.code), (solved, Some(i32::from(solved == 0))));
}

#[test]
fn trainers_that_sample_themselves_get_one_row_for_each_task() {
    let name = |task: &Task| (task.split.name(), task.id.clone());
    let tasks: BTreeMap<_, _> =
        counting().iter().map(|s| (name(&s.episode.task), s.episode.task.clone())).collect();
    let (grpo, verl) = (rows(&["--as", "grpo"]), rows(&["--as", "verl"]));
    assert_eq!((grpo.len(), verl.len()), (tasks.len(), tasks.len()));
    let mut seen = BTreeSet::new();
    for (at, (grpo, verl)) in grpo.iter().zip(&verl).enumerate() {
        assert_eq!(keys(grpo), ["answer", "prompt", "size", "split", "task_id", "world"]);
        assert_eq!(keys(verl), ["ability", "data_source", "extra_info", "prompt", "reward_model"]);
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let split = if grpo["split"] == "train" { "train" } else { "held-out" };
        let task = &tasks[&(split, text(&grpo["task_id"]))];
        assert_eq!(grpo["answer"], json!(task.answer));
        assert_eq!(verl["prompt"], grpo["prompt"]);
        assert!(spoken(&grpo["prompt"]).iter().all(|(role, _)| *role != "assistant"));
        assert_eq!(verl["reward_model"], json!({ "style": "rule", "ground_truth": task.answer }));
        assert_eq!(verl["data_source"], "ledger");
        let extra = json!({ "split": split, "index": at, "task_id": task.id, "size": task.size });
        assert_eq!(verl["extra_info"], extra);
        assert!(seen.insert(name(task)), "{} twice", task.id);
    }
}

#[test]
fn exported_messages_can_be_imported_and_say_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("rows.jsonl");
    export(&["--as", "messages", "--phase", "eval-after", "--out", file.to_str().unwrap()]);
    say(dir.path(), ["import", "rows.jsonl", "--out", "back"]).well();
    let back = RunFolder::open_read_only(&dir.path().join("back")).unwrap();
    let back = back.episodes(&EpisodeFilter::default()).unwrap();
    let sorted = |mut all: Vec<_>| {
        all.sort();
        all
    };
    let before = counting().into_iter().filter(|s| s.episode.id.phase.to_string() == "eval-after");
    let back = back.iter().map(|stored| texts(&stored.scored)).collect();
    assert_eq!(sorted(back), sorted(before.map(|scored| texts(&scored)).collect()));
}

#[test]
fn calls_that_were_kept_apart_survive_the_way_out_and_back() {
    let dir = tempfile::tempdir().unwrap();
    let call = |id: &str, x: u32| {
        let arguments = format!("{{\"x\":{x}}}");
        json!({ "id": id, "type": "function", "function": { "name": "double", "arguments": arguments } })
    };
    let entry = json!({ "tools": [{ "name": "double" }], "reward": 1, "messages": [
        { "role": "user", "content": "double 1 and 2" },
        { "role": "assistant", "content": null, "tool_calls": [call("a", 1), call("b", 2)] },
        { "role": "tool", "tool_call_id": "b", "content": "4" },
        { "role": "tool", "tool_call_id": "a", "content": "2" },
        { "role": "assistant", "content": "2 and 4" } ] });
    std::fs::write(dir.path().join("calls.jsonl"), format!("{entry}\n")).unwrap();
    say(dir.path(), ["import", "calls.jsonl", "--out", "first", "--solved-at", "1"]).well();
    say(dir.path(), ["export", "first", "--as", "messages", "--out", "rows.jsonl"]).well();
    say(dir.path(), ["import", "rows.jsonl", "--out", "second"]).well();
    let read = |name: &str| {
        let all = RunFolder::open_read_only(&dir.path().join(name)).unwrap();
        all.episodes(&EpisodeFilter::default()).unwrap().remove(0).scored.episode
    };
    let (first, second) = (read("first"), read("second"));
    assert_eq!(first.turns, second.turns);
    assert_eq!(first.task.payload["tools"], second.task.payload["tools"]);
    assert_eq!(first.turns[0].calls[1].output, "4");
}

fn check_csv(text: &str, metrics: &[Metric]) {
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("phase,step,name,value"));
    let lines: Vec<&str> = lines.collect();
    assert_eq!(lines.len(), metrics.len());
    for (line, metric) in lines.iter().zip(metrics) {
        let fields: Vec<&str> = line.split(',').collect();
        let [phase, step, name, value] = fields.as_slice() else { panic!("{line}") };
        assert_eq!((*phase, *name), (metric.phase.to_string().as_str(), metric.name.as_str()));
        assert_eq!(step.parse(), Ok(metric.step));
        assert_eq!(value.parse::<f64>().unwrap().to_bits(), metric.value.to_bits(), "{line}");
    }
}

/// The bytes of every record of an event file.
fn records(mut file: &[u8]) -> Vec<&[u8]> {
    let mut records = Vec::new();
    while !file.is_empty() {
        let length = u64::from_le_bytes(file[..8].try_into().unwrap()) as usize;
        records.push(&file[12..12 + length]);
        file = &file[16 + length..];
    }
    records
}

/// What TensorBoard's own reader finds, where it was fetched.
fn read_by_tensorboard(folder: &Path) -> Option<usize> {
    const SCRIPT: &str = "import sys\n\
        from tensorboard.backend.event_processing.event_accumulator import EventAccumulator\n\
        board = EventAccumulator(sys.argv[1], size_guidance={'scalars': 0}).Reload()\n\
        print(sum(len(board.Scalars(tag)) for tag in board.Tags()['scalars']))";
    let python = merit_testing::root().join(".cache/tensorboard/bin/python");
    let python = merit_testing::present(merit_testing::TENSORBOARD, python)?;
    let said = std::process::Command::new(python).args(["-c", SCRIPT]).arg(folder).output().unwrap();
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    Some(String::from_utf8_lossy(&said.stdout).trim().parse().unwrap())
}

#[test]
fn metrics_come_back_from_csv_and_from_an_event_file() {
    let dir = tempfile::tempdir().unwrap();
    let place = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let (table, board) = (place("metrics.csv"), place("board"));
    let said = export(&["--metrics", &table, "--tensorboard", &board]);
    assert_eq!(said.out, "");
    let metrics = folder().metrics().unwrap();
    check_csv(&std::fs::read_to_string(&table).unwrap(), &metrics);
    let files: Vec<_> = std::fs::read_dir(&board).unwrap().map(|entry| entry.unwrap().path()).collect();
    let [file] = files.as_slice() else { panic!("{files:?}") };
    let bytes = std::fs::read(file).unwrap();
    let records = records(&bytes);
    assert_eq!(records.len(), metrics.len() + 1);
    assert!(records[0].ends_with(b"brain.Event:2"));
    for (record, metric) in records[1..].iter().zip(&metrics) {
        let tag = format!("{}/{}", metric.phase, metric.name);
        let (front, value) = record.split_at(record.len() - 4);
        assert!(front[..front.len() - 1].ends_with(tag.as_bytes()), "{tag}");
        assert_eq!(value, (metric.value as f32).to_le_bytes(), "{tag}");
        assert!(metric.step < 0x80 && record[9..11] == [0x10, metric.step as u8], "{tag}");
    }
    if let Some(found) = read_by_tensorboard(Path::new(&board)) {
        assert_eq!(found, metrics.len());
    }
}
