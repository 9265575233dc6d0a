//! States: canonical form, differences, and what a reached state is worth.

use merit_verify::state::{ChangeKind, StateConfig, StateError, StateVerdict, StateVerifier};
use proptest::prelude::*;
use serde_json::{Value, json};

fn states(config: &str) -> StateVerifier {
    StateVerifier::compile(toml::from_str::<StateConfig>(config).unwrap()).unwrap()
}

fn initial() -> Value {
    json!({"orders": {"7": {"status": "open", "items": ["a", "b"]}, "8": {"status": "open"}}, "balance": 10, "clock": 1})
}

fn goal() -> Value {
    json!({"orders": {"7": {"status": "cancelled", "items": ["a", "b"]}, "8": {"status": "open"}}, "balance": 15, "clock": 1})
}

fn judge(reached: &Value) -> StateVerdict {
    states("ignore = [\"/clock\"]").verify(Some(&initial()), reached, &goal()).unwrap()
}

fn with(mut state: Value, pointer: &str, value: Value) -> Value {
    *state.pointer_mut(pointer).unwrap() = value;
    state
}

#[test]
fn reaching_the_goal_earns_everything_and_the_clock_does_not_matter() {
    let verdict = judge(&with(goal(), "/clock", json!(99)));
    assert!(verdict.is_goal);
    assert_eq!((verdict.score.unwrap(), verdict.asked, verdict.achieved), (1.0, 2, 2));
    assert_eq!(verdict.reached, verdict.goal);
}

#[test]
fn doing_nothing_earns_nothing_and_is_seen() {
    let verdict = judge(&initial());
    assert_eq!((verdict.score.unwrap(), verdict.achieved, verdict.was_idle), (0.0, 0, Some(true)));
    let missed: Vec<&str> = verdict.missed.iter().map(|change| change.path.as_str()).collect();
    assert_eq!(missed, ["/balance", "/orders/7/status"]);
}

#[test]
fn half_the_goal_earns_half_and_a_broken_neighbour_takes_it_back() {
    let half = with(initial(), "/balance", json!(15.0));
    assert_eq!(judge(&half).score.unwrap(), 0.5);
    let harmed = with(half, "/orders/8/status", json!("cancelled"));
    let verdict = judge(&harmed);
    assert_eq!((verdict.score.unwrap(), verdict.achieved), (0.0, 1));
    assert_eq!(verdict.collateral.len(), 1);
    assert_eq!(verdict.collateral[0].path, "/orders/8/status");
    assert_eq!(
        verdict.collateral[0].kind,
        ChangeKind::Changed { from: json!("open"), to: json!("cancelled") }
    );
}

#[test]
fn trashing_everything_else_is_collateral() {
    let verdict = judge(&json!({"orders": {"7": {"status": "cancelled"}}, "balance": 15}));
    // Gone: two items and the other order.
    assert_eq!((verdict.achieved, verdict.collateral.len(), verdict.score.unwrap()), (2, 3, 0.0));
    assert!(verdict.collateral.iter().all(|change| matches!(change.kind, ChangeKind::Removed { .. })));
    let wiped = judge(&json!({}));
    assert_eq!((wiped.achieved, wiped.score.unwrap()), (0, 0.0));
    assert_eq!(judge(&json!(null)).achieved, 0);
}

#[test]
fn a_goal_that_held_from_the_start_rewards_only_leaving_things_alone() {
    let states = states("");
    let idle = states.verify(Some(&goal()), &goal(), &goal()).unwrap();
    assert_eq!((idle.score.unwrap(), idle.was_satisfied, idle.was_idle), (1.0, true, Some(true)));
    let harmed = states.verify(Some(&goal()), &with(goal(), "/balance", json!(0)), &goal()).unwrap();
    assert_eq!(harmed.score.unwrap(), 0.0);
}

#[test]
fn a_partial_goal_still_sees_what_else_was_touched() {
    let states = states("goal = \"part\"");
    let part = json!({"orders": {"7": {"status": "cancelled"}}});
    let done = states
        .verify(Some(&initial()), &with(initial(), "/orders/7/status", json!("cancelled")), &part)
        .unwrap();
    assert_eq!((done.score.unwrap(), done.is_goal, done.asked), (1.0, true, 1));
    let careless = with(with(initial(), "/orders/7/status", json!("cancelled")), "/balance", json!(0));
    let verdict = states.verify(Some(&initial()), &careless, &part).unwrap();
    assert_eq!((verdict.score.unwrap(), verdict.achieved, verdict.is_goal), (0.0, 1, false));
    assert_eq!(states.verify(None, &careless, &part).unwrap().score.unwrap(), 1.0);
}

#[test]
fn without_an_initial_state_the_facts_of_the_goal_are_counted() {
    let states = states("");
    let goal = json!({"a": 1, "b": {"c": 2, "d": []}});
    let score = |reached: Value| states.verify(None, &reached, &goal).unwrap().score.unwrap();
    assert_eq!(score(json!({"a": 1, "b": {"c": 2, "d": []}})), 1.0);
    assert_eq!(score(json!({"a": 1, "b": {"c": 3, "d": []}})), 2.0 / 3.0);
    assert_eq!(score(json!({"a": 1, "b": {"c": 2, "d": []}, "x": 1})), 2.0 / 3.0);
    assert_eq!(score(json!(7)), 0.0);
    assert_eq!(score(json!({"a": 1, "b": 5})), 0.0);
}

