//! Errands in a town: their order, the lever, the deadline, what is told as info, and how hard they are for whom.

use crate::played::{built, by_hand, in_time, opens, play, prompt, refusal, said};
use merit_api::World;
use merit_api::conformance::check_world;
use merit_core::{Seed, Split, Task};
use merit_env::ExpertTurn;
use merit_env::places::ground::{Ground, Heard, shortest};
use merit_env::places::town::Town;
use serde_json::{Value, json};
use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

fn errands(settings: &str) -> Box<dyn World> {
    built("places", &format!("skin = 'errands'\n{settings}"))
}

/// Hall, den, bank and mill in a row. Bank: take key, hall: pay bill, mill: feed cat. From the den: bank, key, den, hall, bill, den, bank,
/// mill, cat: 9.
fn town(lever: Option<u8>) -> Arc<Task> {
    by_hand(
        "places",
        9,
        json!({ "town": {
        "rooms": [0, 1, 8, 9], "doors": [[0, 1], [1, 2], [2, 3]],
        "errands": [{ "what": 0, "room": 2 }, { "what": 4, "room": 0 }, { "what": 5, "room": 3 }],
        "lever": lever, "start": 1,
    } }),
    )
}

const SMALL: &str = "sizes = [9]\nrooms = 4\nerrands = 3";

const RIGHT: [&str; 9] =
    ["go bank", "take key", "go den", "go hall", "pay bill", "go den", "go bank", "go mill", "feed cat"];

#[test]
fn errands_are_run_in_their_order_where_their_things_are() {
    let (world, task) = (errands(SMALL), town(None));
    assert_eq!(prompt(world.as_ref(), &task), "want take key, pay bill, feed cat. den to hall bank: bare");
    let lines =
        ["take key", "go hall", "pay bill", "go mill", "go yard", "go moon", "feed dog", "pull lever"];
    let told = said(world.as_ref(), &task, &lines);
    assert_eq!(told, ["no", "hall to den: bill", "no", "no", "no", "what", "what", "no"]);
    let turns = play(world.as_ref(), &task, &RIGHT);
    assert_eq!(turns[1].0, "ok");
    assert_eq!(turns[7].0, "mill to bank: cat");
    assert_eq!(turns[8].0, "done");
    let of = |name: &str| turns.iter().map(|turn| turn.1[name]).collect::<Vec<f64>>();
    assert_eq!(of("left"), [8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0, 0.0]);
    assert_eq!(of("goal_share")[4], 2.0 / 3.0);
    assert_eq!((of("solved")[8], of("progress")[8], of("milestones")[8]), (1.0, 1.0, 1.0));
}

