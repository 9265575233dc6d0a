//! `merit score` and `merit reward`: recorded episodes under any reward, and rewards before anybody learns from them.

use crate::soon::{soon, until_gone};
use crate::tiny::{self, RECIPE, say};
use crate::words::golden::{block, check};
use merit_store::{EpisodeFilter, RunFolder};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::Stdio;
use tempfile::TempDir;

/// Three answers to two questions: one right, one wrong, one to a question whose answer nobody knows.
const ANSWERS: &str = r#"{"prompt": "6 times 7?", "response": "42", "answer": "42", "reward": 1.0, "id": "q1"}
{"prompt": "6 times 7?", "response": "41", "answer": "42", "reward": 0.0, "id": "q1"}
{"prompt": "Who?", "response": "Nobody", "id": "q2"}
"#;
const EXACT: &str = "type = \"exact-answer\"\nweight = 2.0\n";

/// A folder with answers, rewards that are fine, and some that are not.
fn desk() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
    write("answers.jsonl", ANSWERS);
    write("exact.toml", EXACT);
    // Eight tokens and a turn cost more than a right answer pays, so the best is to do nothing.
    write(
        "dear.toml",
        "type = \"sum\"\nof = [\n  { type = \"exact-answer\" },\n  { type = \"clip\", low = -3, high = 0, of = { type = \"cost\", per_token = 0.1, per_turn = 0.5 } },\n]\n",
    );
    write(
        "dead.toml",
        "type = \"sum\"\nof = [\n  { type = \"exact-answer\" },\n  { type = \"gate\", when = { type = \"tool-success\" }, at_least = 1.5, then = { type = \"format\" } },\n]\n",
    );
    write("term.toml", "type = \"sum\"\nof = [\n  { type = \"exact-answr\" },\n]\n");
    write("key.toml", "type = \"sum\"\nof = [\n  { type = \"exact-answer\", wieght = 2 },\n]\n");
    write("none.toml", "type = \"sum\"\nof = []\n");
    write("garbage.toml", "type = [\n");
    dir
}

/// What a run recorded, by episode, as JSON.
fn recorded(run: &Path) -> BTreeMap<String, (Value, Value)> {
    let folder = RunFolder::open_read_only(run).unwrap();
    let stored = folder.episodes(&EpisodeFilter::default()).unwrap();
    let scored = stored.iter().map(|stored| &stored.scored);
    scored.map(|s| (s.episode.id.to_string(), (json!(s.reward()), json!(s.score)))).collect()
}

/// The same as it comes out of scoring again.
fn scored_again(dir: &Path, reward: &str, run: &str) -> BTreeMap<String, (Value, Value)> {
    let lines = say(dir, ["score", reward, run, "--json"]).well().json();
    let of = |line: &Value| (line["reward"].clone(), line["score"].clone());
    lines.iter().map(|line| (line["episode"].as_str().unwrap().to_owned(), of(line))).collect()
}

fn must_agree(again: &BTreeMap<String, (Value, Value)>, before: &BTreeMap<String, (Value, Value)>) {
    assert!(!before.is_empty());
    assert_eq!(again.keys().collect::<Vec<_>>(), before.keys().collect::<Vec<_>>());
    for (episode, score) in before {
        assert_eq!(again[episode], *score, "{episode}");
    }
}

#[test]
fn a_run_scored_again_by_its_own_reward_gets_what_was_recorded_to_the_bit() {
    let run = &tiny::reference().path;
    let before = recorded(run);
    // What makes it hard: weights that were learned from step to step, also in the evaluations, and a term that errs.
    let phases =
        ["eval-after/", "eval-before/", "eval-after@no-tool/", "eval-step/", "train/", "train@no-tool/"];
    assert!(phases.iter().all(|phase| before.keys().any(|id| id.starts_with(phase))), "{:?}", before.keys());
    must_agree(&scored_again(run.parent().unwrap(), RECIPE, "undisturbed"), &before);
    let own = run.join("recipe.toml").display().to_string();
    must_agree(&scored_again(run.parent().unwrap(), &own, "undisturbed"), &before);
}

