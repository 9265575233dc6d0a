//! Terms that look at tool calls, and at what was said about them.

use crate::support::*;
use merit_core::CallEnd::{Ok as Ran, Refused, TimedOut, Unknown};
use merit_reward::{ScoreContext, Scorer};
use serde_json::{Value, json};

fn calls<'a>(made: &'a [(&'a str, &'a str, merit_core::CallEnd, &'a str)]) -> Did<'a> {
    Did::Calls(made)
}

#[test]
fn a_call_of_which_nobody_knows_the_end_is_neither_success_nor_failure() {
    let toml = "type = 'tool-success'";
    let known =
        [calls(&[("a", "{}", Unknown, ""), ("a", "{}", Ran, "x")]), calls(&[("a", "{}", Unknown, "")])];
    let episode = play(None, Value::Null, &known);
    check(toml, &episode, 1.0);
    assert_eq!(term(toml, &episode).turns, [Some(1.0), None]);
    check_silent(toml, &play(None, Value::Null, &[calls(&[("a", "{}", Unknown, "")])]));
    // The cap counts calls that count.
    let capped = "type = 'tool-success'\nmax_calls = 1";
    check(
        capped,
        &play(None, Value::Null, &[calls(&[("a", "{}", Unknown, ""), ("a", "{}", TimedOut, "")])]),
        0.0,
    );
}

const SPECS: &str = r#"
type = "tool-calls"
specs = { value = [{ name = "add", parameters = { type = "object", required = ["n"], properties = { n = { type = "integer" } } } }] }
"#;

#[test]
fn a_call_is_well_formed_by_the_tools_own_specification() {
    let did = [
        calls(&[("add", r#"{"n": 1}"#, Ran, "1"), ("add", r#"{"n": "1"}"#, Refused, "no")]),
        Did::Says("hm"),
        calls(&[("ad", r#"{"n": 1}"#, Refused, "no"), ("add", r#"{"n": 1"#, Refused, "no")]),
    ];
    let episode = play(None, Value::Null, &did);
    check(SPECS, &episode, 0.25);
    assert_eq!(term(SPECS, &episode).turns, [Some(0.5), None, Some(0.0)]);
    let shown = evidence(SPECS, &episode);
    assert!(shown.contains("1 of 4 counted calls are well formed; turn 0, `add`: `/n`"), "{shown}");
    check(&format!("{SPECS}max_calls = 1"), &episode, 1.0);
    check_silent(SPECS, &play(None, Value::Null, &[Did::Says("x")]));
}

#[test]
fn specifications_can_stand_with_the_task() {
    let tools = json!([{"type": "function", "function": {"name": "add", "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}}}}]);
    let did = [calls(&[("add", r#"{"n": 1}"#, Ran, "1"), ("add", r#"{"m": 1}"#, Refused, "no")])];
    let toml = "type = 'tool-calls'";
    check(toml, &play(None, json!({"tools": tools}), &did), 0.5);
    check_silent(toml, &play(None, json!({}), &did));
    check_grader_failed(toml, &play(None, json!({"tools": [{"nome": "add"}]}), &did));
}

#[test]
fn rules_over_the_sequence_of_calls() {
    let toml =
        "type = 'trace'\nrules = [{ before = ['look', 'book'] }, { at_most = { tool = 'book', n = 1 } }]";
    let early = [calls(&[("book", "{}", Ran, "")]), calls(&[("look", "{}", Ran, "")]), Did::Says("x")];
    let episode = play(None, Value::Null, &early);
    check(toml, &episode, 0.5);
    assert_eq!(term(toml, &episode).turns, [Some(0.0), Some(1.0), None]);
    check(&format!("{toml}\npay = 'pass'"), &episode, 0.0);
    let shown = evidence(toml, &episode);
    assert!(shown.contains("`before` is broken: `book` (call 0) came without an earlier `look`"), "{shown}");
}

#[test]
fn arguments_must_have_been_seen_before() {
    let toml = "type = 'trace'\nrules = [{ args_from_observations = {} }]";
    let grounded =
        [calls(&[("find", "{}", Ran, "the id is R77")]), calls(&[("open", r#"{"id": "R77"}"#, Ran, "")])];
    check(toml, &play(None, Value::Null, &grounded), 1.0);
    let invented =
        [calls(&[("open", r#"{"id": "R77"}"#, Ran, "")]), calls(&[("find", "{}", Ran, "the id is R77")])];
    check(toml, &play(None, Value::Null, &invented), 0.0);
}

const BOOKED: &str = "type = 'reference-actions'\nwrites = ['book', 'cancel']\nignore_arguments = ['note']";

fn desk() -> Value {
    json!({"actions": [
        {"name": "book", "kwargs": {"seat": "4C"}},
        {"tool": "cancel", "arguments": "{\"id\": 7}"},
    ]})
}

#[test]
fn expected_calls_are_paid_by_the_turn_that_made_them() {
    let did = [
        calls(&[("look", "{}", Ran, "")]),
        calls(&[("book", r#"{"seat": "4C", "note": "window"}"#, Ran, "")]),
        Did::Says("done"),
        calls(&[("cancel", r#"{"id": 7.0}"#, Unknown, "")]),
    ];
    let episode = play(None, desk(), &did);
    check(BOOKED, &episode, 1.0);
    assert_eq!(term(BOOKED, &episode).turns, [Some(0.0), Some(0.5), None, Some(0.5)]);
    let progress = format!("{BOOKED}\nby_turn = 'progress'");
    assert_eq!(term(&progress, &episode).turns, [Some(0.0), Some(0.5), None, Some(1.0)]);
    let shown = evidence(BOOKED, &episode);
    assert!(
        shown.contains("2 of 2 expected calls made") && shown.contains("turn 3 is `cancel` (1)"),
        "{shown}"
    );
}

#[test]
fn refused_calls_count_for_nothing_and_unasked_writes_cost() {
    let refused = [calls(&[("book", r#"{"seat": "4C"}"#, Refused, "Error")])];
    check(BOOKED, &play(None, desk(), &refused), 0.0);
    let greedy = [calls(&[("book", r#"{"seat": "4C"}"#, Ran, ""), ("book", r#"{"seat": "4D"}"#, Ran, "")])];
    // One expected of two, less one that nobody asked for.
    check(BOOKED, &play(None, desk(), &greedy), 0.0);
    check(&format!("{BOOKED}\nextra_penalty = 0.5"), &play(None, desk(), &greedy), 0.25);
    let twice = [calls(&[("book", r#"{"seat": "4C"}"#, Ran, ""), ("book", r#"{"seat": "4C"}"#, Ran, "")])];
    check(BOOKED, &play(None, desk(), &twice), 0.0);
}

#[test]
fn where_nothing_is_expected_leaving_things_alone_earns_nothing_and_writing_is_0() {
    let nothing = json!({"actions": []});
    check_silent(BOOKED, &play(None, nothing.clone(), &[Did::Says("I may not do that.")]));
    check(BOOKED, &play(None, nothing, &[calls(&[("cancel", r#"{"id": 7}"#, Ran, "")])]), 0.0);
    // Reads that the reference lists are optional where only writes count.
    let only = format!("{BOOKED}\ntools = ['book', 'cancel']");
    check_silent(&only, &play(None, json!({"actions": [{"name": "look", "kwargs": {}}]}), &[Did::Says("x")]));
}

#[test]
fn a_reference_that_is_no_list_of_calls_is_the_graders_failure() {
    check_silent(BOOKED, &play(None, json!({}), &[Did::Says("x")]));
    for actions in [json!("book"), json!([{"kwargs": {}}]), json!([{"name": "book", "kwargs": 7}])] {
        check_grader_failed(BOOKED, &play(None, json!({"actions": actions}), &[Did::Says("x")]));
    }
}

#[test]
fn progress_over_expected_calls_is_a_potential() {
    let toml = "type = 'shaping'\nof = { type = 'exact-answer' }\npotential = { type = 'reference-actions', by_turn = 'progress' }";
    let did = [
        calls(&[("book", r#"{"seat": "4C"}"#, Ran, "")]),
        calls(&[("cancel", r#"{"id": 7}"#, Ran, "")]),
        Did::Answers("done"),
    ];
    let episode = play(Some("done"), desk(), &did);
    let score = score(toml, &episode);
    // Φ goes 0, 1/2, 1 and is 0 behind the end: the payments sum to 0 and the answer's 1 is left.
    assert_eq!(score.turn_rewards, [0.5, 0.5, -1.0]);
    assert_eq!(score.reward.value(), Some(1.0));
}

#[test]
fn required_outputs_are_whole_words_or_equal_numbers() {
    let toml = "type = 'outputs'";
    let says = |texts: &[&'static str]| {
        let did: Vec<Did<'_>> = texts.iter().map(|text| Did::Says(text)).collect();
        play(None, json!({"outputs": ["1786", "Gate B"]}), &did)
    };
    let episode = says(&["Hello.", "That is $1,786.00.", "Go to gate b!"]);
    check(toml, &episode, 1.0);
    assert_eq!(term(toml, &episode).turns, [Some(0.0), Some(0.5), Some(0.5)]);
    check(toml, &says(&["It is 17860, at gate BX, flight HAT1786, on 1786-01-02."]), 0.0);
    check(toml, &says(&[]), 0.0);
    let shown = evidence(toml, &says(&["It costs 1786."]));
    assert_eq!(shown, "compared: turn 0 says `1786`, `gate b` was never said");
    check_silent(toml, &play(None, json!({"outputs": []}), &[Did::Says("x")]));
    check_silent(toml, &play(None, Value::Null, &[Did::Says("x")]));
    check_grader_failed(toml, &play(None, json!({"outputs": [" "]}), &[Did::Says("x")]));
}

#[test]
fn listing_every_number_says_none() {
    let listed: Vec<String> = (300..400).map(|n| n.to_string()).collect();
    let task = json!({"outputs": ["327"]});
    check("type = 'outputs'", &play(None, task.clone(), &[Did::Says(&listed.join(" "))]), 0.0);
    check("type = 'outputs'", &play(None, task.clone(), &[Did::Says(&listed[20..40].join(" "))]), 1.0);
    let long = format!("327 {}", "and more ".repeat(1000));
    check("type = 'outputs'", &play(None, task, &[Did::Says(&long)]), 0.0);
}

#[test]
fn an_explanation_shows_what_each_turn_did() {
    let scorer: Scorer = scorer(BOOKED);
    let episode = play(None, desk(), &[calls(&[("book", r#"{"seat": "4C"}"#, Ran, "")]), Did::Says("x")]);
    let explained = scorer.explain(&episode, &ScoreContext::default());
    assert!(explained.contains("by turn: 0.5 –"), "{explained}");
}
