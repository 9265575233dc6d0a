//! A run stops where going on would measure or learn nothing, says why, and loses nothing.

use crate::soon::{soon, until_gone};
use crate::tiny::{self, say};
use rustix::process::{Pid, Signal, kill_process};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

/// The folder that `merit init` leaves.
fn started() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    say(folder.path(), ["init"]).well();
    folder
}

/// Trains the recipe of `init` with these changes.
fn train(folder: &Path, set: &[&str]) -> crate::tiny::Said {
    let set = set.iter().flat_map(|change| ["--set", change]);
    say(folder, ["train", "recipe.toml", "--run", "run", "--set", "budget.steps=2"].into_iter().chain(set))
}

#[test]
fn a_run_that_no_grader_could_judge_says_why_and_does_not_end_well() {
    let folder = started();
    std::fs::write(folder.path().join("mod.py"), "def f(episode): raise ValueError('boom')").unwrap();
    let reward = "reward={type='sum',of=[{type='exact-answer'},{type='python',module='mod:f',weight=0.0}]}";
    let said = train(folder.path(), &[reward]);
    assert_eq!(said.code, Some(1), "{}", said.err);
    assert!(said.err.contains("of this run counts") && said.err.contains("ValueError: boom"), "{}", said.err);
    assert!(said.out.contains("no episode counts") && !said.out.contains("NaN"), "{}", said.out);
}

#[test]
fn a_policy_that_diverges_stops_the_run() {
    // Also where the last update was too much, and nothing is sampled from afterwards but held-out tasks.
    for steps in ["budget.steps=6", "budget.steps=1"] {
        let folder = started();
        let said = train(folder.path(), &["learn.optimiser.lr=1e10", steps, "evaluation.every=0"]);
        assert_eq!(said.code, Some(1), "{steps}: {}", said.err);
        let words = ["the policy diverged", "learn.optimiser.lr"];
        assert!(words.iter().all(|word| said.err.contains(word)), "{steps}: {}", said.err);
    }
}

#[test]
fn tasks_that_were_changed_are_not_those_of_the_run() {
    let folder = started();
    train(folder.path(), &[]).well();
    let tasks = folder.path().join("tasks.jsonl");
    let text = std::fs::read_to_string(&tasks).unwrap();
    std::fs::write(&tasks, text.replacen("\"answer\": \"6\"", "\"answer\": \"7\"", 1)).unwrap();
    let more = ["train", "--resume", "run", "--set", "budget.steps=3"];
    let said = say(folder.path(), more);
    assert!(
        said.code == Some(2) && said.err.contains("tasks.jsonl has changed since this run began"),
        "{}",
        said.err
    );
    std::fs::write(&tasks, text).unwrap();
    say(folder.path(), ["train", "--resume", "run"]).well();
}

#[test]
fn what_a_check_refuses_is_not_begun() {
    let folder = started();
    std::fs::write(
        folder.path().join("tasks.jsonl"),
        "{\"prompt\": \"a\", \"answer\": \"b\", \"split\": \"train\"}\n",
    )
    .unwrap();
    let said = train(folder.path(), &[]);
    assert!(said.code == Some(2) && said.err.contains("no task is held out"), "{}", said.err);
    assert!(!folder.path().join("run").exists());
}

#[test]
fn who_asks_twice_leaves_no_program_behind_that_hangs() {
    let folder = started();
    let program = "['sh', '-c', 'echo $$ > new; mv new pid; exec sleep 3600']";
    let hangs = format!("{{type='command',command={program},start_s=3600.0,weight=0.0}}");
    let mut command = tiny::merit(folder.path());
    command.args(["train", "recipe.toml", "--run", "run", "--set"]);
    command.arg(format!("reward={{type='sum',of=[{{type='exact-answer'}},{hangs}]}}"));
    let mut merit = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let hung = soon(|| std::fs::read_to_string(folder.path().join("pid")).ok()?.trim().parse::<i32>().ok());
    let pid = Pid::from_raw(merit.id() as i32).unwrap();
    // Two that come at once are one to the kernel.
    let status = loop {
        kill_process(pid, Signal::INT).unwrap();
        std::thread::sleep(Duration::from_millis(50));
        if let Some(status) = merit.try_wait().unwrap() {
            break status;
        }
    };
    assert_eq!(status.code(), Some(130));
    until_gone(hung);
}
