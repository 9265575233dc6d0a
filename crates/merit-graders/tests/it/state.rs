//! The term that holds the world's final state against the goal.

use crate::support::*;
use merit_core::CallEnd::{Ok as Ran, Refused};
use serde_json::{Value, json};

fn task() -> Value {
    json!({
        "initial": {"seat": "1A", "bags": 0, "meal": "none"},
        "goal": {"seat": "4C", "bags": 2, "meal": "none"},
    })
}

const ANSWER: &str = "type = 'state'\ninitial = '/initial'";

fn says(state: &str) -> merit_core::Episode {
    play(None, task(), &[Did::Answers(state)])
}

#[test]
fn the_share_of_changes_achieved_less_what_else_was_touched() {
    check(ANSWER, &says(r#"{"seat": "4C", "bags": 2, "meal": "none"}"#), 1.0);
    // One of two changes.
    check(ANSWER, &says(r#"{"seat": "4C", "bags": 0, "meal": "none"}"#), 0.5);
    // Both, and one that nobody asked for: (2 − 1) / 2.
    check(ANSWER, &says(r#"{"seat": "4C", "bags": 2, "meal": "fish"}"#), 0.5);
    // Doing nothing achieves nothing.
    check(ANSWER, &says(r#"{"seat": "1A", "bags": 0, "meal": "none"}"#), 0.0);
    let shown = evidence(ANSWER, &says(r#"{"seat": "4C", "bags": 0, "meal": "none"}"#));
    assert_eq!(shown, "compared: 1 of 2 facts achieved, first at `/bags`; 0 other changes");
}

#[test]
fn an_answer_that_is_no_state_is_a_parse_failure_and_none_is_0() {
    check_parse_failure(ANSWER, &says("seat 4C and two bags"));
    check(ANSWER, &play(None, task(), &[Did::Babbles]), 0.0);
    check_silent(ANSWER, &play(None, json!({}), &[Did::Answers("{}")]));
}

const SHOWN: &str = "type = 'state'\ninitial = '/initial'\nfrom = { tool = 'show' }";

#[test]
fn the_last_state_that_a_tool_showed_decides_and_each_tells_of_its_turn() {
    let did = [
        Did::Calls(&[("show", "{}", Ran, r#"{"seat": "4C", "bags": 0, "meal": "none"}"#)]),
        Did::Says("one moment"),
        Did::Calls(&[("show", "{}", Ran, r#"{"seat": "4C", "bags": 2, "meal": "none"}"#)]),
    ];
    let episode = play(None, task(), &did);
    check(SHOWN, &episode, 1.0);
    assert_eq!(term(SHOWN, &episode).turns, [Some(0.5), None, Some(0.5)]);
    let progress = format!("{SHOWN}\nby_turn = 'progress'");
    assert_eq!(term(&progress, &episode).turns, [Some(0.5), None, Some(1.0)]);
}

#[test]
fn never_asking_for_the_state_is_0_and_a_tool_that_shows_none_is_the_graders_failure() {
    check(SHOWN, &play(None, task(), &[Did::Says("done")]), 0.0);
    check(SHOWN, &play(None, task(), &[Did::Calls(&[("show", "{}", Refused, "{}")])]), 0.0);
    check_grader_failed(SHOWN, &play(None, task(), &[Did::Calls(&[("show", "{}", Ran, "oops")])]));
}

#[test]
fn a_state_that_an_importer_recorded_is_read_from_the_payload() {
    let toml = "type = 'state'\nfrom = { pointer = '/reached' }\ncheck = { goal = 'part' }";
    let ended =
        |reached: Value| play(None, json!({"goal": {"bags": 2}, "reached": reached}), &[Did::Says("x")]);
    check(toml, &ended(json!({"bags": 2, "seat": "4C"})), 1.0);
    check(toml, &ended(json!({"bags": 1, "seat": "4C"})), 0.0);
    check_silent(toml, &ended(json!(null)));
}

#[test]
fn a_state_beyond_the_limits_is_laid_at_the_side_that_wrote_it() {
    let toml = "type = 'state'\ncheck = { limits = { nodes = 4 } }";
    let gives = |goal: Value, given: &str| play(None, json!({"goal": goal}), &[Did::Answers(given)]);
    check_parse_failure(toml, &gives(json!([1]), "[1, 2, 3, 4, 5]"));
    check_grader_failed(toml, &gives(json!([1, 2, 3, 4, 5]), "[1]"));
}
