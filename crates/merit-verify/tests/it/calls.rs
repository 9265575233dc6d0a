//! Tool calls: what is wrong with one, and what a sequence of them is worth.

use merit_verify::calls::{
    Call, CallChecker, CallMatch, CallProblem, Rule, RuleVerdict, Step, ToolSchema, TraceError, TraceRules,
};
use merit_verify::json::{Limits, UnknownKeywords};
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::json;

fn checker() -> CallChecker {
    let specs: Vec<ToolSchema> = serde_json::from_value(json!([
        {"type": "function", "function": {"name": "book_flight", "description": "Books.", "parameters": {
            "type": "object", "required": ["user", "flights"],
            "properties": {
                "user": {"type": "string"},
                "flights": {"type": "array", "items": {"type": "object", "required": ["no"], "properties": {"no": {"type": "string"}}}},
                "bags": {"type": "integer", "minimum": 0}}}}},
        {"name": "list_airports"}
    ]))
    .unwrap();
    CallChecker::compile(&specs, UnknownKeywords::Refuse, Limits::default()).unwrap()
}

fn problems(tool: &str, arguments: &str) -> Vec<CallProblem> {
    checker().check(&Call { tool: tool.to_owned(), arguments: arguments.to_owned() }).problems
}

#[test]
fn a_good_call_has_no_problem() {
    assert_eq!(problems("book_flight", r#"{"user": "ada", "flights": [{"no": "HAT1"}], "bags": 2}"#), []);
    assert_eq!(problems("list_airports", "{}"), []);
}

#[test]
fn each_problem_is_named_with_its_path() {
    assert_eq!(
        problems("book_fligt", "{}"),
        [CallProblem::UnknownTool { nearest: Some("book_flight".to_owned()) }]
    );
    assert_eq!(problems("launch", "{}"), [CallProblem::UnknownTool { nearest: None }]);
    let found = problems("book_flight", r#"{"flights": [{"no": 1}, {}], "bag": 1, "bags": -1}"#);
    assert_eq!(found.len(), 5, "{found:?}");
    assert!(found.contains(&CallProblem::MissingArgument { path: "/user".to_owned() }));
    assert!(found.contains(&CallProblem::MissingArgument { path: "/flights/1/no".to_owned() }));
    let nearest = Some("bags".to_owned());
    assert!(found.contains(&CallProblem::UnknownArgument { path: "/bag".to_owned(), nearest }));
    assert!(found.iter().any(|p| matches!(p, CallProblem::IllTyped { path, .. } if path == "/flights/0/no")));
    assert!(found.iter().any(|p| matches!(p, CallProblem::BadValue { path, .. } if path == "/bags")));
    assert!(matches!(problems("book_flight", "[]")[..], [CallProblem::IllTyped { .. }]));
}

#[test]
fn arguments_that_are_not_strict_json_are_invalid() {
    for broken in
        ["", "{", "{'user': 1}", r#"{"user": "a", "user": "b", "flights": []}"#, "{} {}", "{\"user\": NaN}"]
    {
        assert!(matches!(problems("book_flight", broken)[..], [CallProblem::InvalidJson { .. }]), "{broken}");
    }
    assert!(matches!(problems("list_airports", &"[".repeat(1000))[..], [CallProblem::TooLarge { .. }]));
    let name = "x".repeat(1 << 20);
    assert_eq!(problems(&name, "{}"), [CallProblem::UnknownTool { nearest: None }]);
    assert_eq!(problems("list_airports", r#"{"a": 1}"#).len(), 1);
}

#[test]
fn tools_that_cannot_be_used_are_refused() {
    let compile = |specs: serde_json::Value| {
        let specs: Vec<ToolSchema> = serde_json::from_value(specs).unwrap();
        CallChecker::compile(&specs, UnknownKeywords::Refuse, Limits::default()).unwrap_err().to_string()
    };
    assert!(compile(json!([{"name": "a"}, {"name": "a"}])).contains("twice"));
    assert!(compile(json!([{"name": "a", "parameters": {"type": "thing"}}])).contains("tool `a`"));
    let unknown = serde_json::from_value::<ToolSchema>(json!({"name": "a", "params": {}})).unwrap_err();
    assert!(unknown.to_string().contains("unknown field `params`"), "{unknown}");
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    rules: Vec<Rule>,
}

fn rules(text: &str) -> Result<TraceRules, TraceError> {
    TraceRules::compile(toml::from_str::<File>(text).unwrap().rules, Limits::default())
}

fn call(tool: &str, arguments: serde_json::Value) -> Step {
    Step::Call { tool: tool.to_owned(), arguments: arguments.to_string() }
}

fn see(text: &str) -> Step {
    Step::Observation { text: text.to_owned() }
}

fn trace() -> Vec<Step> {
    vec![
        see("I am Ada (id ada_7). Move booking ZK12, it cost $1,200.50."),
        call("get_user", json!({"id": "ada_7"})),
        see(r#"{"bookings": ["ZK12"], "note": "say \"hi\""}"#),
        call("search", json!({"from": "JFK"})),
        call("search", json!({"from": "JFK"})),
        call("move", json!({"booking": "ZK12", "price": 1200.5})),
    ]
}

fn only(rule: &str) -> RuleVerdict {
    let mut found = rules(&format!("[[rules]]\n{rule}")).unwrap().apply(&trace()).unwrap();
    assert_eq!(found.len(), 1);
    found.remove(0)
}

#[test]
fn simple_rules_pass_or_fail_at_a_call() {
    for (rule, passed, at) in [
        ("must_call = { tool = \"move\" }", true, Some(3)),
        ("must_call = { tool = \"move\", arguments = { booking = \"ZK12\" } }", true, Some(3)),
        ("must_call = { tool = \"move\", arguments = { booking = \"ZK13\" } }", false, None),
        ("must_not_call = { tool = \"cancel\" }", true, None),
        ("must_not_call = { tool = \"search\", arguments = { from = \"JFK\" } }", false, Some(1)),
        ("before = [\"get_user\", \"move\"]", true, Some(3)),
        ("before = [\"move\", \"search\"]", false, Some(1)),
        ("before = [\"move\", \"cancel\"]", true, None),
        ("at_most = { tool = \"search\", n = 1 }", false, Some(2)),
        ("at_most = { tool = \"search\", n = 2 }", true, None),
        ("at_most = { n = 3 }", false, Some(3)),
        ("no_repeat = {}", false, Some(2)),
        ("no_repeat = { except = [\"search\"] }", true, None),
    ] {
        let verdict = only(rule);
        assert_eq!((verdict.passed, verdict.call), (passed, at), "{rule}: {verdict:?}");
        assert!(!verdict.evidence.is_empty());
    }
}

#[test]
fn an_argument_that_was_never_seen_was_invented() {
    let verdict = only("args_from_observations = {}");
    // Values: ada_7, JFK, JFK, ZK12, 1200.5; JFK was never seen.
    assert_eq!((verdict.passed, verdict.share, verdict.call), (false, 0.6, Some(1)));
    assert!(verdict.evidence.contains("JFK"), "{verdict:?}");
    assert!(only("args_from_observations = { tools = [\"move\", \"get_user\"] }").passed);
    assert!(only("args_from_observations = { arguments = [\"price\"] }").passed);
    let grounded = rules("[[rules]]\nargs_from_observations = {}").unwrap();
    for (seen, argument, want) in [
        ("ZK123", json!("ZK12"), false),
        ("the zk12", json!("ZK12"), false),
        ("row 12.", json!(12), true),
        ("row 112", json!(12), false),
        ("on 2024-05-01", json!(2024), true),
        ("say \\\"hi\\\"", json!("say \"hi\""), true),
        ("anything", json!(true), true),
        ("anything", json!({"deep": ["else"]}), false),
        ("é", json!("é"), true),
    ] {
        let trace = [see(seen), call("t", json!({"x": argument}))];
        assert_eq!(grounded.apply(&trace).unwrap()[0].passed, want, "{seen} {argument}");
    }
    // What is only seen afterwards does not count.
    let late = [call("t", json!({"x": "ZK12"})), see("ZK12")];
    assert!(!grounded.apply(&late).unwrap()[0].passed);
}

fn actions(matching: &str, more: &str) -> TraceRules {
    rules(&format!(
        r#"
        [[rules]]
        [rules.reference_actions]
        matching = "{matching}"
        calls = [{{ tool = "a", arguments = {{ x = 1 }} }}, {{ tool = "b" }}, {{ tool = "c" }}]
        {more}
        "#
    ))
    .unwrap()
}

fn run(rules: &TraceRules, calls: &[(&str, serde_json::Value)]) -> RuleVerdict {
    let trace: Vec<Step> = calls.iter().map(|(tool, arguments)| call(tool, arguments.clone())).collect();
    rules.apply(&trace).unwrap().remove(0)
}

#[test]
fn reference_actions_tell_which_call_earned_what() {
    let calls =
        [("a", json!({"x": 1.0})), ("look", json!({})), ("c", json!({})), ("b", json!({})), ("c", json!({}))];
    let ordered = run(&actions("ordered", "writes = [\"c\"]\nextra_penalty = 0.5"), &calls);
    let alignment = ordered.alignment.clone().unwrap();
    assert_eq!(
        alignment.calls,
        [
            CallMatch::Expected { index: 0 },
            CallMatch::Extra,
            CallMatch::ExtraWrite,
            CallMatch::Expected { index: 1 },
            CallMatch::Expected { index: 2 }
        ]
    );
    let third = 1.0 / 3.0;
    let want = [third, third, 0.5 * third, 0.5, 2.5 * third];
    assert!(alignment.progress.iter().zip(want).all(|(a, b)| (a - b).abs() < 1e-12), "{alignment:?}");
    assert_eq!((ordered.passed, ordered.call), (false, Some(2)));
    // The same calls, in any order and with extras left alone.
    assert!(run(&actions("subset", ""), &calls).passed);
    let unordered = run(&actions("unordered", ""), &calls[..4]);
    assert_eq!((unordered.passed, unordered.share), (true, 1.0));
    assert_eq!(run(&actions("ordered", ""), &calls[..4]).share, 2.0 / 3.0);
}

#[test]
fn wrong_arguments_and_broken_ones_match_nothing() {
    let rules = actions("unordered", "");
    assert_eq!(run(&rules, &[("a", json!({"x": 2}))]).share, 0.0);
    assert_eq!(run(&rules, &[("a", json!({"x": 1, "y": 2}))]).share, 0.0);
    assert_eq!(
        run(&actions("unordered", "ignore_arguments = [\"y\"]"), &[("a", json!({"x": 1, "y": 2}))]).share,
        1.0 / 3.0
    );
    let broken = [Step::Call { tool: "b".to_owned(), arguments: "{".to_owned() }];
    assert_eq!(rules.apply(&broken).unwrap()[0].share, 0.0);
    let idle = rules.apply(&[]).unwrap().remove(0);
    assert_eq!((idle.passed, idle.share), (false, 0.0));
    assert_eq!(idle.alignment.unwrap().missing, [0, 1, 2]);
}

#[test]
fn calls_whose_arguments_cannot_be_read_are_repeated_when_they_are_written_alike() {
    let rules = rules("[[rules]]\nno_repeat = {}").unwrap();
    let raw = |tool: &str, arguments: &str| Step::Call { tool: tool.into(), arguments: arguments.into() };
    for (first, second, passed) in [
        (raw("f", "{\"a\": 1,}"), raw("f", "{\"a\": 1,}"), false),
        (raw("f", "{\"a\": 1,}"), raw("f", "{\"a\": 2,}"), true),
        (raw("f", "{"), raw("g", "{"), true),
        (raw("f", "{\"a\": 18446744073709551616}"), raw("f", "{\"a\": 18446744073709551617}"), true),
        (raw("f", "{\"a\": 18446744073709551617}"), raw("f", "{\"a\":18446744073709551617}"), false),
    ] {
        let trace = [first, second];
        assert_eq!(rules.apply(&trace).unwrap()[0].passed, passed, "{trace:?}");
    }
}

#[test]
fn one_call_cannot_earn_two_expected_ones() {
    let rules = rules("[[rules]]\nreference_actions = { matching = \"unordered\", calls = [{ tool = \"b\" }, { tool = \"b\" }] }").unwrap();
    assert_eq!(run(&rules, &[("b", json!({}))]).share, 0.5);
    assert_eq!(run(&rules, &[("b", json!({})), ("b", json!({}))]).share, 1.0);
}

#[test]
fn rules_that_cannot_work_are_refused() {
    for (text, word) in [
        ("before = [\"a\", \"a\"]", "itself"),
        ("must_call = { tool = \"\" }", "no name"),
        ("reference_actions = { matching = \"ordered\", calls = [] }", "no calls"),
        (
            "reference_actions = { matching = \"subset\", calls = [{ tool = \"a\" }], writes = [\"a\"] }",
            "subset",
        ),
        (
            "reference_actions = { matching = \"ordered\", calls = [{ tool = \"a\" }], extra_penalty = 1.0 }",
            "writes",
        ),
    ] {
        let error = rules(&format!("[[rules]]\n{text}")).unwrap_err().to_string();
        assert!(error.contains(word) && error.contains("rule 0"), "{error}");
    }
    for (text, why) in [
        ("must_cal = { tool = \"a\" }", "unknown variant `must_cal`"),
        ("must_call = { tool = \"a\", args = {} }", "unknown field `args`"),
        ("before = [\"a\"]", "expected tuple with length 2"),
    ] {
        let said = toml::from_str::<File>(&format!("[[rules]]\n{text}")).unwrap_err().to_string();
        assert!(said.contains(why), "{text}: {said}");
    }
}

#[test]
fn long_traces_end_with_a_verdict_or_a_named_limit() {
    let mut long: Vec<Step> = Vec::new();
    for i in 0..3000 {
        long.push(see(&"lorem ipsum ".repeat(50)));
        long.push(call("b", json!({"x": format!("v{i}")})));
    }
    let found = rules("[[rules]]\nargs_from_observations = {}").unwrap().apply(&long);
    assert!(matches!(found, Err(TraceError::Exhausted { rule: 0, .. })), "{found:?}");
    assert!(rules("[[rules]]\nno_repeat = {}").unwrap().apply(&long).unwrap()[0].passed);
    assert_eq!(actions("ordered", "").apply(&long).unwrap()[0].share, 0.0);
}

proptest! {
    #[test]
    fn progress_only_moves_as_the_calls_say(tools in prop::collection::vec("[a-d]", 0..8)) {
        let calls: Vec<Step> = tools.iter().map(|tool| {
            let arguments = if tool == "a" { json!({"x": 1}) } else { json!({}) };
            call(tool, arguments)
        }).collect();
        for matching in ["ordered", "unordered"] {
            let verdict = actions(matching, "writes = [\"d\"]").apply(&calls).unwrap().remove(0);
            let alignment = verdict.alignment.unwrap();
            prop_assert_eq!(alignment.progress.len(), tools.len());
            prop_assert_eq!(alignment.progress.last().copied().unwrap_or(0.0), verdict.share);
            let expected = alignment.calls.iter().filter(|kind| matches!(kind, CallMatch::Expected { .. })).count();
            prop_assert_eq!(expected + alignment.missing.len(), 3);
            if matching == "unordered" {
                let distinct = ["a", "b", "c"].iter().filter(|tool| tools.iter().any(|t| t == *tool)).count();
                prop_assert_eq!(expected, distinct);
            }
        }
    }

    #[test]
    fn any_arguments_get_a_verdict(text in "\\PC{0,40}") {
        let found = checker().check(&Call { tool: "book_flight".to_owned(), arguments: text });
        prop_assert!(found.is_valid().is_some());
    }
}
