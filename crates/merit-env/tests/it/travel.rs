//! Journeys: what is answered, when a plan can be made, when it states what was told, and what the manners get wrong.

use crate::played::{
    built, by_hand, demonstrated, last, longest, mean, of, opens, play, plays_as_documented, prompt, refuses,
    restores, said, tells_the_same_names, with,
};
use merit_api::conformance::check_world;
use merit_core::{Seed, Task};
use serde_json::{Value, json};
use std::sync::Arc;

/// From rome to oslo by 12 for 9: the bus, the inn, the zoo between 12 and 13, and the rail home.
fn journey(slots: u32, more: Value) -> Arc<Task> {
    let offer = |query: &str, name: &str, first: u32, second: u32| json!({ "query": query, "name": name, "first": first, "second": second });
    let payload = json!({
        "from": "rome", "to": "oslo", "by": 12, "pay": 9, "slots": slots, "noise": 5,
        "offers": [
            offer("trips rome oslo", "bus", 11, 4), offer("trips rome oslo", "rail", 15, 2),
            offer("rooms oslo", "inn", 0, 3), offer("rooms oslo", "hut", 0, 5),
            offer("sights oslo", "zoo", 9, 14),
            offer("trips oslo rome", "rail", 18, 2), offer("trips oslo rome", "jet", 11, 1),
            offer("trips rome bonn", "van", 8, 1),
        ],
    });
    by_hand("travel", slots, with(payload, &more))
}

const ASKED: [&str; 4] = ["trips rome oslo", "rooms oslo", "sights oslo", "trips oslo rome"];
const STATED: [&str; 4] = ["go bus 11 4", "stay inn 3", "see zoo 12", "home rail 18 2"];

#[test]
fn a_cache_answers_whole_and_the_same() {
    let (world, task) = (built("travel", ""), journey(4, json!({})));
    plays_as_documented(world.as_ref(), &journey(3, json!({})));
    assert_eq!(prompt(world.as_ref(), &task), "rome to oslo by 12 pay 9 plan go stay see home");
    let lines = [ASKED.as_slice(), &["trips rome bonn", "rooms bonn", "rooms oslo", "go bus 11 4"]].concat();
    assert_eq!(
        said(world.as_ref(), &task, &lines),
        [
            "bus at 11 for 4, rail at 15 for 2",
            "inn for 3, hut for 5",
            "zoo opens 9 shuts 14",
            "rail at 18 for 2, jet at 11 for 1",
            "van at 8 for 1",
            "none",
            "inn for 3, hut for 5",
            "ok",
        ]
    );
    let turns = play(world.as_ref(), &task, &lines);
    let of = |name: &str| of(&turns, name);
    assert_eq!(of("calls"), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 7.0]);
    // Bonn has no rooms, and those of oslo were known.
    assert_eq!(of("idle_calls"), [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 2.0]);
    assert_eq!((of("slot_stated")[7], of("slot_grounded")[7], of("filled")[7]), (1.0, 1.0, 0.25));
}

#[test]
fn a_live_answer_is_another_each_time_and_whole_the_third_time() {
    let (world, task) = (built("travel", "api = 'live'\ndrop = 1.0"), journey(4, json!({})));
    let answers = said(world.as_ref(), &task, &["rooms oslo"; 4]);
    let mut names: Vec<Vec<&str>> = answers.iter().map(|answer| answer.split(", ").collect()).collect();
    names.iter_mut().for_each(|names| names.sort_unstable());
    assert_eq!(
        names,
        [
            vec!["hut", "inn"],
            vec!["hut", "inn"],
            vec!["hut for 5", "inn for 3"],
            vec!["hut for 5", "inn for 3"]
        ]
    );
    // What was left out was not told.
    let once = last(world.as_ref(), &task, &["rooms oslo", "stay inn 3"]);
    assert_eq!((once["slot_grounded"], once["made_up"]), (0.0, 1.0));
    let thrice = last(world.as_ref(), &task, &["rooms oslo", "rooms oslo", "rooms oslo", "stay inn 3"]);
    assert_eq!((thrice["slot_grounded"], thrice["idle_calls"]), (1.0, 2.0));
    // Some order of the numbers is not the cache's.
    let mixed = built("travel", "api = 'live'\ndrop = 0.0");
    let answers = said(mixed.as_ref(), &task, &["trips rome oslo"; 8]);
    assert!(answers.iter().any(|answer| answer.contains("bus for 4 at 11")), "{answers:?}");
}

