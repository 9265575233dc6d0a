//! Tiers, stages and routes over one episode, on numbers that can be worked out by hand.

use crate::episodes::{Did, episode};
use crate::parts::*;
use merit_core::{CallEnd, Episode, Reward};
use merit_reward::ScoreContext;
use serde_json::json;
use std::sync::Arc;

const OK: CallEnd = CallEnd::Ok;
const NO: CallEnd = CallEnd::Refused;

fn with_payload(mut episode: Episode, payload: serde_json::Value) -> Episode {
    Arc::make_mut(&mut episode.task).payload = payload;
    episode
}

fn tiers(tiers: &[(&str, f64, f64, Option<f64>)]) -> String {
    let shown: Vec<String> = tiers
        .iter()
        .map(|(name, value, weight, pass)| {
            let pass = pass.map_or_else(String::new, |pass| format!(", pass = {pass:?}"));
            format!("{{ of = {}, weight = {weight:?}{pass} }}", part(name, *value))
        })
        .collect();
    format!("type = 'lexicographic'\ntiers = [{}]", shown.join(", "))
}

#[test]
fn a_tier_counts_only_where_those_before_pass() {
    // OptiAgent's weights 1, 1, 2, 0.5 and marks 1, 1, 0.9.
    let all = tiers(&[
        ("a", 1.0, 1.0, Some(1.0)),
        ("b", 1.0, 1.0, Some(1.0)),
        ("c", 0.95, 2.0, Some(0.9)),
        ("d", 0.4, 0.5, None),
    ]);
    check(&all, &right(), 1.0 + 1.0 + 1.9 + 0.2);
    check_says(&all, &right(), "reached the last of 4 tiers");
    // The third tier counts with what it is worth and stops the fourth.
    let third = tiers(&[
        ("a", 1.0, 1.0, Some(1.0)),
        ("b", 1.0, 1.0, Some(1.0)),
        ("c", 0.8, 2.0, Some(0.9)),
        ("d", 1.0, 0.5, None),
    ]);
    check(&third, &right(), 1.0 + 1.0 + 1.6);
    check_says(&third, &right(), "stopped at tier 3 of 4: 0.8 is below 0.9");
    let first = tiers(&[("a", 0.5, 1.0, Some(1.0)), ("b", 1.0, 100.0, None)]);
    check(&first, &right(), 0.5);
}

#[test]
fn a_tier_that_does_not_apply_is_passed_over() {
    let toml = format!(
        "type = 'lexicographic'\ntiers = [{{ of = {SILENT}, pass = 1.0 }}, {{ of = {}, weight = 2.0 }}]",
        part("b", 0.25)
    );
    check(&toml, &right(), 0.5);
    let refused = episode(Some("7"), 1, &[Did::Calls(&[NO]), Did::Answers("7")]);
    check(&toml, &refused, 0.0);
}

#[test]
fn tiers_that_count_are_paid_by_turn() {
    // Turn 0 is refused, turn 1 works: tool-success 0.5, all of it at turn 1. Then 0.5 · 2 by turn and the answer at the end.
    let toml = "type = 'lexicographic'\ntiers = [{ of = { type = 'tool-success' }, weight = 2.0, pass = 0.5 }, { of = { type = 'exact-answer' } }]";
    let episode = episode(Some("7"), 1, &[Did::Calls(&[NO]), Did::Calls(&[OK]), Did::Answers("7")]);
    let score = scorer(toml).score(&episode, &ScoreContext::default());
    assert_eq!(score.reward.value(), Some(2.0));
    assert_eq!(score.turn_rewards, [0.0, 1.0, 0.0]);
}