#[test]
fn an_exact_score_knows_no_degrees() {
    let states = states("score = { type = \"exact\" }");
    assert_eq!(states.verify(None, &goal(), &goal()).unwrap().score.unwrap(), 1.0);
    assert_eq!(states.verify(None, &initial(), &goal()).unwrap().score.unwrap(), 0.0);
}

#[test]
fn order_and_number_kinds_count_as_configured() {
    let a = json!({"cart": [{"n": 1}, {"n": 2}], "list": [1, 2]});
    let b = json!({"cart": [{"n": 2.0}, {"n": 1}], "list": [1, 2]});
    assert_ne!(states("").hash(&a).unwrap(), states("").hash(&b).unwrap());
    let loose = states("unordered = [\"/cart\"]");
    assert_eq!(loose.hash(&a).unwrap(), loose.hash(&b).unwrap());
    assert!(loose.diff(&a, &b).unwrap().is_empty());
    let typed = states("unordered = [\"/cart\"]\nnumbers = \"typed\"");
    assert_ne!(typed.hash(&a).unwrap(), typed.hash(&b).unwrap());
    let moved = json!({"cart": [{"n": 1}, {"n": 2}, {"n": 2}], "list": [2, 1]});
    let diff = loose.diff(&a, &moved).unwrap();
    assert_eq!(diff.changes.len(), 3, "{diff:?}");
    assert_eq!(diff.changes[0].kind, ChangeKind::Added { value: json!({"n": 2}) });
}

#[test]
fn the_hash_is_that_of_the_canonical_spelling() {
    let states = states("");
    assert_eq!(states.spell(&json!({"b": [1.0], "a": null})).unwrap(), r#"{"a":null,"b":[1]}"#);
    // SHA-256 of `{}`.
    let hash = states.hash(&json!({})).unwrap();
    assert_eq!(hash.to_string(), "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a");
    let back: merit_verify::state::StateHash =
        serde_json::from_value(serde_json::to_value(hash).unwrap()).unwrap();
    assert_eq!(back, hash);
}

#[test]
fn a_verdict_is_written_and_read_back_whole() {
    let verdict = judge(&with(initial(), "/orders/8/status", json!("cancelled")));
    let text = serde_json::to_string(&verdict).unwrap();
    assert!(
        text.contains(r#"{"path":"/orders/8/status","change":"changed","from":"open","to":"cancelled"}"#),
        "{text}"
    );
    assert_eq!(serde_json::from_str::<StateVerdict>(&text).unwrap(), verdict);
}

#[test]
fn states_past_the_limits_and_settings_that_cannot_work_are_errors() {
    let small = states("[limits]\nnodes = 3");
    let error = small.verify(None, &json!([1, 2, 3]), &json!(1)).unwrap_err();
    assert!(matches!(error, StateError::TooLarge { .. }) && error.to_string().contains("reached"), "{error}");
    let config: StateConfig =
        toml::from_str("score = { type = \"facts\", collateral_weight = -1.0 }").unwrap();
    let refused = StateVerifier::compile(config).unwrap_err().to_string();
    assert!(refused.contains("collateral_weight"), "{refused}");
    let unknown = toml::from_str::<StateConfig>("unorderd = []").unwrap_err().to_string();
    assert!(unknown.contains("unknown field `unorderd`"), "{unknown}");
    assert!(toml::from_str::<StateConfig>("ignore = [\"clock\"]").unwrap_err().to_string().contains("clock"));
}

fn any_state() -> impl Strategy<Value = Value> {
    let leaf =
        prop_oneof![Just(Value::Null), (0i64..4).prop_map(Value::from), "[ab]{0,2}".prop_map(Value::from)];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-c]", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn no_difference_and_one_hash_go_together(a in any_state(), b in any_state(), bag in any::<bool>()) {
        let states = states(if bag { "unordered = [\"\", \"/**\"]" } else { "" });
        let same = states.hash(&a).unwrap() == states.hash(&b).unwrap();
        prop_assert_eq!(states.diff(&a, &b).unwrap().is_empty(), same);
        prop_assert!(states.diff(&a, &a).unwrap().is_empty());
    }

    #[test]
    fn the_goal_is_worth_one_and_every_score_is_a_share(a in any_state(), b in any_state(), c in any_state()) {
        let states = states("");
        let verdict = states.verify(Some(&a), &b, &c).unwrap();
        prop_assert!((0.0..=1.0).contains(&verdict.score.unwrap()));
        prop_assert!(verdict.achieved <= verdict.asked);
        prop_assert_eq!(verdict.is_goal, states.hash(&b).unwrap() == states.hash(&c).unwrap());
        prop_assert_eq!(verdict.score == Some(1.0), verdict.is_goal);
        prop_assert_eq!(states.verify(Some(&a), &c, &c).unwrap().score.unwrap(), 1.0);
        prop_assert_eq!(states.verify(None, &c, &c).unwrap().score.unwrap(), 1.0);
    }

    #[test]
    fn doing_nothing_never_earns_where_something_was_asked(a in any_state(), c in any_state()) {
        let states = states("");
        let verdict = states.verify(Some(&a), &a, &c).unwrap();
        prop_assert_eq!(verdict.score.unwrap(), if verdict.asked == 0 { 1.0 } else { 0.0 });
    }
}
