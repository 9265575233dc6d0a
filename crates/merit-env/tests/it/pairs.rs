//! Pairs of answers: which are the same, what the tools say, what each turn was, and how judges of different manners do.

use crate::played::{
    Numbers, built, by_hand, of, opens, play, plays_as_documented, refuses, restores, shown, tasks,
    tells_the_same_names,
};
use merit_api::Tool as _;
use merit_api::conformance::{check_tool, check_world, example_task};
use merit_core::{Seed, Split, Task};
use merit_env::pairs::{Pair, Pure, change, eval};
use merit_env::split_of;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

fn batch(pairs: &[(u32, &str, &str)]) -> Arc<Task> {
    let pair =
        |(level, left, right): &(u32, &str, &str)| json!({ "level": level, "left": left, "right": right });
    let payload = json!({ "pairs": pairs.iter().map(pair).collect::<Vec<Value>>() });
    by_hand("pairs", pairs.len() as u32, payload)
}

/// A wrong product, two expressions that agree at 1, and a quantity in another unit.
fn three() -> Arc<Task> {
    batch(&[(2, "34*7", "248"), (4, "3*(x+4)", "4*x+11"), (3, "47 min", "2820 s")])
}

fn judged(settings: &str, lines: &[&str]) -> Vec<(String, Numbers)> {
    play(built("pairs", settings).as_ref(), &three(), lines)
}

#[test]
fn whether_two_answers_are_the_same_is_computed_from_them() {
    let same = |level: u32, left: &str, right: &str| {
        Pair { level, left: left.to_owned(), right: right.to_owned() }.same()
    };
    for (level, left, right) in [
        (1, "84", "84.0"),
        (1, "3.2", "3.20"),
        (1, "7,2", "2,7"),
        (2, "34*7+11", "249"),
        (3, "3 km", "3000 m"),
        (3, "2 d", "48 h"),
        (4, "(x+3)*(x-3)", "x*x-9"),
    ] {
        assert_eq!(same(level, left, right), Some(true), "{left} or {right}");
    }
    for (level, left, right) in [
        (1, "84", "8.4"),
        (1, "3.2", "3.02"),
        (1, "7,2", "2,8"),
        (2, "34*7", "248"),
        (3, "3 kg", "3000 m"),
        (3, "3 km", "30000 m"),
        // They agree at 1: 15 and 15.
        (4, "3*(x+4)", "4*x+11"),
    ] {
        assert_eq!(same(level, left, right), Some(false), "{left} or {right}");
    }
    // Five points tell apart what has up to four x; a remainder can agree at all of them and be another: mod(x,7) is x below 7.
    for (level, left, right) in [
        (0, "1", "1"),
        (1, "x", "1"),
        (2, "x", "1"),
        (3, "3", "3 m"),
        (4, "y", "x"),
        (4, "mod(x,7)", "x"),
        (4, "x/x", "1"),
        (4, "x*x*x*x*x", "x"),
    ] {
        assert_eq!(same(level, left, right), None, "{left} or {right}");
    }
}

#[test]
fn tools_compute_and_refuse_in_few_words() {
    assert_eq!(eval("(x+3)*(x-3) at 5"), Ok("16".to_owned()));
    assert_eq!(
        (eval("x+1"), eval("x+1 at y"), eval("3*")),
        (Err("where is x"), Err("x is no number"), Err("no sum"))
    );
    assert_eq!(change("3 t kg"), Ok("3000 kg".to_owned()));
    assert_eq!(
        (change("3 t m"), change("1 s min"), change("3 ells m"), change("3 m")),
        (Err("not of a kind"), Err("not whole"), Err("no such unit"), Err("say how much of what in what"))
    );
    for tool in Pure::ALL {
        assert_eq!(check_tool(&tool, &example_task()), Vec::<String>::new(), "{}", tool.spec().name);
    }
}