#[test]
fn prs_in_three_tiers() {
    // R = 0.1 where only the calls parse, 0.2 with the format, 0.2 + 0.8 q with an answer of quality q.
    let prs = |calls: f64, form: f64, q: f64| {
        tiers(&[("calls", calls, 0.1, Some(1.0)), ("form", form, 0.1, Some(1.0)), ("q", q, 0.8, None)])
    };
    check(&prs(0.0, 1.0, 1.0), &right(), 0.0);
    check(&prs(1.0, 0.0, 1.0), &right(), 0.1);
    check(&prs(1.0, 1.0, 0.5), &right(), 0.6);
}

#[test]
fn tiers_that_decide_nothing_or_too_little_are_refused() {
    let refused = [
        (tiers(&[("a", 1.0, 1.0, None)]), "at least two"),
        (tiers(&[("a", 1.0, 1.0, None), ("b", 1.0, 1.0, None)]), "`tiers[0]` says no `pass`"),
        (tiers(&[("a", 1.0, 1.0, Some(1.0)), ("b", 1.0, 1.0, Some(1.0))]), "its `pass` decides nothing"),
        (tiers(&[("a", 1.0, f64::INFINITY, Some(1.0)), ("b", 1.0, 1.0, None)]), "`weight` is inf"),
    ];
    for (toml, want) in refused {
        let got = refusal(&toml);
        assert!(got.contains(want), "{got}");
    }
}

fn staged(carry: bool) -> String {
    format!(
        "type = 'staged'\nby = 'step'\ncarry = {carry}\nstages = [{{ of = {}, until_step = 10 }}, {{ of = {}, until_step = 20 }}, {{ of = {} }}]",
        part("a", 1.0),
        part("b", 0.5),
        part("c", 0.25)
    )
}

#[test]
fn stages_by_step_follow_one_another() {
    for (step, alone, carried) in
        [(0, 1.0, 1.0), (9, 1.0, 1.0), (10, 0.5, 1.5), (19, 0.5, 1.5), (20, 0.25, 1.75), (99, 0.25, 1.75)]
    {
        check_at(step, &staged(false), &right(), alone);
        check_at(step, &staged(true), &right(), carried);
    }
}

#[test]
fn stages_that_cannot_work_are_refused() {
    let stages = |by: &str, more: &str, stages: &str| {
        format!("type = 'staged'\nby = '{by}'\ncarry = false\n{more}\nstages = [{stages}]")
    };
    let (a, b, c) = (part("a", 1.0), part("b", 1.0), part("c", 1.0));
    let refused = [
        (stages("step", "", &format!("{{ of = {a} }}")), "at least two"),
        (stages("step", "", &format!("{{ of = {a} }}, {{ of = {b} }}")), "needs an `until_step`"),
        (
            stages(
                "step",
                "",
                &format!("{{ of = {a}, until_step = 5 }}, {{ of = {b}, until_step = 5 }}, {{ of = {c} }}"),
            ),
            "must end later",
        ),
        (
            stages("step", "", &format!("{{ of = {a}, until_step = 5 }}, {{ of = {b}, until_step = 9 }}")),
            "is the last",
        ),
        (
            stages("step", "patience = 2", &format!("{{ of = {a}, until_step = 5 }}, {{ of = {b} }}")),
            "are for `by = \"mastery\"`",
        ),
        (
            stages("step", "", &format!("{{ of = {a}, until_step = 5, mastered_at = 1.0 }}, {{ of = {b} }}")),
            "for `by = \"mastery\"`",
        ),
        (
            stages("mastery", "", &format!("{{ of = {a}, until_step = 5 }}, {{ of = {b} }}")),
            "for `by = \"step\"`",
        ),
        (stages("mastery", "", &format!("{{ of = {a} }}, {{ of = {b} }}")), "needs a `mastered_at`"),
        (
            stages("mastery", "patience = 0", &format!("{{ of = {a}, mastered_at = 0.5 }}, {{ of = {b} }}")),
            "at least 1 step",
        ),
        (
            stages("mastery", "relapse = 0.5", &format!("{{ of = {a}, mastered_at = 0.5 }}, {{ of = {b} }}")),
            "below every `mastered_at`",
        ),
        (
            stages(
                "mastery",
                "",
                &format!("{{ of = {a}, mastered_at = 0.5, mastered_by = 'nobody' }}, {{ of = {b} }}"),
            ),
            "nobody",
        ),
    ];
    for (toml, want) in refused {
        let got = refusal(&toml);
        assert!(got.contains(want), "{toml}\n{got}");
    }
}