#[test]
fn another_seed_errs_elsewhere_and_another_reward_pays_otherwise() {
    let run = &tiny::reference().path;
    let dir = run.parent().unwrap();
    let desk = desk();
    let noisy = desk.path().join("noisy.toml");
    let text = "type = 'exact-answer'\nerrors = { false_positive = 0.5, false_negative = 0.5 }\n";
    std::fs::write(&noisy, text).unwrap();
    let noisy = noisy.display().to_string();
    let of_seed =
        |seed: &str| say(dir, ["score", &noisy, "undisturbed", "--json", "--seed", seed]).well().json();
    let (one, same, other) = (of_seed("1"), of_seed("1"), of_seed("99"));
    assert_eq!(one, same);
    let moved = one.iter().zip(&other).filter(|(a, b)| a["reward"] != b["reward"]).count();
    assert!(moved > 0 && moved < one.len(), "{moved} of {}", one.len());
    let exact = desk.path().join("exact.toml").display().to_string();
    for (id, (reward, score)) in scored_again(dir, &exact, "undisturbed") {
        assert_eq!(score["terms"].as_array().unwrap().len(), 1, "{id}");
        assert!(reward == 0.0 || reward == 2.0, "{id}: {reward}");
    }
}

#[test]
fn a_run_is_shaped_with_the_discount_it_learned_with() {
    let dir = tempfile::tempdir().unwrap();
    let shaped =
        "{ type = 'shaping', of = { type = 'exact-answer' }, potential = { type = 'format' }, start = 0.0 }";
    let settings = [
        format!("reward={shaped}"),
        "credit={ type = 'gae', gamma = 0.5 }".to_owned(),
        "model.value_head=true".to_owned(),
        "learn.objective.value.coefficient=0.5".to_owned(),
        "budget.steps=1".to_owned(),
        "controls=[]".to_owned(),
    ];
    let mut arguments = vec!["train", RECIPE, "--json", "--run", "shaped"];
    arguments.extend(settings.iter().flat_map(|setting| ["--set", setting.as_str()]));
    say(dir.path(), arguments).well();
    let before = recorded(&dir.path().join("shaped"));
    must_agree(&scored_again(dir.path(), "shaped/recipe.toml", "shaped"), &before);
    let other =
        say(dir.path(), ["score", "shaped/recipe.toml", "shaped", "--json", "--discount", "1"]).well().json();
    let differs = |line: &Value| line["score"] != before[line["episode"].as_str().unwrap()].1;
    assert!(other.iter().any(differs), "the discount makes no difference here");
}

#[test]
fn scores_are_shown_as_a_table_and_explained() {
    let dir = desk();
    let mut text = String::new();
    for arguments in [
        &["score", "exact.toml", "answers.jsonl"][..],
        &["score", "exact.toml", "answers.jsonl", "--json"],
        &["score", "exact.toml", "answers.jsonl", "--explain", "import/0/0/1"],
        &["score", "exact.toml", "answers.jsonl", "--explain", "import/0/0/1", "--json"],
        &["score", "exact.toml", "answers.jsonl", "--explain"],
    ] {
        let (said, conversation) = block(dir.path(), arguments);
        said.well();
        text.push_str(&conversation);
    }
    check("score.txt", &text);
}

#[test]
fn a_grader_that_fails_everywhere_says_why_and_is_no_success() {
    let dir = desk();
    let broken = "type = \"command\"\ncommand = [\"/nowhere/program\"]\n";
    std::fs::write(dir.path().join("broken.toml"), broken).unwrap();
    let score = |more: &[&str]| say(dir.path(), [&["score", "broken.toml", "answers.jsonl"], more].concat());
    for said in [score(&[]), score(&["--json"])] {
        assert_eq!(said.code, Some(1), "{}", said.err);
        assert!(said.err.contains("no episode has a reward: "), "{}", said.err);
        assert!(said.err.contains("/nowhere/program"), "{}", said.err);
    }
    let table = score(&[]).out;
    assert!(table.contains("    most often (3): ") && table.contains("/nowhere/program"), "{table}");
}