#[test]
fn a_lever_undoes_all_errands_and_only_the_first_time_is_new() {
    let (world, task) = (errands(SMALL), town(Some(1)));
    let lines = ["pull lever", "go bank", "take key", "go den", "pull lever", "go bank", "take key"];
    let turns = play(world.as_ref(), &task, &lines);
    assert_eq!(turns[0].0, "no", "there is nothing to undo");
    assert_eq!(turns[3].0, "den to hall bank: lever");
    let of = |name: &str| turns.iter().map(|turn| turn.1[name]).collect::<Vec<f64>>();
    let third = 1.0 / 3.0;
    assert_eq!(of("left"), [9.0, 8.0, 7.0, 6.0, 9.0, 8.0, 7.0]);
    assert_eq!(of("hit"), [0.0, 0.0, third, 0.0, 0.0, 0.0, third]);
    assert_eq!(of("new_milestone"), [0.0, 0.0, third, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(of("pulled"), [0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
    // A town with a lever is the town without it.
    let payload = |settings: &str, at: u64| {
        errands(&format!("sizes = [12]\n{settings}")).task(Split::Train, at, &Seed::root(1)).unwrap().payload
    };
    for at in 0..6 {
        let (mut with, without) = (payload("lever = true", at), payload("", at));
        assert!(with["town"]["lever"].is_u64());
        with["town"]["lever"] = Value::Null;
        assert_eq!(with, without);
    }
}

#[test]
fn whoever_is_late_is_out() {
    let (world, task) = (errands(&format!("{SMALL}\nslack = 1")), town(None));
    assert!(prompt(world.as_ref(), &task).starts_with("by 10. want take key"));
    let right = play(world.as_ref(), &task, &RIGHT);
    assert_eq!((right[8].1["solved"], right[8].1["late"]), (1.0, 0.0));
    // One turn in vain is granted, a second one is not, whether it could be read or not.
    let one = [&["no such line", "go bank"], &RIGHT[1..]].concat();
    assert_eq!(play(world.as_ref(), &task, &one)[9].1["solved"], 1.0);
    let two = [&["", "take key"], &RIGHT[..8]].concat();
    let late = play(world.as_ref(), &task, &two).pop().unwrap();
    assert_eq!((late.0.as_str(), late.1["late"], late.1["solved"], late.1["left"]), ("late", 1.0, 0.0, 1.0));
}

#[test]
fn who_makes_no_new_milestone_for_ten_turns_is_stuck() {
    let (world, task) = (errands(SMALL), town(None));
    let lines =
        [&["go bank", "take key"], &["take key"; 10][..], &["go den", "go hall", "pay bill"]].concat();
    let turns = play(world.as_ref(), &task, &lines);
    let stuck: Vec<usize> = (0..turns.len()).filter(|turn| turns[*turn].1["stuck"] == 1.0).collect();
    assert_eq!(stuck, [11, 12, 13], "the key came in turn 1, the bill in turn 14");
}

#[test]
fn a_tracker_tells_what_is_due() {
    let world = errands(&format!("{SMALL}\ntracker = true"));
    let told = said(world.as_ref(), &town(None), &["go bank", "take key", "take key", "hm", ""]);
    assert_eq!(
        told,
        [
            "bank to den mill: key. now take key",
            "ok. now pay bill",
            "no. now pay bill",
            "what. now pay bill",
            "what. now pay bill"
        ]
    );
}

/// How many acts it is to the end, by a search over all states.
fn searched(ground: &Town, cells: &[u8]) -> Option<usize> {
    let mut queue = VecDeque::from([(cells.to_vec(), 0)]);
    let mut seen = HashSet::from([cells.to_vec()]);
    while let Some((cells, acts)) = queue.pop_front() {
        if ground.facts(&cells).iter().all(|fact| *fact) {
            return Some(acts);
        }
        for act in ground.acts(&cells) {
            let mut next = cells.clone();
            assert_eq!(ground.act(&mut next, &act), Heard::Done);
            if seen.insert(next.clone()) {
                queue.push_back((next, acts + 1));
            }
        }
    }
    None
}

#[test]
fn the_oracle_agrees_with_a_search_over_all_states() {
    let mut rng = Seed::root(5).stream();
    for round in 0..40 {
        let mut town = Town::draw(2 + round % 19, round % 3 > 0, 1 + round % 8, &mut rng);
        town.lever = (round % 2 == 0).then_some(town.start);
        let mut cells = town.start();
        for _ in 0..rng.below(12) {
            let acts = town.acts(&cells);
            town.act(&mut cells, rng.pick(&acts).unwrap());
        }
        let left = shortest(&town, &cells).map(|route| route.left);
        assert_eq!(left, searched(&town, &cells), "{town:?} {cells:?}");
    }
}

/// Whether a manner has run all errands of a task at its end, in at most so many turns.
fn runs(world: &dyn World, at: u64, manner: &str, most: usize) -> bool {
    let task = Arc::new(world.task(Split::Train, at, &Seed::root(1)).unwrap());
    let mut env = world.open(&task, &Seed::root(2), None).unwrap();
    env.reset().unwrap();
    let mut turns: Vec<ExpertTurn> = Vec::new();
    while turns.len() < most {
        let line = world.expert().unwrap().say_in(manner, &task, &turns, &Seed::root(at)).unwrap();
        let result = env.step(&env.parse(&line), &[]).unwrap();
        let (over, solved) = (result.is_last(), result.info["solved"] == 1.0);
        turns.push(ExpertTurn { said: line, observed: result.observations });
        if over {
            return solved;
        }
    }
    false
}

fn share(settings: &str, manner: &str, most: usize) -> f64 {
    let world = errands(settings);
    (0..100).filter(|at| runs(world.as_ref(), *at, manner, most)).count() as f64 / 100.0
}

/// The share of tasks that any acts solve in so many turns.
fn stumbled(settings: &str, turns: usize) -> f64 {
    let world = errands(settings);
    let solves = |at: &u64| {
        let task = world.task(Split::Train, *at, &Seed::root(1)).unwrap();
        let town: Town = serde_json::from_value(task.payload["town"].clone()).unwrap();
        let (mut cells, mut rng) = (town.start(), Seed::root(*at).stream());
        (0..turns).any(|_| {
            let acts = town.acts(&cells);
            town.act(&mut cells, rng.pick(&acts).unwrap());
            town.reply(&cells, "").over
        })
    };
    (0..200).filter(solves).count() as f64 / 200.0
}

#[test]
fn manners_are_what_they_say_and_knobs_make_errands_harder() {
    assert_eq!(in_time("places-errands", "solved"), 1.0);
    assert_eq!(share("sizes = [12, 20, 28]\nslack = 0", "exact", 40), 1.0);
    assert_eq!(share("sizes = [12, 20, 28]", "wander", 40), 1.0, "it comes to its senses");
    let by_slack = [0, 4, 8].map(|slack| share(&format!("sizes = [16]\nslack = {slack}"), "wander", 60));
    assert!(by_slack.windows(2).all(|two| two[0] + 0.1 < two[1]), "{by_slack:?}");
    let by_size = [12, 18, 24].map(|size| share(&format!("sizes = [{size}]"), "explore", 28));
    assert!(by_size.windows(2).all(|two| two[0] > two[1] + 0.05), "{by_size:?}");
    let by_rooms = [8, 12, 20].map(|rooms| share(&format!("sizes = [14]\nrooms = {rooms}"), "explore", 30));
    assert!(by_rooms.windows(2).all(|two| two[0] > two[1] + 0.05), "{by_rooms:?}");
    assert!(stumbled("sizes = [16, 20]", 40) < 0.02);
}

#[test]
fn errands_keep_the_contract_and_every_size_can_be_drawn() {
    for settings in [
        "sizes = [12, 20]",
        "sizes = [25, 40]\nrooms = 20\nlever = true\ntracker = true\nslack = 9\ninstructions = true",
        "sizes = [6]\nerrands = 3\ndoors = 'open'\nheld_out_sizes = [5]",
    ] {
        let found = check_world(errands(settings).as_ref(), &Seed::root(7), 8);
        assert_eq!(found, Vec::<String>::new(), "{settings}");
    }
    for (settings, sizes) in [
        ("rooms = 2\nerrands = 8", vec![16]),
        ("rooms = 2\nerrands = 1", vec![2]),
        ("rooms = 20\nerrands = 1", vec![3, 11]),
        ("rooms = 20\nerrands = 8", vec![24, 40]),
        ("rooms = 20", vec![12, 40]),
        ("", vec![10, 28]),
        ("rooms = 20\nerrands = 8\ndoors = 'open'", vec![15, 16]),
        ("rooms = 2\nerrands = 1\ndoors = 'open'", vec![2]),
    ] {
        for size in sizes {
            let world = errands(&format!("{settings}\nsizes = [{size}]"));
            for split in [Split::Train, Split::HeldOut] {
                let task = Arc::new(world.task(split, 0, &Seed::root(1)).unwrap());
                assert!(world.open(&task, &Seed::root(1), None).is_ok(), "{settings}, size {size}");
            }
        }
    }
}

#[test]
fn settings_and_tasks_that_mean_nothing_are_refused() {
    for (settings, says) in [
        ("sizes = [4]", "10 to 28 acts"),
        ("sizes = [12]\nrooms = 21", "2 to 20"),
        ("sizes = [12]\nerrands = 0", "1 to 8"),
        ("sizes = [12]\nerrands = 9", "1 to 8"),
        ("sizes = [12]\nslack = 1000", "0 to 200"),
        ("sizes = [12]\ndoors = 'open'", "7 to 8 acts"),
        ("sizes = [12]\nobjects = 4", "`objects` means nothing to the skin `errands`"),
        ("sizes = [12]\ntreated = 0.5", "`treated` means nothing to the skin `errands`"),
    ] {
        let why = refusal("places", &format!("skin = 'errands'\n{settings}"));
        assert!(why.contains(says), "{settings}: {why}");
    }
    for name in ["errands = 3", "slack = 2", "lever = true", "tracker = true"] {
        let why = refusal("places", &format!("skin = 'quests'\n{name}"));
        assert!(why.contains("means nothing to the skin `quests`"), "{name}: {why}");
    }
    let world = errands(SMALL);
    let refused = |payload: Value| !opens(world.as_ref(), &by_hand("places", 9, payload));
    let whole = town(Some(1)).payload.clone();
    assert!(!refused(whole.clone()));
    let odd = [json!(200), json!([]), json!([[9, 9]]), json!([200]), json!([{ "what": 99, "room": 0 }])];
    for key in whole["town"].as_object().unwrap().keys() {
        // Without doors every room is beside every other, and a shortest play is shorter.
        for value in &odd {
            let mut broken = whole.clone();
            broken["town"][key] = value.clone();
            assert!(refused(broken), "{key} = {value}");
        }
    }
    let mut apart = whole.clone();
    apart["town"]["doors"] = json!([[0, 1], [2, 3]]);
    assert!(refused(apart), "the bank is out of reach");
    let task = town(None);
    let own = world.open(&task, &Seed::root(1), None).unwrap().snapshot();
    for (cells, opens) in
        [(json!([3, 3]), true), (json!([4, 0]), false), (json!([0, 4]), false), (json!([0]), false)]
    {
        let mut other = own.clone();
        other["state"] = json!({ "cells": cells, "last": "", "gained": 0, "made": 0, "turns": u32::MAX, "gain": u32::MAX });
        let env = world.open(&task, &Seed::root(1), Some(&other));
        assert_eq!(env.is_ok(), opens, "{cells}");
        if let Ok(mut env) = env {
            assert!(env.step(&env.parse("go den"), &[]).is_ok());
        }
    }
}
