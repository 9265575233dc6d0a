//! Recording and replaying the real binary: a replay needs no tool and gives the same episodes, or says what is missing.

use crate::tiny;

use crate::tiny::{RECIPE, Said, essence, merit, say};
use merit_store::RunFolder;
use merit_tools::{CallEntry, Tape};
use serde_json::Value;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// The control without tools cannot be disturbed.
const NO_CONTROLS: &str = "controls=[]";

/// Bad weather that reaches an agent in every way but breakage, with a deadline that ends what never returns.
const WEATHER: [&str; 6] = [
    "--set",
    NO_CONTROLS,
    "--set",
    "world.faults={seed=3,refused=0.1,timed_out=0.1,latency_ms=1}",
    "--set",
    "rollout.tool_seconds=0.25",
];

fn rollout(dir: &Path, more: &[&str]) -> Said {
    let fixed = ["rollout", RECIPE, "--json", "--tasks", "5", "--group-size", "2"];
    say(dir, fixed.iter().chain(more))
}

/// What was said, without wall time.
fn episodes(said: &Said) -> Vec<Value> {
    fn without_clocks(value: &mut Value) {
        match value {
            Value::Object(map) => {
                map.retain(|key, _| !matches!(key.as_str(), "seconds" | "tool_seconds"));
                map.values_mut().for_each(without_clocks);
            }
            Value::Array(items) => items.iter_mut().for_each(without_clocks),
            _ => {}
        }
    }
    let mut lines = said.json();
    lines.iter_mut().for_each(without_clocks);
    lines
}

fn entries(path: &Path) -> Vec<CallEntry> {
    let mut entries = Tape::open(path).unwrap().entries().unwrap();
    entries.iter_mut().for_each(|call| (call.seconds, call.recorded_ms) = (0.0, 0));
    entries
}

#[test]
fn a_recorded_rollout_is_replayed_without_its_tools() {
    let dir = tempfile::tempdir().unwrap();
    let plain = rollout(dir.path(), &["--fork-at", "1"]).well();
    let recorded = rollout(dir.path(), &["--fork-at", "1", "--record", "calls.tape"]).well();
    assert_eq!(episodes(&recorded), episodes(&plain), "recording changes nothing");
    assert!(recorded.err.contains("calls recorded"), "{}", recorded.err);
    // Were a tool asked, it would break.
    let broken = ["--set", NO_CONTROLS, "--set", "world.faults={broken=1.0}"];
    let replayed =
        rollout(dir.path(), &[&["--fork-at", "1", "--replay", "calls.tape"], &broken[..]].concat()).well();
    assert_eq!(episodes(&replayed), episodes(&plain));
    assert_eq!(replayed.err, "");
    let names: Vec<_> = std::fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, ["calls.tape"], "a tape is one file");
}

#[test]
fn refusals_timeouts_and_forks_of_tools_with_state_are_replayed_too() {
    let dir = tempfile::tempdir().unwrap();
    let recorded =
        rollout(dir.path(), &[&["--fork-at", "1", "--record", "calls.tape"], &WEATHER[..]].concat()).well();
    let kinds = |kind: &str| recorded.out.matches(&format!("\"end\":\"{kind}\"")).count();
    assert!(kinds("refused") > 0 && kinds("timed-out") > 0, "the weather was too good");
    let replayed =
        rollout(dir.path(), &[&["--fork-at", "1", "--replay", "calls.tape"], &WEATHER[..]].concat()).well();
    assert_eq!(episodes(&replayed), episodes(&recorded));
}

#[test]
fn the_tape_does_not_depend_on_how_many_episodes_are_in_flight() {
    let dir = tempfile::tempdir().unwrap();
    let tapes = ["1", "64"].map(|in_flight| {
        let (tape, set) = (format!("{in_flight}.tape"), format!("rollout.in_flight={in_flight}"));
        let more = ["--record", &tape, "--set", &set, "--tasks", "12"];
        say(dir.path(), ["rollout", RECIPE, "--json", "--group-size", "3"].iter().chain(&more)).well();
        entries(&dir.path().join(tape))
    });
    assert!(tapes[0].len() > 20, "only {} calls", tapes[0].len());
    assert_eq!(tapes[0], tapes[1]);
}

#[test]
fn a_tape_of_another_seed_fails_with_the_first_missing_call() {
    let dir = tempfile::tempdir().unwrap();
    rollout(dir.path(), &["--record", "calls.tape"]).well();
    let said = rollout(dir.path(), &["--replay", "calls.tape", "--seed", "2"]);
    assert_eq!(said.code, Some(1), "{}", said.err);
    assert!(said.err.contains("call 1 of `lookup` for task ledger/held-out/00000-"), "{}", said.err);
    assert!(said.err.contains("was it recorded with another recipe or seed?"), "{}", said.err);
    assert_eq!(said.out, "", "episodes that are not the recorded ones are not shown");
}

#[test]
fn a_tape_that_was_tampered_with_is_found_out() {
    let dir = tempfile::tempdir().unwrap();
    rollout(dir.path(), &["--record", "calls.tape"]).well();
    let db = rusqlite::Connection::open(dir.path().join("calls.tape")).unwrap();
    assert!(db.execute("UPDATE texts SET text = '1' || text", []).unwrap() > 0);
    drop(db);
    let said = rollout(dir.path(), &["--replay", "calls.tape"]);
    assert_eq!(said.code, Some(1));
    assert!(said.err.contains("calls.tape is damaged: call 1 of `lookup`"), "{}", said.err);
    assert!(said.err.contains("is not what was recorded; restore it from a copy"), "{}", said.err);
}