#[test]
fn a_signal_that_ends_merit_ends_the_programs_that_it_started() {
    let dir = desk();
    let hangs =
        "type = \"command\"\ncommand = [\"sh\", \"-c\", \"echo $$ > new; mv new pid; exec sleep 3600\"]\n";
    std::fs::write(dir.path().join("hangs.toml"), hangs).unwrap();
    let mut command = tiny::merit(dir.path());
    command.args(["score", "hangs.toml", "answers.jsonl"]).stdout(Stdio::null()).stderr(Stdio::null());
    let mut merit = command.spawn().unwrap();
    let hung = soon(|| std::fs::read_to_string(dir.path().join("pid")).ok()?.trim().parse::<i32>().ok());
    let pid = Pid::from_raw(merit.id() as i32).unwrap();
    kill_process(pid, Signal::TERM).unwrap();
    assert_eq!(merit.wait().unwrap().signal(), Some(Signal::TERM.as_raw()));
    until_gone(hung);
}

#[test]
fn a_file_and_its_import_score_the_same() {
    let dir = desk();
    say(dir.path(), ["import", "answers.jsonl", "--out", "kept"]).well();
    let of = |episodes: &str| say(dir.path(), ["score", "exact.toml", episodes, "--json"]).well().out;
    assert_eq!(of("kept"), of("answers.jsonl"));
}

#[test]
fn what_cannot_be_scored_is_refused() {
    let dir = desk();
    std::fs::create_dir(dir.path().join("folder")).unwrap();
    std::fs::write(dir.path().join("odd.json"), "{\"neither\": 1}").unwrap();
    let mut text = String::new();
    for arguments in [
        &["score", "exact.toml", "absent.jsonl"][..],
        &["score", "exact.toml", "folder"],
        &["score", "exact.toml", "odd.json"],
        &["score", "exact.toml", "answers.jsonl", "--explain", "import/9/9/9"],
        &["score", "exact.toml", "answers.jsonl", "--discount", "1.5"],
        &["score", "term.toml", "answers.jsonl"],
        &["score", "absent.toml", "answers.jsonl"],
        &["score", "mats", "answers.jsonl"],
        &["score", "exact.toml"],
    ] {
        let (said, conversation) = block(dir.path(), arguments);
        assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{conversation}");
        text.push_str(&conversation);
    }
    check("score-refused.txt", &text);
}

#[test]
fn a_reward_is_checked_with_an_exit_code_that_says_how_bad_it_is() {
    let dir = desk();
    let mut text = String::new();
    for (arguments, code) in [
        (&["exact.toml"][..], 0),
        (&["exact.toml", "--episodes", "answers.jsonl"], 0),
        (&["dead.toml"], 0),
        (&["dead.toml", "--json"], 0),
        (&["dear.toml"], 1),
        (&["dear.toml", "--json"], 1),
        (&["term.toml"], 2),
        (&["key.toml"], 2),
        (&["none.toml"], 2),
        (&["garbage.toml"], 2),
        (&["absent.toml"], 2),
        (&["mats"], 2),
        (&["exact.toml", "--episodes", "absent.jsonl"], 2),
    ] {
        let (said, conversation) = block(dir.path(), &[&["reward", "check"], arguments].concat());
        assert_eq!(said.code, Some(code), "{conversation}");
        text.push_str(&conversation);
    }
    check("reward-check.txt", &text);
}

#[test]
fn a_reward_that_is_shown_and_read_again_is_the_same_reward() {
    let dir = desk();
    let shipped = merit_reward::REWARDS.iter().map(|reward| reward.about.name);
    for name in shipped.chain([RECIPE, "ledger-tools", "exact.toml", "dead.toml"]) {
        let shown = say(dir.path(), ["reward", "show", name]).well().out;
        std::fs::write(dir.path().join("shown.toml"), &shown).unwrap();
        assert_eq!(say(dir.path(), ["reward", "show", "shown.toml"]).well().out, shown, "{name}");
        let scores = |reward: &str| say(dir.path(), ["score", reward, "answers.jsonl", "--json"]).well().out;
        assert_eq!(scores("shown.toml"), scores(name), "{name}");
    }
}

#[test]
fn every_shipped_reward_passes_its_check() {
    for reward in merit_reward::REWARDS {
        say(Path::new("."), ["reward", "check", reward.about.name]).well();
    }
}
