//! The desk of a shop: what the person says, what the books do, and what is right in the end.

use crate::played::opens;
use merit_api::{LiveTools, World};
use merit_core::{Action, Info, Role, Seed, Split, Task};
use merit_env::{ExpertTurn, read_world};
use serde_json::json;
use std::sync::Arc;

fn world(settings: &str) -> Box<dyn World> {
    read_world(&format!("type = 'service'\n{settings}")).unwrap().build(&LiveTools).unwrap()
}

/// A case by hand: bob's order 14 was sent, 15 was not; eve has 20.
fn case(wish: &str, number: u32, more: serde_json::Value) -> Arc<Task> {
    let order = |number: u32, owner: &str, sent: bool| json!({ "number": number, "owner": owner, "item": "mug", "sent": sent, "price": number + 20 });
    let mut payload = json!({
        "orders": [order(14, "bob", true), order(15, "bob", false), order(20, "eve", true)],
        "name": "bob", "number": number, "wish": wish, "town": "rome",
        "told": [false, false, false, false], "slip": 0, "wary": false,
    });
    for (key, value) in more.as_object().unwrap() {
        payload[key] = value.clone();
    }
    let kept =
        payload["told"].as_array().unwrap().iter().filter(|told| **told == json!(false)).count() as u32;
    let size = if wish == "move" { kept } else { kept - 1 };
    Arc::new(Task::new("service", "by hand").with_size(size).with_payload(payload))
}

/// What is said to each line, and the infos of each turn.
fn play(task: &Arc<Task>, lines: &[&str]) -> Vec<(String, Info)> {
    let mut env = world("").open(task, &Seed::root(2), None).unwrap();
    env.reset().unwrap();
    let step = |line: &&str| {
        let action = env.parse(line);
        let result = env.step(&action, &[]).unwrap();
        let said: Vec<String> = result.observations.iter().map(|message| message.text.clone()).collect();
        (said.join(" / "), result.info)
    };
    lines.iter().map(step).collect()
}

fn said(task: &Arc<Task>, lines: &[&str]) -> Vec<String> {
    play(task, lines).into_iter().map(|(said, _)| said).collect()
}

#[test]
fn the_person_answers_what_is_asked() {
    let task = case("move", 15, json!({}));
    assert_eq!(
        said(&task, &["ask name", "ask order", "ask wish", "ask town", "tell rome"]),
        ["name bob", "order 15", "wish move", "town rome", "thanks"]
    );
    let wary = case("cancel", 15, json!({ "wary": true }));
    assert_eq!(said(&wary, &["ask name", "ask name", "ask town"]), ["why", "name bob", "no town"]);
}

#[test]
fn a_slip_is_corrected_a_turn_later_whatever_is_said() {
    let task = case("cancel", 15, json!({ "slip": 14 }));
    assert_eq!(
        said(&task, &["ask order", "ask wish", "ask order"]),
        ["order 14", "wish cancel / no order 15", "order 15"]
    );
    assert_eq!(said(&task, &["ask order", "order 14"]), ["order 14", "bob mug sent 34 / no order 15"]);
}

#[test]
fn the_books_say_what_stands_in_them_and_lock_what_is_changed_for_a_stranger() {
    let task = case("refund", 14, json!({}));
    assert_eq!(
        said(&task, &["order 14", "order 15", "order 77", "find ann", "find bob", "refund 14", "refund 77"]),
        ["bob mug sent 34", "bob mug open 35", "none", "nobody", "found bob", "paid 34", "none"]
    );
    // Nobody was found; then somebody else.
    let turns = play(&task, &["refund 14", "find eve", "refund 14", "done"]);
    assert_eq!((turns[0].0.as_str(), turns[2].0.as_str()), ("locked 14", "locked 14"));
    assert_eq!((turns[3].1["early_writes"], turns[3].1["state_right"]), (2.0, 0.0));
}