#[test]
fn a_router_goes_by_what_is_known_of_the_task() {
    let routes = |by: &str, key: &str| {
        format!(
            "type = 'router'\nby = '{by}'\nroutes = {{ '{key}' = {} }}\notherwise = {}",
            part("a", 0.3),
            part("b", 0.7)
        )
    };
    let task =
        with_payload(right(), json!({ "kind": "sql", "hard": true, "n": 4, "a/b": "slash", "null": null }));
    let taken = [
        ("world", "test"),
        ("split", "train"),
        ("size", "1"),
        ("phase", "test"),
        ("/kind", "sql"),
        ("/hard", "true"),
        ("/n", "4"),
        ("/a~1b", "slash"),
    ];
    for (by, key) in taken {
        check(&routes(by, key), &task, 0.3);
    }
    for (by, key) in [
        ("world", "other"),
        ("split", "held-out"),
        ("size", "2"),
        ("/kind", "maths"),
        ("/null", "null"),
        ("/none", "x"),
    ] {
        check(&routes(by, key), &task, 0.7);
    }
}

#[test]
fn a_task_without_a_route_is_unscorable_not_0() {
    let toml = format!("type = 'router'\nby = '/kind'\nroutes = {{ sql = {} }}", part("a", 1.0));
    let reward = reward_at(&toml, &with_payload(right(), json!({ "kind": "maths" })), 0);
    assert!(
        matches!(&reward, Reward::Unscorable { why } if why.contains("no route for /kind `maths`")),
        "{reward:?}"
    );
    let reward = reward_at(&toml, &right(), 0);
    assert!(
        matches!(&reward, Reward::Unscorable { why } if why.contains("holds nothing at `/kind`")),
        "{reward:?}"
    );
    // A task that says nonsense is nobody's policy's fault.
    let reward = reward_at(&toml, &with_payload(right(), json!({ "kind": ["sql"] })), 0);
    assert!(matches!(reward, Reward::GraderFailed { .. }), "{reward:?}");
}

#[test]
fn routes_that_can_never_be_taken_are_refused() {
    let routes = |by: &str, key: &str| {
        format!("type = 'router'\nby = '{by}'\nroutes = {{ '{key}' = {} }}", part("a", 1.0))
    };
    for (toml, want) in [
        (routes("split", "test"), "no split"),
        (routes("size", "big"), "no size"),
        (routes("size", "+1"), "no size"),
        (routes("kind", "x"), "tells nothing of a task"),
        (routes("/a~2", "x"), "no JSON pointer"),
        ("type = 'router'\nby = 'world'\nroutes = {}".to_owned(), "no `routes`"),
    ] {
        let got = refusal(&toml);
        assert!(got.contains(want), "{got}");
    }
}

#[test]
fn parts_that_compare_episodes_do_not_stand_inside_turns() {
    let inside = [
        format!("{{ type = 'gain', baseline = 'group', of = {} }}", part("a", 1.0)),
        format!("{{ type = 'pareto-rank', of = [{}, {}] }}", part("a", 1.0), part("b", 1.0)),
        format!(
            "{{ type = 'team', team = 'group', spirit = 0.5, opponents = 0.0, of = {} }}",
            part("a", 1.0)
        ),
        format!("{{ type = 'shaping', of = {}, potential = 'a' }}", part("a", 1.0)),
    ];
    for of in inside {
        let got = refusal(&format!("type = 'per-turn'\nreduce = 'mean'\nof = {of}"));
        assert!(got.contains("cannot stand inside `per-turn`"), "{got}");
    }
}