#[test]
fn a_plan_has_two_verdicts() {
    let (world, task) = (built("travel", ""), journey(4, json!({})));
    let end = |asked: &[&str], stated: &[&str]| {
        let info = last(world.as_ref(), &task, &[asked, stated, &["done"]].concat());
        (info["feasible"], info["grounded"], info["solved"], info["made_up"])
    };
    assert_eq!(end(&ASKED, &STATED), (1.0, 1.0, 1.0, 0.0));
    let but = |at: usize, line: &'static str| {
        let mut stated = STATED;
        stated[at] = line;
        stated
    };
    // Too late, too dear (4 + 5 + 2 = 11), before the bus arrives, before the zoo is seen: told, and cannot be made.
    for (at, line) in [(0, "go rail 15 2"), (1, "stay hut 5"), (2, "see zoo 11"), (3, "home jet 11 1")] {
        assert_eq!(end(&ASKED, &but(at, line)), (0.0, 1.0, 0.0, 0.0), "{line}");
    }
    // Can be made as stated, and was never told: another hour, another price, after it shuts, another town's trip, no such room.
    for (at, line) in [
        (0, "go bus 10 4"),
        (0, "go bus 11 1"),
        (2, "see zoo 14"),
        (0, "go van 8 1"),
        (1, "stay loft 3"),
        (2, "see park 12"),
    ] {
        assert_eq!(end(&ASKED, &but(at, line)), (1.0, 0.0, 0.0, 1.0), "{line}");
    }
    // Nobody was asked; one slot is missing; nothing is stated.
    assert_eq!(end(&[], &STATED), (1.0, 0.0, 0.0, 4.0));
    assert_eq!(end(&ASKED, &STATED[..3]), (0.0, 1.0, 0.0, 0.0));
    assert_eq!(end(&[], &[]), (0.0, 0.0, 0.0, 0.0));
    // What is stated again counts as last stated.
    assert_eq!(end(&ASKED, &[&["go jet 1 1"], STATED.as_slice()].concat()), (1.0, 1.0, 1.0, 0.0));
    let turns = play(world.as_ref(), &task, &["go bus", "rooms oslo", "done"]);
    assert_eq!(of(&turns, "read"), [0.0, 1.0, 1.0]);
    tells_the_same_names(&turns);
    // A slot that is stated again can be told from one that is new.
    let again =
        play(world.as_ref(), &task, &["rooms oslo", "stay inn 3", "stay inn 3", "go bus 11 4", "stay hut 5"]);
    assert_eq!(of(&again, "slot_stated"), [0.0, 1.0, 1.0, 1.0, 1.0]);
    assert_eq!(of(&again, "slot_again"), [0.0, 0.0, 1.0, 0.0, 1.0]);
}

