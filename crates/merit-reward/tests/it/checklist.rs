//! Checklists and rubrics on small episodes whose scores can be worked out by hand.

use crate::episodes::{Did, episode};
use merit_core::{CallEnd, Episode, Reward, Score};
use merit_reward::{RewardConfig, ScoreContext, Scorer};

const OK: CallEnd = CallEnd::Ok;
const NO: CallEnd = CallEnd::Refused;

fn compile(toml: &str) -> Result<Scorer, String> {
    let config: RewardConfig = RewardConfig::from_toml(toml).map_err(|e| e.to_string())?;
    Scorer::compile(&config).map_err(|e| e.to_string())
}

fn score(toml: &str, episode: &Episode) -> Score {
    compile(toml).unwrap().score(episode, &ScoreContext::default())
}

fn check(toml: &str, episode: &Episode, want: f64) {
    let reward = score(toml, episode).reward;
    let value = reward.value().unwrap_or_else(|| panic!("{toml}: {reward:?}"));
    assert!((value - want).abs() < 1e-12, "{toml}: {value}, not {want}");
}

/// Turn 0 opens with a call, the form holds throughout (weight 2), the answer is right (weight 1) and needs the form.
fn list(settings: &str, first: &str) -> String {
    format!(
        "type = 'checklist'\n{settings}\nitems = [
            {{ name = 'opens', check = {{ type = 'tool-success' }}, turn = 0{first} }},
            {{ name = 'form', check = {{ type = 'format' }}, weight = 2 }},
            {{ name = 'answer', check = {{ type = 'exact-answer' }}, needs = ['form'] }},
        ]"
    )
}

fn plays(did: &[Did<'_>]) -> Episode {
    episode(Some("7"), 1, did)
}

#[test]
fn a_checklist_is_the_weighted_share_of_what_passes() {
    let list = list("", "");
    check(&list, &plays(&[Did::Calls(&[OK]), Did::Answers("7")]), 1.0);
    check(&list, &plays(&[Did::Calls(&[NO]), Did::Answers("7")]), 0.75);
    check(&list, &plays(&[Did::Calls(&[OK]), Did::Answers("8")]), 0.75);
}

#[test]
fn an_item_counts_only_where_those_it_needs_pass() {
    // The answer is right, but the babble breaks the form, which it needs: only `opens` is left.
    check(&list("", ""), &plays(&[Did::Calls(&[OK]), Did::Babbles, Did::Answers("7")]), 0.25);
}

#[test]
fn a_required_item_that_fails_stops_everything_after_it() {
    let episode = plays(&[Did::Calls(&[NO]), Did::Answers("7")]);
    check(&list("", ", required = true"), &episode, 0.0);
    // What passed before it stays, unless the whole list is at stake.
    let late = |settings: &str| {
        format!(
            "type = 'checklist'\n{settings}\nitems = [{{ name = 'form', check = {{ type = 'format' }} }}, {{ name = 'tools', check = {{ type = 'tool-success' }}, required = true }}, {{ name = 'answer', check = {{ type = 'exact-answer' }} }}]"
        )
    };
    check(&late(""), &episode, 1.0 / 3.0);
    check(&late("on_required_failure = 'zero'"), &episode, 0.0);
}

#[test]
fn a_turn_that_was_never_reached_does_not_shorten_the_list() {
    let list = "type = 'checklist'\nitems = [{ name = 'a', check = { type = 'format' }, turn = 0 }, { name = 'b', check = 'format', turn = 1 }]";
    check(list, &plays(&[Did::Answers("7")]), 0.5);
    check(&format!("on_not_applicable = 'leave-out'\n{list}"), &plays(&[Did::Answers("7")]), 0.5);
}

#[test]
fn what_cannot_be_judged_fails_or_is_left_out() {
    // No call was made at turn 0: `opens` has nothing to look at.
    let silent = plays(&[Did::Answers("7")]);
    check(&list("", ""), &silent, 0.75);
    check(&list("on_not_applicable = 'leave-out'", ""), &silent, 1.0);
    let alone = "type = 'checklist'\non_not_applicable = 'leave-out'\nitems = [{ name = 'a', check = { type = 'tool-success' } }]";
    assert!(matches!(score(alone, &silent).reward, Reward::Unscorable { .. }));
}

#[test]
fn items_tied_to_a_turn_are_paid_there_if_asked_to() {
    let episode = plays(&[Did::Calls(&[OK]), Did::Answers("7")]);
    assert_eq!(score(&list("", ""), &episode).turn_rewards, Vec::<f64>::new());
    assert_eq!(score(&list("payout = 'turn'", ""), &episode).turn_rewards, [0.25, 0.0]);
}

#[test]
fn a_check_that_is_unscorable_makes_the_list_so() {
    let list = "type = 'checklist'\nitems = [{ name = 'a', check = { type = 'exact-answer', on_parse_failure = 'unscorable' } }]";
    assert!(matches!(score(list, &plays(&[Did::Answers("seven")])).reward, Reward::Unscorable { .. }));
}

#[test]
fn checklists_that_cannot_work_are_refused() {
    let items = |items: &str| compile(&format!("type = 'checklist'\nitems = [{items}]")).err().unwrap();
    let a = "{ name = 'a', check = { type = 'format' }";
    let b = "{ name = 'b', check = 'format'";
    let cases = [
        (String::new(), "`checklist` has no `items`; list at least one"),
        (
            format!("{a}, needs = ['form'] }}, {{ name = 'forms', check = 'format' }}"),
            "there is no item `form` in this reward (did you mean `forms`?)",
        ),
        (
            format!("{a}, needs = ['b'] }}, {b}, needs = ['a'] }}"),
            "items wait for each other: `a` → `b` → `a`; an item waits for those it `needs` and for every required item before it",
        ),
        (
            format!("{a}, needs = ['a'] }}"),
            "items wait for each other: `a` → `a`; an item waits for those it `needs` and for every required item before it",
        ),
        (
            format!("{a}, required = true, needs = ['b'] }}, {b} }}"),
            "items wait for each other: `a` → `b` → `a`; an item waits for those it `needs` and for every required item before it",
        ),
        (format!("{a} }}, {{ name = 'a', check = 'format' }}"), "there are two items called `a`; rename one"),
        (format!("{a}, weight = 0 }}"), "`weight` is 0; it must be above 0"),
        (
            format!("{a}, turn = 2 }}, {b}, turn = 1 }}"),
            "`a` at turn 2 stands before `b` at turn 1; list items in the order of their turns",
        ),
        (
            format!("{a}, turn = 0, needs = ['b'] }}, {b}, turn = 1 }}"),
            "`a` at turn 0 needs `b`, which is only judged at turn 1",
        ),
    ];
    for (text, want) in cases {
        assert_eq!(items(&text), format!("reward, at `reward`: {want}"));
    }
    let inside = compile(
        "type = 'per-turn'\nreduce = 'mean'\nof = { type = 'checklist', items = [{ name = 'a', check = { type = 'format' }, turn = 0 }] }",
    );
    assert!(inside.err().unwrap().contains("cannot stand inside `per-turn`"));
}

/// After Doctor-R1: form below 0.5 vetoes with −1, then tools below 0.5 with −0.75, then a mean from −1 to 1.
const DOCTOR: &str = "type = 'rubric'\nscale = 'signed'\naxes = [
    { name = 'form', of = { type = 'format' }, veto_below = 0.5, veto_value = -1 },
    { name = 'tools', of = { type = 'tool-success' }, veto_below = 0.5, veto_value = -0.75 },
    { name = 'answer', of = { type = 'exact-answer' }, weight = 2 },
]";

