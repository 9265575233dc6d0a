//! The `code` term: what it pays, whom it blames, and what it tells nobody.

use crate::support::*;
use merit_core::{Episode, Evidence, TermOutcome};
use merit_reward::{Scorer, conformance};
use serde_json::{Value, json};

const SHARE: &str = "type = 'code'\ntests = { pointer = '/tests' }\nhidden = { pointer = '/hidden' }";

fn all() -> String {
    format!("{SHARE}\npay = 'all'")
}

fn task() -> Value {
    json!({
        "tests": ["assert square(2) == 4", {"type": "call", "function": "square", "args": [3], "result": 9}],
        "hidden": ["MARK = 'xyzzy'\nassert square(-5) == 25, MARK", "assert square(0) == 0"],
    })
}

fn writes(program: &str) -> Episode {
    play(None, task(), &[Did::Answers(program)])
}

const RIGHT: &str = "def square(x):\n    return x * x";
/// Right where it could be seen, and at one hidden test by chance.
const SEEN: &str = "def square(x):\n    return {2: 4, 3: 9}.get(x, 0)";

fn evidence(toml: &str, episode: &Episode) -> Vec<Evidence> {
    term(toml, episode).evidence
}

#[test]
fn the_share_of_tests_is_paid_or_all_of_them() {
    assert_eq!((value(SHARE, &writes(RIGHT)), value(&all(), &writes(RIGHT))), (1.0, 1.0));
    assert_eq!((value(SHARE, &writes(SEEN)), value(&all(), &writes(SEEN))), (0.75, 0.0));
    assert_eq!(value(SHARE, &writes("def square(x) return x")), 0.0);
    assert_eq!(value(SHARE, &writes("")), 0.0);
    assert_eq!(value(SHARE, &play(None, task(), &[Did::Says("no answer")])), 0.0);
}

#[test]
fn a_task_without_tests_is_none_of_its_business() {
    let episode = play(Some("7"), Value::Null, &[Did::Answers(RIGHT)]);
    assert!(matches!(term(SHARE, &episode).outcome, TermOutcome::NotApplicable { .. }));
}

#[test]
fn evidence_quotes_visible_tests_and_only_counts_hidden_ones() {
    let found = evidence(SHARE, &writes("def square(x):\n    return 4 if x == 2 else -1"));
    let told: Vec<&str> = found.iter().map(|evidence| evidence.finding.as_str()).collect();
    assert_eq!(
        told,
        [
            "1 of 2 visible and 0 of 2 hidden tests passed",
            "test 2: failed: square gave -1",
            "hidden test 1: failed",
            "hidden test 2: failed"
        ]
    );
    let raises = evidence(SHARE, &writes("def square(x):\n    raise ValueError(x)"));
    let text = format!("{raises:?}");
    assert!(text.contains("ValueError: 2") && !text.contains("-5") && !text.contains("xyzzy"), "{text}");
}

#[test]
fn a_broken_test_is_the_graders_failure_and_hidden_ones_are_not_quoted() {
    let broken = |tests: Value, hidden: Value| {
        let episode = play(None, json!({"tests": tests, "hidden": hidden}), &[Did::Answers(RIGHT)]);
        match term(SHARE, &episode).outcome {
            TermOutcome::GraderFailed { why } => why,
            other => panic!("{other:?}"),
        }
    };
    assert!(broken(json!(["assert square(2) =="]), json!([])).contains("visible test 1"));
    assert!(broken(json!([{"type": "call"}]), json!([])).contains("cannot be read"));
    let hidden = broken(json!([]), json!(["import xyzzy"]));
    assert!(hidden.contains("hidden test 1") && !hidden.contains("xyzzy"), "{hidden}");
    assert_eq!(broken(json!([]), json!([{"xyzzy": 1}])), "the hidden tests cannot be read");
}

#[test]
fn a_sandbox_that_cannot_start_is_the_graders_failure_with_the_reason() {
    let toml = format!("{SHARE}\ncheck = {{ sandbox = {{ python = '/nowhere/python3' }} }}");
    match term(&toml, &writes(RIGHT)).outcome {
        TermOutcome::GraderFailed { why } => assert!(why.contains("/nowhere/python3"), "{why}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn hidden_tests_may_be_the_tasks_answer() {
    let toml = "type = 'code'\ntests = { pointer = '/tests' }\nhidden = 'answer'";
    for answer in [
        "assert square(7) == 49",
        r#"["assert square(7) == 49", {"type": "call", "function": "square", "args": [1], "result": 1}]"#,
    ] {
        let episode = |program| play(Some(answer), task(), &[Did::Answers(program)]);
        assert_eq!(value(toml, &episode(RIGHT)), 1.0);
        assert!(value(toml, &episode(SEEN)) < 1.0);
    }
}

#[test]
fn the_entry_point_may_stand_in_the_task() {
    let toml = "type = 'code'\ntests = { pointer = '/test' }\nentry_point = { pointer = '/entry' }\nreading = 'last-turn'\n\
                check = { extract = 'last-fence', prelude = 'from typing import List' }";
    let payload =
        json!({"test": "def check(candidate):\n    assert candidate([1, 2]) == 3", "entry": "total"});
    let text = "Here:\n```python\ndef total(xs: List[int]) -> int:\n    return sum(xs)\n```";
    assert_eq!(value(toml, &play(None, payload.clone(), &[Did::Answers(text)])), 1.0);
    assert_eq!(value(toml, &play(None, payload, &[Did::Answers("def total(xs): return 3")])), 0.0);
}

#[test]
fn settings_that_cannot_work_are_refused() {
    for (toml, why) in [
        ("type = 'code'", "missing field `tests`"),
        ("type = 'code'\ntests = 'answer'\nhidden = 'answer'", "cannot be hidden"),
        ("type = 'code'\ntests = { pointer = 'tests' }", "starts with `/`"),
        ("type = 'code'\ntests = { value = [{ type = 'cal' }] }", "`cal`"),
        ("type = 'code'\ntests = 'answer'\ncheck = { limits = { seconds = 0.0 } }", "`seconds`"),
        ("type = 'code'\ntests = 'answer'\nrunner = 'python'", "unknown field"),
        ("type = 'code'\ntests = 'answer'\npay = 'some'", "unknown variant"),
    ] {
        let said = refusal(toml);
        assert!(said.contains(why), "{toml}: {said}");
    }
}

#[test]
fn it_conforms_on_episodes_of_every_kind() {
    let episodes: Vec<Episode> = [
        writes(RIGHT),
        writes(SEEN),
        writes("while True: pass"),
        writes("def square(x):\n    raise SystemExit"),
        play(None, json!({"tests": ["1 +"]}), &[Did::Answers(RIGHT)]),
        play(None, task(), &[]),
        play(Some("7"), Value::Null, &[Did::Answers("7")]),
        broken(writes(RIGHT)),
    ]
    .into_iter()
    .enumerate()
    .map(|(member, mut episode)| {
        episode.id.member = member as u32;
        episode
    })
    .collect();
    let toml = format!("{SHARE}\ncheck = {{ limits = {{ seconds = 1.0 }} }}");
    let config = merit_graders::from_toml(&toml).unwrap();
    let scorer = Scorer::compile(&config).unwrap();
    assert_eq!(conformance::check_reward(&scorer, &episodes), Vec::<String>::new());
}
