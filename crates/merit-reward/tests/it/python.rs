//! A reward function in Python: what it says is taken, its mistakes are named before a run, and whatever goes wrong is the grader's
//! failure, never a reward.

use crate::episodes::{Did, episode};
use merit_core::{Episode, Reward, TermOutcome, TermScore};
use merit_reward::{RewardConfig, RewardState, ScoreContext, Scorer};
use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::Arc;
use tempfile::TempDir;

/// A folder that is gone with the thread of the test.
fn folder() -> PathBuf {
    thread_local! {
        static KEPT: RefCell<Vec<TempDir>> = const { RefCell::new(Vec::new()) };
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_owned();
    KEPT.with_borrow_mut(|kept| kept.push(folder));
    path
}

/// A module with this text, as `module` names it.
fn written(text: &str, name: &str) -> String {
    let file = folder().join("mine.py");
    std::fs::write(&file, text).unwrap();
    format!("{}:{name}", file.display())
}

fn document(name: &str) -> String {
    format!("{}/../../docs/python/terms.py:{name}", env!("CARGO_MANIFEST_DIR"))
}

fn config(module: &str, more: &str) -> RewardConfig {
    RewardConfig::from_toml(&format!("type = 'python'\nmodule = {module:?}\n{more}")).unwrap()
}

fn opened(module: &str, more: &str) -> Result<Scorer, String> {
    Scorer::opened(&config(module, more)).map_err(|error| error.to_string())
}

fn term(scorer: &Scorer, episode: &Episode) -> TermScore {
    scorer.score(episode, &ScoreContext::default()).terms.swap_remove(0)
}

fn answering(text: &'static str) -> Episode {
    episode(Some("7"), 1, &[Did::Answers(text)])
}

fn says(python: &str) -> TermOutcome {
    let scorer = opened(&written(python, "reward"), "").unwrap();
    term(&scorer, &answering("7")).outcome
}

#[test]
fn functions_and_classes_score_episodes() {
    let brief = opened(&document("brief"), "settings = { words = 2 }\nlow = 0.0\nhigh = 1.0").unwrap();
    assert_eq!(term(&brief, &answering("7")).outcome, TermOutcome::Value { value: 1.0 });
    assert_eq!(term(&brief, &answering("it is 7 I")).outcome, TermOutcome::Value { value: 0.5 });
    let silent = term(&brief, &episode(Some("7"), 1, &[Did::Babbles])).outcome;
    assert!(matches!(silent, TermOutcome::NotApplicable { .. }), "{silent:?}");

    let calm = opened(&document("Calm"), "settings = { marks = \"!?\" }").unwrap();
    let loud = term(&calm, &answering("7!?!"));
    assert_eq!(loud.outcome, TermOutcome::Value { value: 0.0 });
    assert_eq!(loud.evidence[0].finding, "3 of '!?'");
}

#[test]
fn what_a_function_gives_is_a_number_a_reason_or_its_failure() {
    assert_eq!(says("def reward(episode): return True"), TermOutcome::Value { value: 1.0 });
    assert_eq!(
        says("def reward(episode, step): return {'value': step, 'turns': [None]}"),
        TermOutcome::Value { value: 0.0 }
    );
    assert_eq!(
        says("def reward(episode): return {'parse_failure': 'no tag'}"),
        TermOutcome::ParseFailure { why: "no tag".into() }
    );
    for nothing in ["None", "{'value': None}", "{'not_applicable': 'no'}"] {
        let said = says(&format!("def reward(episode): return {nothing}"));
        assert!(matches!(said, TermOutcome::NotApplicable { .. }), "{nothing}: {said:?}");
    }
    for (given, why) in [
        ("float('nan')", "no finite number"),
        ("float('inf')", "no finite number"),
        ("'0.5'", "it gave the text '0.5'"),
        ("[1]", "it gave a list"),
        ("{}", "its answer has no `value`"),
        ("{'vlaue': 1}", "unknown key `vlaue`"),
        ("{'value': 1, 'turns': [1, 2]}", "2 values for 1 turns"),
        ("1 / 0", "ZeroDivisionError: division by zero ("),
        ("exit()", "SystemExit"),
        ("print('{\"id\": 1, \"value\": 1}') or open(0).read()", "it gave the text ''"),
    ] {
        let said = says(&format!("def reward(episode): return {given}"));
        assert!(
            matches!(&said, TermOutcome::GraderFailed { why: found } if found.contains(why)),
            "{given}: {said:?}"
        );
    }
}

#[test]
fn what_cannot_be_a_reward_is_named_when_it_is_opened_and_a_check_starts_nothing() {
    for (module, more, why) in [
        ("no_such_module:reward".to_owned(), "", "has no module `no_such_module`"),
        (document("breif"), "", "has no `breif` (did you mean `brief`?)"),
        (document("brief"), "settings = { wrods = 3 }", "unexpected keyword argument 'wrods'"),
        (document("__doc__"), "", "is a str; name a function, or a class with `score`"),
        (written("class C: pass", "C"), "", "has no `score`"),
        (written("def reward(): pass", "reward"), "", "cannot be called as merit calls it"),
        (written("import no_such_package", "reward"), "", "imports `no_such_package`"),
    ] {
        Scorer::compile(&config(&module, more)).unwrap();
        let error = opened(&module, more).err().unwrap_or_else(|| panic!("{module} is opened"));
        assert!(error.contains(why), "{module}: {error}");
    }
    for (keys, why) in [
        ("module = 'mine'", "give a module and a name in it"),
        ("module = 'mine:reward'\npython = ''", "`python` is empty"),
        ("module = 'mine:reward'\nanswer_s = 0.0", "`timeout_s` is 0; it must be 0.001 to 3600"),
        ("module = 'mine:reward'\nlow = 1.0\nhigh = 0.0", "`low` is 1; it must be at most `high`, 0"),
    ] {
        let error = RewardConfig::from_toml(&format!("type = 'python'\n{keys}")).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}

/// Does what the answer says.
const FOUL: &str = r#"
import ctypes, os, signal, time
def reward(episode):
    act = episode["turns"][-1]["action"]["text"]
    if act == "exit": os._exit(7)
    if act == "kill": os.kill(os.getpid(), signal.SIGKILL)
    if act == "segfault": ctypes.string_at(0)
    if act == "hang": time.sleep(60)
    if act == "flood": print("x" * 10_000_000)
    if act == "huge": return {"value": 1.0, "evidence": "x" * 20_000_000}
    return 0.25
"#;

#[test]
fn a_process_that_dies_hangs_or_floods_is_the_graders_failure_and_the_next_episode_is_scored() {
    let foul = opened(&written(FOUL, "reward"), "timeout_s = 2.0\nhigh = 1.0").unwrap();
    let fine = TermOutcome::Value { value: 0.25 };
    for (act, why) in [
        ("exit", "it ended with exit status: 7"),
        ("kill", "it was killed (signal 9"),
        ("segfault", "signal: 11"),
        ("hang", "gave no answer in 2 s"),
        ("huge", "a line of more than"),
    ] {
        let score = foul.score(&answering(act), &ScoreContext::default());
        assert!(
            matches!(&score.reward, Reward::GraderFailed { why: found } if found.contains(why)),
            "{act}: {score:?}"
        );
        assert_eq!(term(&foul, &answering("7")).outcome, fine, "{act}");
    }
    assert_eq!(term(&foul, &answering("flood")).outcome, fine);
}

/// Pays an episode by its group, and ends with every second, before or after it was paid. Every end is a byte of a file.
const MORTAL: &str = r#"
import os, threading
def end():
    with open(DEATHS, "ab", buffering=0) as deaths: deaths.write(b".")
    os._exit(1)
def reward(episode):
    group = episode["id"]["group"]
    if group % 4 == 1: end()
    if group % 4 == 3: threading.Thread(target=end).start()
    return group / 1000
"#;

#[test]
fn of_hundreds_of_processes_that_die_none_takes_an_episode_along_or_pays_wrongly() {
    use std::os::unix::fs::PermissionsExt as _;
    // An interpreter that skips what takes long: the search for it, and what a site adds.
    let python = folder().join("python");
    let itself =
        std::process::Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output();
    let itself = String::from_utf8(itself.unwrap().stdout).unwrap();
    std::fs::write(&python, format!("#!/bin/sh\nexec '{}' -S -E \"$@\"\n", itself.trim())).unwrap();
    std::fs::set_permissions(&python, std::fs::Permissions::from_mode(0o755)).unwrap();
    let deaths = folder().join("deaths");
    let mortal = format!("DEATHS = {deaths:?}\n{MORTAL}");
    let scorer = opened(&written(&mortal, "reward"), &format!("python = {python:?}")).unwrap();
    let numbered = |group: u32| {
        let mut episode = answering("7");
        episode.id.group = group;
        Arc::new(episode)
    };
    let batch: Vec<_> = (0..520).map(numbered).collect();
    let scored = scorer.score_batch(&batch, &ScoreContext::default(), &RewardState::default()).episodes;
    assert_eq!(scored.len(), 520);
    let mut failed = 0;
    for scored in scored {
        let group = scored.episode.id.group;
        match scored.score.unwrap().reward {
            Reward::Value { value } => assert!(group % 4 != 1 && value == f64::from(group) / 1000.0),
            // A process that ends by itself may take the answer, or the next question, with it.
            Reward::GraderFailed { .. } => failed += 1,
            other => panic!("{other:?}"),
        }
    }
    assert!((130..=390).contains(&failed), "{failed}");
    let died = std::fs::read(&deaths).unwrap().len();
    assert!(died >= 200, "{died}");
}