#[test]
fn each_turn_is_what_it_was() {
    let lines = ["eval 34*7", "same", "eval 3*(x+4) at 1", "hm", "not", "change 47 min kg", "not"];
    plays_as_documented(built("pairs", "").as_ref(), &three());
    let turns = judged("", &lines);
    let said: Vec<&str> = turns.iter().map(|(said, _)| said.as_str()).collect();
    let (second, third) = ("3*(x+4) or 4*x+11", "47 min or 2820 s");
    let hint = "say same, not, eval SUM or change N UNIT UNIT";
    assert_eq!(said, ["238", second, "15", hint, third, "not of a kind", ""]);
    tells_the_same_names(&turns);
    let of = |name: &str| of(&turns, name);
    assert_eq!(of("read"), [1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0]);
    assert_eq!(of("level"), [2.0, 2.0, 4.0, 4.0, 4.0, 3.0, 3.0]);
    assert_eq!(of("label"), [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0]);
    assert_eq!(of("verdict"), [0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0]);
    assert_eq!(of("right"), [0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
    assert_eq!(of("false_same"), [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(of("false_not"), [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
    assert_eq!(of("call_ok"), [1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(of("checked"), [1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0]);
    assert_eq!(of("calls"), [1.0, 1.0, 2.0, 2.0, 2.0, 3.0, 3.0]);
    assert_eq!(of("judged"), [0.0, 1.0, 1.0, 1.0, 2.0, 2.0, 3.0]);
    assert!((of("right_share")[6] - 1.0 / 3.0).abs() < 1e-12);
    // A probe at x = 1 takes the second pair for the same, and does not see that 47 min are 2820 s.
    assert_eq!(of("rule_probe"), [0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0]);
    assert_eq!(of("rule_exact"), [0.0; 7]);
    assert_eq!(of("solved"), [0.0; 7]);
    assert_eq!(judged("", &["not", "not", "same"])[2].1["solved"], 1.0);
}

#[test]
fn a_pair_is_checked_by_computing_one_of_its_sides() {
    let checked = |lines: &[&str]| judged("", lines).pop().unwrap().1["checked"];
    for call in ["eval 34*7", "eval 34 * 7", "eval 248"] {
        assert_eq!(checked(&[call]), 1.0, "{call}");
    }
    // It works, and is about something else; or about it, and does not work.
    for call in ["eval 1", "eval 34*8", "change 34 min s", "eval 34*7 at y"] {
        assert_eq!(checked(&[call]), 0.0, "{call}");
    }
    let third = |call: &str| checked(&["not", "not", call]);
    assert_eq!((third("change 47 min s"), third("change 2820 s min"), third("eval 47")), (1.0, 1.0, 0.0));
    // What was computed for one pair does not count for the next.
    assert_eq!(checked(&["eval 34*7", "not", "not"]), 0.0);
}

#[test]
fn without_tools_nothing_is_computed() {
    let turns = judged("tools = false", &["eval 34*7", "not"]);
    assert_eq!(
        (turns[0].0.as_str(), turns[0].1["call_ok"], turns[1].1["checked"]),
        ("no tools here", 0.0, 0.0)
    );
    let world = built("pairs", "tools = false");
    assert_eq!(check_world(world.as_ref(), &Seed::root(3), 8), Vec::<String>::new());
}

#[test]
fn no_pair_is_met_in_both_splits_and_no_constant_verdict_is_right() {
    let world = built("pairs", "sizes = [2, 3, 5]");
    let mut seen = BTreeMap::new();
    for (split, at) in (0..150).flat_map(|at| [(Split::Train, at), (Split::HeldOut, at)]) {
        let task = world.task(split, at, &Seed::root(1)).unwrap();
        let pairs: Vec<Pair> = serde_json::from_value(task.payload["pairs"].clone()).unwrap();
        for pair in &pairs {
            assert_eq!(split_of(&pair.text()), split, "{}", pair.text());
            seen.insert(pair.text(), (pair.level, pair.same().unwrap()));
        }
        let same = pairs.iter().filter(|pair| pair.same() == Some(true)).count();
        assert!(same > 0 && same < pairs.len(), "{pairs:?}");
    }
    for level in 1..=4 {
        let of = |same: bool| seen.values().filter(|found| **found == (level, same)).count();
        assert!(of(true) > 60 && of(false) > 60, "level {level}: {} and {}", of(true), of(false));
    }
}

/// The shares of solved tasks, and per task the mean false verdicts of both kinds and calls.
fn means(settings: &str, manner: &str) -> [f64; 4] {
    let world = built("pairs", settings);
    let mut sums = [0.0; 4];
    for (at, task) in (0..).zip(tasks(world.as_ref(), 200)) {
        let turns = shown(world.as_ref(), &task, manner, at);
        let last = &turns.last().unwrap().1;
        let total = |name: &str| of(&turns, name).iter().sum::<f64>();
        let found = [last["solved"], total("false_same"), total("false_not"), last["calls"]];
        sums.iter_mut().zip(found).for_each(|(sum, found)| *sum += found / 200.0);
    }
    sums
}

#[test]
fn manners_are_what_they_say() {
    let [solved, false_same, false_not, calls] = means("", "exact");
    assert!((solved - 1.0).abs() < 1e-9 && false_same + false_not == 0.0 && calls > 2.0);
    let [solved, false_same, false_not, fewer] = means("levels = [2, 4]", "subtract");
    assert!((solved - 1.0).abs() < 1e-9 && false_same + false_not == 0.0);
    // Both sides at once: a call for every pair, where `exact` makes two for expressions.
    assert!(fewer < means("levels = [2, 4]", "exact")[3] && (3.0..=4.0).contains(&fewer), "{fewer}");
    let [naive, false_same, false_not, _] = means("", "naive");
    assert!(naive > 0.7 && naive < 0.95 && false_same > 0.05 && false_not == 0.0);
    let [strict, false_same, false_not, calls] = means("", "strict");
    assert!(strict < 0.35 && false_same == 0.0 && false_not > 0.8 && calls == 0.0);
    let [hasty, false_same, false_not, calls] = means("", "hasty");
    assert!(hasty < 0.35 && false_same > 0.3 && false_not > 0.3 && calls == 0.0);
}

#[test]
fn more_pairs_and_higher_levels_are_harder_for_whoever_guesses() {
    let solved = |settings: &str| means(settings, "hasty")[0];
    let sizes = [2, 4, 7].map(|size| solved(&format!("sizes = [{size}]")));
    assert!(sizes.is_sorted_by(|a, b| a > b), "{sizes:?}");
    assert!((solved("levels = [1]") - 1.0).abs() < 1e-9 && solved("levels = [4]") < 0.2);
}

#[test]
fn nonsense_is_refused() {
    refuses(
        "pairs",
        &[
            ("sizes = []", "`sizes` is empty"),
            ("sizes = [1]", "2 to 8 pairs"),
            ("held_out_sizes = [9]", "2 to 8 pairs"),
            ("levels = []", "at least one"),
            ("levels = [5]", "1 to 4"),
        ],
    );
    let world = built("pairs", "");
    let opens = |task: &Arc<Task>| opens(world.as_ref(), task);
    assert!(opens(&batch(&[(1, "8", "8.0"), (1, "8", "9")])));
    assert!(!opens(&batch(&[(1, "8", "8.0"), (1, "8", "nine")])));
    assert!(!opens(&batch(&[(5, "8", "8.0"), (1, "8", "9")])));
    assert!(!opens(&batch(&[])));
    let restores = |more: Value| restores(world.as_ref(), &three(), &more);
    assert!(restores(json!({ "pairs": 2, "right": 1 })));
    assert!(!restores(json!({ "pairs": 4 })) && !restores(json!({ "pairs": 1, "right": 2 })));
}

#[test]
fn probing_at_zero_and_one_agrees_too_often() {
    let mut rng = Seed::root(5).stream();
    let near: Vec<Pair> = (0..300).map(|_| Pair::draw(4, false, &mut rng)).collect();
    let value = |side: &str, x: i64| eval(&format!("{side} at {x}")).unwrap();
    let agree = |points: &[i64]| {
        let at = |pair: &&Pair| points.iter().any(|&x| value(&pair.left, x) == value(&pair.right, x));
        near.iter().filter(at).count()
    };
    assert!(near.iter().all(|pair| pair.same() == Some(false)));
    // Two in three agree at 0 or at 1; at another point hardly any does.
    assert!(agree(&[0, 1]) > 150 && agree(&[7]) < 15, "{} and {}", agree(&[0, 1]), agree(&[7]));
}