#[test]
fn flags_that_contradict_each_other_and_files_that_do_not_fit_are_wrong_input() {
    let dir = tempfile::tempdir().unwrap();
    rollout(dir.path(), &["--record", "calls.tape"]).well();
    std::fs::write(dir.path().join("notes.txt"), "no tape, but long enough to look like a file. ".repeat(50))
        .unwrap();
    for (more, code, words) in [
        (&["--record", "a", "--replay", "b"][..], 2, "cannot be used with"),
        (&["--record", "a", "--tool-cache", "b"][..], 2, "cannot be used with"),
        (&["--replay", "a", "--tool-cache", "b"][..], 2, "cannot be used with"),
        (&["--match", "loose"][..], 2, "--replay <FILE>"),
        (&["--timing", "recorded"][..], 2, "--replay <FILE>"),
        (&["--cache-scope", "all"][..], 2, "--tool-cache <FILE>"),
        (&["--replay", "none.tape"][..], 2, "there is no tape none.tape"),
        (&["--record", "calls.tape"][..], 2, "calls.tape exists already"),
        (&["--tool-cache", "calls.tape"][..], 2, "is the recording of a run, not a cache"),
        (&["--replay", "notes.txt"][..], 1, "the tape notes.txt is damaged"),
    ] {
        let said = rollout(dir.path(), more);
        assert_eq!(said.code, Some(code), "{more:?}: {}", said.err);
        assert!(said.err.contains(words), "{more:?}: {}", said.err);
    }
    assert!(!dir.path().join("a").exists() && !dir.path().join("none.tape").exists());
}

#[test]
fn a_cache_fills_itself_once_and_refuses_tools_with_state() {
    let dir = tempfile::tempdir().unwrap();
    let plain = rollout(dir.path(), &[]).well();
    let first = rollout(dir.path(), &["--tool-cache", "answers.tape"]).well();
    let again = rollout(dir.path(), &["--tool-cache", "answers.tape"]).well();
    assert_eq!(episodes(&first), episodes(&plain));
    assert_eq!(episodes(&again), episodes(&plain));
    assert!(again.err.contains(" calls from the cache, 0 asked"), "{}", again.err);
    let slow = ["--tool-cache", "other.tape", "--set", NO_CONTROLS, "--set", "world.faults={latency_ms=1}"];
    let said = rollout(dir.path(), &slow);
    assert_eq!(said.code, Some(2));
    assert!(said.err.contains("tool `lookup` keeps state"), "{}", said.err);
}

#[test]
fn a_recording_that_is_killed_leaves_a_tape_that_opens() {
    let dir = tempfile::tempdir().unwrap();
    let slow = ["--set", NO_CONTROLS, "--set", "world.faults={latency_ms=5}", "--set", "rollout.in_flight=4"];
    let mut command = merit(dir.path());
    command.args(["rollout", RECIPE, "--json", "--record", "calls.tape", "--tasks", "2000"]).args(slow);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let log = dir.path().join("calls.tape-wal");
    let patience = Instant::now() + Duration::from_secs(60);
    while std::fs::metadata(&log).map_or(0, |found| found.len()) < 2_000_000 {
        assert!(
            Instant::now() < patience && child.try_wait().unwrap().is_none(),
            "nothing is being recorded"
        );
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let survived = entries(&dir.path().join("calls.tape"));
    assert!(!survived.is_empty());
    let said = rollout(dir.path(), &[&["--replay", "calls.tape"], &slow[..]].concat());
    assert_eq!(said.code, Some(0), "the first tasks were whole before the kill: {}", said.err);
}

#[test]
fn a_recorded_training_run_is_replayed_to_the_bit() {
    let reference = &tiny::reference().essence;
    let dir = tempfile::tempdir().unwrap();
    say(dir.path(), ["train", RECIPE, "--run", "recorded", "--record", "calls.tape"]).well();
    essence(&dir.path().join("recorded")).must_be(reference);
    say(dir.path(), ["train", RECIPE, "--run", "replayed", "--replay", "calls.tape"]).well();
    essence(&dir.path().join("replayed")).must_be(reference);
    let how = |run: &str| {
        let folder = RunFolder::open_read_only(&dir.path().join(run)).unwrap();
        folder.mark::<String>("tools").unwrap().unwrap()
    };
    assert_eq!(how("recorded"), "by the tools themselves, recorded on calls.tape");
    assert_eq!(how("replayed"), "from the recording calls.tape");
    let said = say(dir.path(), ["train", RECIPE, "--run", "other", "--replay", "calls.tape", "--seed", "2"]);
    assert_eq!(said.code, Some(1));
    assert!(said.err.contains("call 1 of `lookup` for task ledger/train/00000-"), "{}", said.err);
}

#[test]
fn a_recorded_run_that_was_killed_and_resumed_has_a_whole_tape() {
    let reference = &tiny::reference().essence;
    let dir = tempfile::tempdir().unwrap();
    let mut command = merit(dir.path());
    command.args(["train", RECIPE, "--json", "--run", "run", "--record", "calls.tape"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
    let third_step = |line: &String| line.contains("\"event\":\"step\"") && line.contains("\"step\":3");
    assert!(lines.map_while(Result::ok).any(|line| third_step(&line)), "it ended before its third step");
    child.kill().unwrap();
    child.wait().unwrap();
    let other = say(dir.path(), ["train", "--resume", "run", "--record", "other.tape"]);
    assert_eq!(other.code, Some(2));
    assert!(other.err.contains("other.tape would lack its beginning"), "{}", other.err);
    say(dir.path(), ["train", "--resume", "run", "--record", "calls.tape"]).well();
    essence(&dir.path().join("run")).must_be(reference);
    say(dir.path(), ["train", RECIPE, "--run", "replayed", "--replay", "calls.tape"]).well();
    essence(&dir.path().join("replayed")).must_be(reference);
}