#[test]
fn it_is_solved_when_the_books_are_exactly_right_and_what_had_to_be_said_was() {
    let last = |task: &Arc<Task>, lines: &[&str]| play(task, lines).pop().unwrap().1;
    let refund = case("refund", 14, json!({}));
    let right = last(&refund, &["find bob", "order 14", "refund 14", "tell 34", "done"]);
    assert_eq!(
        (right["solved"], right["state_share"], right["calls_share"], right["idle_tells"]),
        (1.0, 1.0, 1.0, 0.0)
    );
    let silent = last(&refund, &["find bob", "order 14", "refund 14", "done"]);
    assert_eq!((silent["solved"], silent["state_right"], silent["outputs_said"]), (0.0, 1.0, 0.0));
    let besides = last(&refund, &["find bob", "refund 14", "cancel 15", "tell 34", "tell 35", "done"]);
    assert_eq!((besides["state_right"], besides["state_share"], besides["idle_tells"]), (0.0, 0.5, 1.0));
    assert!((besides["calls_share"] - 2.0 / 3.0).abs() < 1e-12);
    // What was sent is not cancelled: nothing may change, and the person is told.
    let sent = case("cancel", 14, json!({}));
    assert_eq!(last(&sent, &["find bob", "order 14", "tell sent", "done"])["solved"], 1.0);
    assert_eq!(last(&sent, &["find bob", "cancel 14", "tell sent", "done"])["solved"], 0.0);
    // Moved to another town than the wanted one.
    let moved = case("move", 15, json!({}));
    assert_eq!(last(&moved, &["find bob", "move 15 oslo", "done"])["state_share"], 0.0);
    assert_eq!(last(&moved, &["find bob", "move 15 oslo", "move 15 rome", "done"])["solved"], 1.0);
    // Nothing is told before the end.
    assert_eq!(play(&moved, &["find bob", "move 15 rome"])[1].1["solved"], 0.0);
}

const ITEMS: [&str; 4] = ["item_found", "item_looked", "item_changed", "item_told"];

/// The item that passes at each turn, from 1, and 0 where none does; and how many have passed before each turn.
fn items(task: &Arc<Task>, lines: &[&str]) -> (Vec<usize>, Vec<f64>) {
    let turns = play(task, lines);
    let passed = |info: &Info| ITEMS.iter().position(|item| info[*item] == 1.0).map_or(0, |at| at + 1);
    let items = turns.iter().map(|(_, info)| passed(info)).collect();
    (items, turns.iter().map(|(_, info)| info["round"]).collect())
}

#[test]
fn an_item_passes_once_and_after_those_before_it() {
    let refund = case("refund", 14, json!({}));
    let (passed, round) =
        items(&refund, &["ask name", "find bob", "find bob", "order 14", "refund 14", "tell 34", "done"]);
    assert_eq!(passed, [0, 1, 0, 2, 3, 4, 0]);
    assert_eq!(round, [0.0, 0.0, 1.0, 1.0, 2.0, 3.0, 4.0]);
    // Looked up before the person was found: that counts a turn after the finding. A line that nobody can read passes nothing.
    assert_eq!(items(&refund, &["order 14", "find bob", "what", "ask wish"]).0, [0, 1, 0, 2]);
    // Never looked up: nothing behind it passes, though the books are right.
    assert_eq!(items(&refund, &["find bob", "refund 14", "tell 34", "done"]).0, [1, 0, 0, 0]);
    // Nothing is to be told of a cancelled order: the end says so. Nothing is to be changed of what was sent: being told says so.
    let cancel = case("cancel", 15, json!({}));
    assert_eq!(items(&cancel, &["find bob", "order 15", "cancel 15", "done"]).0, [1, 2, 3, 4]);
    let sent = case("cancel", 14, json!({}));
    assert_eq!(items(&sent, &["find bob", "order 14", "tell open", "tell sent", "done"]).0, [1, 2, 0, 3, 4]);
    assert_eq!(items(&sent, &["find bob", "order 14", "cancel 14", "tell sent", "done"]).0, [1, 2, 0, 0, 0]);
}

#[test]
fn r_is_divided_by_the_reference_number_of_rounds() {
    // Every dialogue has four items, however early it stops: one that ends after the first has a quarter, not all.
    let task = case("refund", 14, json!({}));
    let share = |lines: &[&str]| items(&task, lines).0.iter().filter(|item| **item > 0).count() as f64 / 4.0;
    assert_eq!(share(&["find bob", "done"]), 0.25);
    assert_eq!(share(&["find bob", "order 14", "refund 14", "tell 34", "done"]), 1.0);
}

