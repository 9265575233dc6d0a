//! Ctrl-C, checkpoints that went bad, and two trainers on one run.

use crate::survival::process::{Training, Waited};
use crate::tiny::{self, say};
use serde_json::Value;
use std::path::{Path, PathBuf};

fn at_step(step: u64) -> impl Fn(&Value) -> bool {
    move |event| event["event"] == "step" && event["step"] == step
}

/// A run in `dir` that was killed after `step`.
fn killed_after(dir: &Path, step: u64) -> PathBuf {
    let path = dir.join("run");
    let mut training = Training::start(&path);
    assert_eq!(training.wait_for(at_step(step)), Waited::Came);
    training.kill();
    path
}

/// The checkpoints of a run, oldest first.
fn checkpoints(run: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        std::fs::read_dir(run.join("checkpoints")).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.retain(|path| path.extension().is_none());
    found.sort();
    found
}

fn damage(checkpoint: &Path) {
    let path = checkpoint.join("weights.safetensors");
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn an_interrupted_run_says_how_to_go_on_and_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let mut training = Training::start(&path);
    assert_eq!(training.wait_for(at_step(2)), Waited::Came);
    training.interrupt();
    let said = training.end();
    assert_eq!(said.code, Some(130), "{}", said.err);
    let want = format!("merit: interrupted; go on with `merit train --resume {}`\n", path.display());
    assert_eq!(said.err, want);

    say(dir.path(), ["train", "--resume", "run"]).well();
    let (own, reference) = (tiny::essence(&path), &tiny::reference().essence);
    assert!(own.episodes == reference.episodes && own.judged == reference.judged);
    assert!(own.files["policy.safetensors"] == reference.files["policy.safetensors"]);
    // The interrupt wrote one checkpoint more, so their numbers differ; what is in them does not.
    for name in ["weights", "optimiser", "warm", "trained"].map(|stem| format!("{stem}.safetensors")) {
        assert!(own.newest(&name) == reference.newest(&name), "{name}");
    }
}

#[test]
fn a_damaged_checkpoint_is_named_and_the_older_one_leads_to_the_same_end() {
    let dir = tempfile::tempdir().unwrap();
    let path = killed_after(dir.path(), 4);
    let newest = checkpoints(&path).pop().unwrap();
    damage(&newest);
    let said = say(dir.path(), ["train", "--json", "--resume", "run"]).well();
    let note = said.json().into_iter().find(|event| event["event"] == "note").unwrap();
    let newest = newest.strip_prefix(dir.path()).unwrap().display();
    let want = format!(
        "{newest} cannot be loaded (weights.safetensors does not match its hash); going on from an older checkpoint"
    );
    assert_eq!(note["text"], want);
    tiny::essence(&path).must_be(&tiny::reference().essence);
}

#[test]
fn a_run_without_a_sound_checkpoint_is_refused_and_stays_readable() {
    let dir = tempfile::tempdir().unwrap();
    let path = killed_after(dir.path(), 2);
    checkpoints(&path).iter().for_each(|checkpoint| damage(checkpoint));
    let said = say(dir.path(), ["train", "--resume", "run"]);
    assert_eq!(said.code, Some(1));
    assert!(said.err.contains("no checkpoint in run/checkpoints can be loaded"), "{}", said.err);
    assert!(said.err.contains("restore one from a copy, or start a new run"), "{}", said.err);
    say(dir.path(), ["show", "run", "--episode", "train/0/0/0"]).well();
}

#[test]
fn a_second_trainer_is_refused_while_the_first_one_lives() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let mut first = Training::start(&path);
    assert_eq!(first.wait_for(|event| event["event"] == "started"), Waited::Came);
    let second = say(dir.path(), ["train", "--resume", "run"]);
    let pid = first.pid();
    let want = format!(
        "merit: run is being written by another process (pid {pid}); wait for it or stop it, then try again\n"
    );
    assert_eq!((second.code, second.err), (Some(1), want));
    let another = say(dir.path(), ["train", tiny::RECIPE, "--run", "run"]);
    let want = "merit: run already holds a run; resume it, or choose another folder\n";
    assert_eq!((another.code, another.err.as_str()), (Some(2), want));
    assert_eq!(first.wait_for(|_| false), Waited::Ended);
    assert_eq!(first.end().code, Some(0));
    tiny::essence(&path).must_be(&tiny::reference().essence);
}

#[test]
fn a_run_whose_recipe_was_edited_is_not_continued() {
    let dir = tempfile::tempdir().unwrap();
    let run = killed_after(dir.path(), 1);
    let recipe = std::fs::read_to_string(run.join("recipe.toml")).unwrap();
    let edited = recipe.replacen("clip_low = 0.2", "clip_low = 0.1", 1);
    assert_ne!(edited, recipe);
    std::fs::write(run.join("recipe.toml"), edited).unwrap();
    let refused = say(dir.path(), ["train", "--resume", "run"]);
    assert_eq!(refused.code, Some(2), "{}", refused.err);
    assert!(refused.err.contains("was changed since the run began"), "{}", refused.err);
}
