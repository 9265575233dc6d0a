//! Annotations: a program is asked before scoring, what it said is stored, and a run is scored again without asking.

use crate::survival::process::{Training, Waited};
use crate::tiny::{self, RECIPE, say};
use merit_core::Phase;
use merit_store::RunFolder;
use serde_json::Value;
use std::path::Path;

/// Says how many turns an episode has, and writes a line to `asked` for every question.
const JUDGE: &str = r#"
import json, sys
for line in sys.stdin:
    ask = json.loads(line)
    open("asked", "a").write("asked\n")
    turns = len(ask["episode"]["turns"])
    print(json.dumps({"id": ask["id"], "value": turns, "evidence": f"{turns} turns"}), flush=True)
"#;

const ANNOTATORS: &str =
    "annotators=[{type='command',name='turns',version='1',command=['python3','judge.py']}]";
const REWARD: &str =
    "reward={type='sum',of=[{type='exact-answer'},{type='annotation',key='turns',weight=-0.1}]}";

fn asked(dir: &Path) -> usize {
    std::fs::read_to_string(dir.join("asked")).map_or(0, |text| text.lines().count())
}

#[test]
fn a_program_is_asked_before_scoring_and_never_again() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    std::fs::write(dir.join("judge.py"), JUDGE).unwrap();
    let small = ["--set", "budget.steps=2", "--set", "controls=[]", "--set", "evaluation.every=0"];
    let set = ["train", RECIPE, "--run", "run", "--set", ANNOTATORS, "--set", REWARD];
    say(dir, set.iter().chain(&small)).well();
    let folder = RunFolder::open_read_only(&dir.join("run")).unwrap();
    let stored = folder.annotations().unwrap();
    let (episodes, questions) = (folder.episodes(&Default::default()).unwrap(), asked(dir));
    assert!(!episodes.is_empty());
    assert_eq!((stored.len(), questions), (episodes.len(), episodes.len()));
    for episode in &episodes {
        let said = &stored[&episode.scored.episode.id][0];
        assert_eq!((said.name.as_str(), said.version.as_str()), ("turns", "1"));
        assert_eq!(said.value, episode.scored.episode.turns.len() as f64);
    }
    // Scored again by the run's own reward, to the bit, without a question.
    let again = say(dir, ["score", "run/recipe.toml", "run", "--json"]).well().json();
    assert_eq!(asked(dir), questions);
    for line in again {
        let before = episodes.iter().find(|e| e.scored.episode.id.to_string() == line["episode"]).unwrap();
        assert_eq!(line["reward"].as_f64(), before.scored.reward(), "{line}");
    }
}

#[test]
fn a_term_whose_annotation_nobody_gives_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let said = say(dir.path(), ["train", RECIPE, "--set", REWARD]);
    assert_eq!(said.code, Some(2), "{}", said.err);
    assert!(said.err.contains("needs the annotation `turns`, which nobody gives"), "{}", said.err);
}

#[test]
fn a_program_that_cannot_say_fails_the_grader_is_told_and_is_never_a_zero() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let silent = "import sys\nfor line in sys.stdin:\n    sys.exit(3)\n";
    std::fs::write(dir.join("judge.py"), silent).unwrap();
    let small = ["--set", "budget.steps=1", "--set", "controls=[]", "--set", "evaluation.every=0"];
    let set = ["train", RECIPE, "--json", "--run", "run", "--set", ANNOTATORS, "--set", REWARD];
    let said = say(dir, set.iter().chain(&small));
    assert!(said.code == Some(1) && said.err.contains("of this run counts"), "{}", said.err);
    assert!(said.out.contains("nothing was said of episode"), "{}", said.out);
    let folder = RunFolder::open_read_only(&dir.join("run")).unwrap();
    let episodes = folder.episodes(&Default::default()).unwrap();
    assert!(!episodes.is_empty());
    for stored in episodes {
        assert_eq!(stored.scored.outcome(), merit_core::Outcome::GraderFailed);
        assert_eq!(stored.scored.reward(), None);
    }
}

/// Never says the same twice, and writes down which episode it was asked about.
const FICKLE: &str = r#"
import json, sys
for line in sys.stdin:
    ask = json.loads(line)
    with open("asked", "a") as asked:
        asked.write(json.dumps(ask["episode"]["id"], sort_keys=True) + "\n")
    number = sum(1 for _ in open("asked"))
    print(json.dumps({"id": ask["id"], "value": number}), flush=True)
"#;

#[test]
fn a_run_that_goes_on_uses_what_was_said_before() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    std::fs::write(dir.join("judge.py"), FICKLE).unwrap();
    let mut begun = tiny::merit(dir);
    begun.args(["train", RECIPE, "--json", "--run", "run", "--set", ANNOTATORS, "--set", REWARD]);
    // No checkpoint between the steps: going on does them again.
    for set in ["budget.steps=4", "budget.checkpoint_every=100", "controls=[]", "evaluation.every=2"] {
        begun.args(["--set", set]);
    }
    let mut training = Training::spawn(begun);
    let second = |event: &Value| event["event"] == "step" && event["step"] == 2;
    assert_eq!(training.wait_for(second), Waited::Came);
    training.kill();
    let before = RunFolder::open_read_only(&dir.join("run")).unwrap().annotations().unwrap();
    assert!(before.keys().any(|id| id.phase == Phase::train() && id.step == 1), "{:?}", before.keys());
    say(dir, ["train", "--resume", "run"]).well();
    let after = RunFolder::open_read_only(&dir.join("run")).unwrap().annotations().unwrap();
    let questions = std::fs::read_to_string(dir.join("asked")).unwrap();
    for (id, said) in &before {
        assert_eq!(after[id], *said, "{id}");
        let id: Value = serde_json::to_value(id).unwrap();
        let asked = questions.lines().filter(|line| serde_json::from_str::<Value>(line).unwrap() == id);
        assert_eq!(asked.count(), 1, "{id}");
    }
    assert!(after.len() > before.len());
}
