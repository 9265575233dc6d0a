//! Disks that cannot be written, folders that are taken, and a disk that runs full on the way.

use crate::tiny::{self, RECIPE, Said, say};
use merit_store::{EpisodeFilter, RunFolder};
use std::path::Path;
use std::process::Command;

/// `merit train` with a limit on the size of every file, in KiB, which is what a full disk or a quota looks like.
fn train_within(kib: u32, dir: &Path) -> Said {
    let script = format!("ulimit -f {kib}; exec \"$@\"");
    let mut command = Command::new("bash");
    command.args(["-c", &script, "bash", env!("CARGO_BIN_EXE_merit"), "train", RECIPE, "--run", "run"]);
    Said::of(&command.current_dir(dir).env_remove("RUST_BACKTRACE").output().unwrap())
}

fn names(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).unwrap();
    entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
}

/// A disk that runs full stops the run with words, keeps what was recorded, and resuming ends as the reference does.
fn check_full_disk(kib: u32) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let said = train_within(kib, dir.path());
    assert_eq!(said.code, Some(1), "{kib} KiB: {}{}", said.out, said.err);
    assert!(said.err.starts_with("merit: run/"), "{kib} KiB: {}", said.err);
    assert!(said.err.contains("ulimit -f"), "{kib} KiB: {}", said.err);
    let reference = &tiny::reference().essence;
    let stored = RunFolder::open_read_only(&path).unwrap().episodes(&EpisodeFilter::default()).unwrap();
    for episode in stored.iter().map(|e| &e.scored.episode) {
        assert_eq!(reference.episodes[&episode.id.to_string()], episode.content_hash());
    }
    say(dir.path(), ["train", "--resume", "run"]).well();
    tiny::essence(&path).must_be(reference);
}

#[test]
fn a_disk_that_is_full_at_the_first_checkpoint_loses_nothing() {
    check_full_disk(140);
}

#[test]
fn a_disk_that_runs_full_while_learning_loses_nothing() {
    check_full_disk(500);
    check_full_disk(1100);
}

#[test]
fn a_disk_without_room_for_anything_is_refused_before_training_and_left_clean() {
    let dir = tempfile::tempdir().unwrap();
    let said = train_within(2, dir.path());
    assert_eq!(said.code, Some(1));
    assert!(said.err.contains("would pass the limit on file size"), "{}", said.err);
    assert_eq!(said.out, "");
    assert_eq!(names(dir.path()), [""; 0]);
}

#[test]
fn a_folder_that_cannot_be_made_is_refused_before_training() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("file"), "mine").unwrap();
    for (folder, why) in
        [("file/run", "Not a directory (os error 20)"), ("file", "a file of that name is in the way")]
    {
        let said = say(dir.path(), ["train", RECIPE, "--run", folder]);
        let want = format!(
            "merit: cannot write {folder}: {why}; check permissions and that the file system is not read-only\n"
        );
        assert_eq!((said.code, said.out.as_str(), said.err), (Some(1), "", want));
        assert_eq!(std::fs::read_to_string(dir.path().join("file")).unwrap(), "mine");
        assert_eq!(names(dir.path()), ["file"]);
    }
    let said = say(dir.path(), ["train", RECIPE, "--run", "/proc/run"]);
    assert_eq!((said.code, said.out.as_str()), (Some(1), ""));
    assert!(said.err.contains("/proc/run"), "{}", said.err);
}

#[test]
fn a_recipe_that_needs_more_disk_than_there_is_is_refused_before_training() {
    let dir = tempfile::tempdir().unwrap();
    for steps in ["1000000000000", "9223372036854775807"] {
        let said =
            say(dir.path(), ["train", RECIPE, "--run", "run", "--set", &format!("budget.steps={steps}")]);
        assert_eq!((said.code, said.out.as_str()), (Some(1), ""), "{}", said.err);
        assert!(said.err.contains("free some space or choose another folder"), "{}", said.err);
        assert_eq!(names(dir.path()), [""; 0]);
    }
}

#[test]
fn a_folder_that_holds_a_run_or_anything_else_is_not_written_into() {
    let run = &tiny::reference().path;
    let dir = run.parent().unwrap();
    let said = say(dir, ["train", RECIPE, "--run", "undisturbed"]);
    let want = "merit: undisturbed already holds a run; resume it, or choose another folder\n";
    assert_eq!((said.code, said.out.as_str(), said.err.as_str()), (Some(2), "", want));
    tiny::essence(run).must_be(&tiny::reference().essence);

    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("thesis.txt"), "mine").unwrap();
    let said = say(dir.path(), ["train", RECIPE, "--run", "."]);
    assert_eq!(said.code, Some(2));
    assert!(said.err.contains("it holds `thesis.txt`"), "{}", said.err);
    assert_eq!(names(dir.path()), ["thesis.txt"]);
}

#[test]
fn without_a_name_a_run_goes_into_the_next_free_folder() {
    let dir = tempfile::tempdir().unwrap();
    let short =
        ["train", RECIPE, "--set", "budget.steps=1", "--set", "controls=[]", "--set", "warm_start.steps=1"];
    for want in ["runs/tiny-1", "runs/tiny-1.2"] {
        let said = say(dir.path(), short).well();
        assert!(said.out.contains(&format!("; run {want}; report {want}/report.html")), "{}", said.out);
    }
}