#[test]
fn the_first_veto_decides_alone() {
    check(DOCTOR, &plays(&[Did::Babbles, Did::Babbles, Did::Calls(&[NO])]), -1.0);
    check(DOCTOR, &plays(&[Did::Calls(&[NO]), Did::Answers("7")]), -0.75);
    // Form 1, tools 1, answer 0 of weight 2: the mean is 0.5, which is 0 on the signed scale.
    check(DOCTOR, &plays(&[Did::Calls(&[OK]), Did::Answers("8")]), 0.0);
    // Without a call that axis is left out: (1 + 2) / 3.
    check(DOCTOR, &plays(&[Did::Answers("7")]), 1.0);
}

#[test]
fn grades_are_taken_between_their_worst_and_best() {
    // A cost of −1 on a scale from −4 to 0 is 0.75.
    let rubric = "type = 'rubric'\naxes = [{ name = 'cost', of = { type = 'cost', per_turn = 0.5 }, low = -4, high = 0 }]";
    check(rubric, &plays(&[Did::Babbles, Did::Babbles]), 0.75);
    check(rubric, &plays(&vec![Did::Babbles; 20]), 0.0);
}

#[test]
fn a_gate_makes_the_axes_it_guards_count_as_their_worst() {
    // After RecRM-Bench: R = g · (tools + answer) + form, g = 1 where the form holds; each axis has a third.
    let rubric = "type = 'rubric'\naxes = [{ name = 'form', of = { type = 'format' } }, { name = 'tools', of = { type = 'tool-success' } }, { name = 'answer', of = { type = 'exact-answer' } }]\n";
    let hacks = plays(&[Did::Calls(&[OK]), Did::Babbles, Did::Answers("7")]);
    check(rubric, &hacks, (2.0 / 3.0 + 1.0 + 1.0) / 3.0);
    check(&format!("{rubric}gate = {{ axis = 'form', at_least = 1 }}"), &hacks, (2.0 / 3.0) / 3.0);
    check(
        &format!("{rubric}gate = {{ axis = 'form', at_least = 1, guards = ['answer'] }}"),
        &hacks,
        (2.0 / 3.0 + 1.0) / 3.0,
    );
}

#[test]
fn rubrics_that_cannot_work_are_refused() {
    let axes =
        |axes: &str, rest: &str| compile(&format!("type = 'rubric'\naxes = [{axes}]\n{rest}")).err().unwrap();
    let a = "{ name = 'a', of = { type = 'format' }";
    let cases = [
        (String::new(), "", "`rubric` has no `axes`; list at least one"),
        (format!("{a}, low = 1 }}"), "", "axis `a` grades from 1 to 1; `low` must be below `high`"),
        (
            format!("{a}, veto_below = 0.5 }}"),
            "",
            "axis `a` needs both `veto_below` and `veto_value`, or neither",
        ),
        (format!("{a}, weight = 0 }}"), "", "every axis has weight 0; there is nothing to take the mean of"),
        (format!("{a}, weight = -1 }}"), "", "`weight` of axis `a` is -1; it must be at least 0"),
        (format!("{a} }}, {{ name = 'a', of = 'format' }}"), "", "there are two axes called `a`; rename one"),
        (format!("{a} }}"), "gate = { axis = 'b', at_least = 1 }", "there is no axis `b` in this reward"),
        (
            format!("{a} }}"),
            "gate = { axis = 'a', at_least = 1 }",
            "the gate of `a` must guard at least one axis, and not itself",
        ),
    ];
    for (text, rest, want) in cases {
        assert_eq!(axes(&text, rest), format!("reward, at `reward`: {want}"));
    }
}