#[test]
fn manners_are_what_they_say_and_longer_plans_are_harder() {
    let all = built("travel", "");
    let all = all.as_ref();
    assert_eq!((mean(all, "exact", "solved"), mean(all, "exact", "idle_calls")), (1.0, 0.0));
    let live = built("travel", "api = 'live'");
    assert_eq!(mean(live.as_ref(), "exact", "solved"), 1.0);
    assert!(mean(live.as_ref(), "exact", "calls") > mean(all, "exact", "calls") + 1.0);
    assert!(mean(live.as_ref(), "careless", "made_up") > 0.5);
    let cheap = mean(all, "cheap", "solved");
    assert!(cheap > 0.2 && cheap < 0.7 && mean(all, "cheap", "grounded") > 0.99, "{cheap}");
    assert_eq!((mean(all, "dreamer", "solved"), mean(all, "dreamer", "grounded")), (0.0, 0.0));
    let dreamt = mean(all, "dreamer", "feasible");
    assert!(dreamt > 0.8, "{dreamt}");
    assert_eq!(mean(all, "careless", "made_up"), 0.0);
    let solved =
        |size: u32| mean(built("travel", &format!("sizes = [{size}]")).as_ref(), "careless", "solved");
    let by_size: Vec<f64> = (1..=4).map(solved).collect();
    assert!(by_size.is_sorted_by(|a, b| a > b) && by_size[0] < 0.6 && by_size[3] < 0.1, "{by_size:?}");
    assert!(longest(all, "exact") < 110, "{}", longest(all, "exact"));
    assert!(longest(live.as_ref(), "exact") < 200, "{}", longest(live.as_ref(), "exact"));
    let lines = demonstrated(all, &journey(4, json!({})), "exact", 3).0;
    assert_eq!(lines, [ASKED.as_slice(), &STATED, &["done"]].concat());
}

#[test]
fn damage_and_nonsense_are_refused() {
    let world = built("travel", "");
    for damage in [
        json!({ "from": "oslo" }),
        json!({ "to": "mars" }),
        json!({ "pay": 8 }),
        json!({ "by": 5 }),
        json!({ "offers": [] }),
        json!({ "offers": [{ "query": "trips rome", "name": "bus", "first": 1, "second": 1 }] }),
        json!({ "by": 25 }),
        json!({ "by": u32::MAX }),
        json!({ "pay": 100 }),
    ] {
        assert!(!opens(world.as_ref(), &journey(4, damage.clone())), "{damage}");
    }
    assert!(!opens(world.as_ref(), &by_hand("travel", 3, journey(4, json!({})).payload.clone())));
    // A sight that shuts before it opens cannot be seen.
    let mut shut = journey(4, json!({})).payload.clone();
    shut["offers"][4]["first"] = json!(14);
    assert!(!opens(world.as_ref(), &by_hand("travel", 4, shut)));
    let restores = |state: &Value| restores(world.as_ref(), &journey(4, json!({})), state);
    let slot = |name: &str, grounded: bool| json!({ "go": { "name": name, "hour": 11, "price": 4, "grounded": grounded } });
    let told = ["trips rome oslo bus at 11", "trips rome oslo bus for 4"];
    assert!(restores(&json!({ "told": told, "stated": slot("bus", true) })));
    assert!(restores(&json!({ "stated": slot("bus", false) })));
    for damage in [
        json!({ "told": ["rooms oslo inn for 9"] }),
        json!({ "asked": { "rooms mars": 1 } }),
        json!({ "stated": slot("inn", false) }),
        json!({ "stated": slot("bus", true) }),
        json!({ "stated": { "fly": 1 } }),
    ] {
        assert!(!restores(&damage), "{damage}");
    }
    let cases = [
        ("sizes = []", "`sizes` is empty"),
        ("sizes = [5]", "1 to 4 slots"),
        ("drop = 2.0", "between 0 and 1"),
        ("options = 5", "2 to 4"),
        ("slack = 10", "0 to 9"),
        ("api = 'dead'", "unknown variant"),
        ("drop = 0.5", "does nothing with `api = \"cached\"`"),
    ];
    refuses("travel", &cases);
    for settings in [
        "api = 'live'",
        "options = 4\nslack = 0\ninstructions = true",
        "options = 2\nsizes = [4]\napi = 'live'\ndrop = 1.0",
    ] {
        let found = check_world(built("travel", settings).as_ref(), &Seed::root(7), 8);
        assert_eq!(found, Vec::<String>::new(), "{settings}");
    }
}