/// How a manner plays a task: its lines, and the infos at the end.
fn demonstrated(world: &dyn World, task: &Arc<Task>, manner: &str) -> (Vec<String>, Info) {
    let mut env = world.open(task, &Seed::root(2), None).unwrap();
    env.reset().unwrap();
    let mut turns: Vec<ExpertTurn> = Vec::new();
    loop {
        let line = world.expert().unwrap().say_in(manner, task, &turns, &Seed::root(3)).unwrap();
        let action = env.parse(&line);
        let result = env.step(&action, &[]).unwrap();
        turns.push(ExpertTurn { said: line, observed: result.observations });
        if matches!(action, Action::Answer { .. }) {
            return (turns.into_iter().map(|turn| turn.said).collect(), result.info);
        }
        assert!(turns.len() < 20, "{manner} comes to no end");
    }
}

#[test]
fn manners_are_what_they_say() {
    let world = world("slips = 0.5\nwary = 0.5");
    let tasks: Vec<Arc<Task>> =
        (0..60).map(|at| Arc::new(world.task(Split::Train, at, &Seed::root(1)).unwrap())).collect();
    let mean = |manner: &str, name: &str| {
        let found = tasks.iter().map(|task| demonstrated(world.as_ref(), task, manner).1[name]);
        found.sum::<f64>() / tasks.len() as f64
    };
    assert_eq!((mean("exact", "solved"), mean("nosy", "solved")), (1.0, 1.0));
    // What is done right passes the last item at the end at the latest.
    let all_items = tasks.iter().map(|task| {
        let (lines, _) = demonstrated(world.as_ref(), task, "exact");
        items(task, &lines.iter().map(String::as_str).collect::<Vec<&str>>()).0
    });
    assert!(all_items.into_iter().all(|items| items.contains(&4)));
    assert!(mean("nosy", "questions") > mean("exact", "questions"));
    assert!(mean("hasty", "solved") < 0.1 && mean("hasty", "early_writes") > 0.5);
    let blind = mean("blind", "solved");
    assert!(blind > 0.1 && blind < 0.8, "{blind}");
    assert_eq!(mean("blind", "early_writes"), 0.0);
    // By hand: a slip is looked up, corrected, and looked up again.
    let task = case("cancel", 15, json!({ "slip": 14, "told": [true, false, true, false] }));
    let (lines, _) = demonstrated(world.as_ref(), &task, "exact");
    assert_eq!(lines, ["ask order", "find bob", "order 15", "cancel 15", "done"]);
}

#[test]
fn a_static_request_tells_every_fact_and_a_person_speaks_with_their_own_role() {
    let world = world("all_told = true");
    let task = Arc::new(world.task(Split::Train, 0, &Seed::root(1)).unwrap());
    let mut env = world.open(&task, &Seed::root(2), None).unwrap();
    let prompt = env.reset().unwrap().last().unwrap().text.clone();
    assert!(["name ", "order ", "wish "].iter().all(|fact| prompt.contains(fact)), "{prompt}");
    let role = |env: &mut Box<dyn merit_env::Env>, line: &str| {
        let action = env.parse(line);
        env.step(&action, &[]).unwrap().observations[0].role
    };
    assert_eq!(role(&mut env, "ask name"), Role::User);
    assert_eq!(role(&mut env, "find bob"), Role::Tool);
}

#[test]
fn a_damaged_case_is_refused() {
    for damage in
        [json!({ "number": 99 }), json!({ "number": 20 }), json!({ "slip": 15 }), json!({ "slip": 99 })]
    {
        let task = case("cancel", 15, damage.clone());
        assert!(!opens(world("").as_ref(), &task), "{damage}");
    }
}

#[test]
fn whoever_is_told_less_needs_more_turns() {
    let in_time = |size: u32| {
        let world = world(&format!("sizes = [{size}]"));
        let tasks = (0..200).map(|at| Arc::new(world.task(Split::Train, at, &Seed::root(1)).unwrap()));
        tasks.filter(|task| demonstrated(world.as_ref(), task, "exact").0.len() <= 7).count()
    };
    let found: Vec<usize> = (1..=4).map(in_time).collect();
    assert!(found.is_sorted_by(|a, b| a > b), "done in seven turns, of 200: {found:?}");
}
