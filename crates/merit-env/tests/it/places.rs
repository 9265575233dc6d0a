//! Rooms and pages: what acts do, how far it is, what is told as info, and how the demonstrator plays.

use crate::played::{goes_on, opens};
use merit_api::conformance::check_world;
use merit_api::{Context, LiveTools, World};
use merit_core::{Action, Info, Seed, Split, Task};
use merit_env::places::ground::{Ground, Heard, shortest};
use merit_env::places::home::{Home, Shape};
use merit_env::places::site::Site;
use merit_env::{ExpertTurn, read_world};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashSet, VecDeque};
use std::sync::Arc;

fn world(settings: &str) -> Box<dyn World> {
    read_world(&format!("type = 'places'\n{settings}")).unwrap().build(&LiveTools).unwrap()
}

fn refusal(settings: &str) -> String {
    let read = read_world(&format!("type = 'places'\n{settings}"));
    read.map_or_else(|error| error.to_string(), |world| world.build(&LiveTools).err().unwrap().to_string())
}

/// Hall (box, shut, with the cup), den (desk, sink) and yard (bin, hat), doors everywhere. Wanted: the cup washed in the bin, the hat on
/// the desk. A shortest play: open, take, den, wash, yard, put, take, den, put: 9.
fn home() -> Value {
    json!({ "home": {
        "rooms": [0, 1, 3], "doors": [],
        "boxes": [{ "name": 0, "room": 0, "shut": true }, { "name": 1, "room": 1, "shut": false }, { "name": 2, "room": 2, "shut": false }],
        "fixtures": [[0, 1]],
        "things": [{ "name": 0, "place": 4 }, { "name": 1, "place": 3 }],
        "goals": [{ "thing": 0, "treatment": 0, "to": 2 }, { "thing": 1, "treatment": 255, "to": 1 }],
        "start": 0, "hint": 0,
    } })
}

/// Three sections; behind the east mirror the shop is blocked. Wanted: the fork of the shop, red, on the second page; big, of elm.
fn site() -> Value {
    json!({ "site": {
        "goods": [[0, 1, 2, 7, 4, 5, 6, 3], [0, 1, 2, 3, 4, 5, 6, 7], [8, 9, 10, 11, 12, 13, 14, 15]],
        "blocked": [[true, false], [false, false], [false, false]],
        "turned": false, "section": 0, "good": 3, "fields": [4, 3, 0, 0],
    } })
}

fn task(payload: Value, size: u32) -> Arc<Task> {
    Arc::new(Task::new("places", "places/train/00000-hand").with_size(size).with_payload(payload))
}

/// What is told first, then what is said to each line with the info of the turn and whether it was the last.
fn play(settings: &str, task: &Arc<Task>, lines: &[&str]) -> (String, Vec<(String, Info, bool)>) {
    let world = world(settings);
    let mut env = world.open(task, &Seed::root(2), None).unwrap();
    let first = env.reset().unwrap().last().unwrap().text.clone();
    let said = |line: &&str| {
        let action = env.parse(line);
        let result = env.step(&action, &[]).unwrap();
        let last = result.is_last();
        (
            result.observations.first().map_or_else(String::new, |message| message.text.clone()),
            result.info,
            last,
        )
    };
    (first, lines.iter().map(said).collect())
}

fn of(turns: &[(String, Info, bool)], name: &str) -> Vec<f64> {
    turns.iter().map(|(_, info, _)| info[name]).collect()
}

/// The lines that the demonstrator says in a manner until the task ends, at most `most`; whether it ended, and the last info.
fn demonstrated(
    world: &dyn World,
    task: &Arc<Task>,
    manner: &str,
    most: usize,
    seed: u64,
) -> (Vec<String>, bool, Info) {
    let expert = world.expert().unwrap();
    let mut env = world.open(task, &Seed::root(2), None).unwrap();
    env.reset().unwrap();
    let (mut turns, mut info) = (Vec::<ExpertTurn>::new(), Info::new());
    while turns.len() < most {
        let said = expert.say_in(manner, task, &turns, &Seed::root(seed)).unwrap();
        let result = env.step(&env.parse(&said), &[]).unwrap();
        let last = result.is_last();
        info = result.info;
        turns.push(ExpertTurn { said, observed: result.observations });
        if last {
            return (turns.into_iter().map(|turn| turn.said).collect(), true, info);
        }
    }
    (turns.into_iter().map(|turn| turn.said).collect(), false, info)
}

#[test]
fn a_house_is_seen_room_by_room_and_acts_have_preconditions() {
    let lines = [
        "take cup",
        "open box",
        "open box",
        "take cup",
        "wash cup",
        "go den",
        "wash  cup ",
        "fly",
        "go moon",
        "put cup desk",
    ];
    let (first, turns) = play("skin = 'house'", &task(home(), 9), &lines);
    assert_eq!(first, "rooms hall den yard. want cup wash bin, hat desk. hall: box shut cup");
    let said: Vec<&str> = turns.iter().map(|turn| turn.0.as_str()).collect();
    assert_eq!(said, ["no", "ok", "no", "ok", "no", "den: desk, sink", "ok", "what", "what", "ok"]);
    assert_eq!(of(&turns, "executed"), [0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0]);
    assert_eq!(of(&turns, "read"), [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 1.0]);
    assert_eq!(
        of(&turns, "left"),
        [9.0, 8.0, 8.0, 7.0, 7.0, 6.0, 5.0, 5.0, 5.0, 6.0],
        "the wrong place costs a take"
    );
    assert_eq!(of(&turns, "progress")[3], 1.0 - 7.0 / 9.0);
    // Five stops in all: take, wash, put, take, put.
    assert_eq!(of(&turns, "new_milestone"), [0.0, 0.0, 0.0, 0.2, 0.0, 0.0, 0.2, 0.0, 0.0, 0.0]);
    // Three facts: washed, in the bin, hat on the desk.
    assert_eq!(of(&turns, "goal_share").last(), Some(&(1.0 / 3.0)));
}

#[test]
fn a_line_that_is_repeated_in_vain_is_told_as_info() {
    let (_, turns) = play("skin = 'house'", &task(home(), 9), &["take cup", "take cup", "go den", "go hall"]);
    assert_eq!(of(&turns, "repeat"), [0.0, 1.0, 0.0, 0.0]);
    assert_eq!(of(&turns, "refused"), [1.0, 1.0, 0.0, 0.0]);
}

#[test]
fn a_plan_is_executed_whole_and_paid_for_its_form() {
    let settings = "skin = 'plan'";
    let whole = "ok: m open box, m take cup, n go den, m wash cup, n go yard, m put cup bin, m take hat, n go den, m put hat desk";
    let (first, turns) = play(settings, &task(home(), 9), &[whole]);
    assert_eq!(first, "at hall. want cup hall box shut wash den to yard bin, hat yard to den desk");
    let info = &turns[0].1;
    assert!(turns[0].2, "one line is the episode");
    assert_eq!((info["solved"], info["goal_share"], info["rule"], info["executed"]), (1.0, 1.0, 1.0, 1.0));
    // The cup is not washed: two of three facts. No response; three of four steps have a tag, all four verbs are known, one without its
    // object; tags and acts differ in number: 0.5 * (0.3 * 3/4 + 0.5 * 3.5/4) = 0.33125.
    let (_, turns) = play(settings, &task(home(), 9), &["m open, m take cup, n go den, heat cup"]);
    let info = &turns[0].1;
    assert_eq!((info["solved"], info["goal_share"], info["executed"]), (0.0, 0.0, 0.25));
    assert!((info["rule"] - 0.33125).abs() < 1e-12, "{}", info["rule"]);
    // What is no plan at all is answered, and the episode goes on.
    let (_, turns) = play(settings, &task(home(), 9), &["the cup, please", whole]);
    assert!(!turns[0].2 && turns[1].2);
    assert_eq!((turns[0].1["rule"], turns[1].1["solved"]), (0.0, 1.0));
}

#[test]
fn a_hint_is_done_before_the_first_turn() {
    let mut hinted = home();
    hinted["home"]["hint"] = json!(4);
    let rest = "ok: n go yard, m put cup bin, m take hat, n go den, m put hat desk";
    let (first, turns) = play("skin = 'plan'", &task(hinted.clone(), 9), &[rest]);
    assert!(first.ends_with("den desk. done open box, take cup, go den, wash cup"), "{first}");
    assert_eq!((turns[0].1["solved"], turns[0].1["hint"], turns[0].1["optimal"]), (1.0, 4.0, 9.0));
    let world = world("skin = 'plan'");
    let (lines, ..) = demonstrated(world.as_ref(), &task(hinted, 9), "exact", 1, 1);
    assert_eq!(lines, [rest]);
}

#[test]
fn only_training_tasks_have_hints_unless_told_otherwise() {
    let settings = "skin = 'plan'\nsizes = [10]\nhints = { share = 0.5, depth = 0.7 }";
    let hints = |settings: &str, split: Split| -> Vec<u64> {
        let world = world(settings);
        let hint =
            |at| world.task(split, at, &Seed::root(1)).unwrap().payload["home"]["hint"].as_u64().unwrap();
        (0..200).map(hint).collect()
    };
    let train = hints(settings, Split::Train);
    // Half of the tasks have a hint of 0 to 7 steps: 7 in 16 have at least one.
    let given = train.iter().filter(|hint| **hint > 0).count();
    assert!((65..=110).contains(&given) && train.iter().max() == Some(&7), "{given}");
    assert!(hints(settings, Split::HeldOut).iter().all(|hint| *hint == 0));
    let held_out = format!("{settings}\nheld_out_hints = {{ share = 1.0, depth = 0.7 }}");
    assert!(hints(&held_out, Split::HeldOut).iter().any(|hint| *hint > 0));
}

#[test]
fn a_site_has_a_way_around_what_is_blocked() {
    let settings = "skin = 'site'\nsizes = [8]";
    let lines = [
        "click west",
        "click shop",
        "pick red",
        "next",
        "click fork",
        "set size big",
        "set size big",
        "set wood elm",
        "send",
    ];
    let (first, turns) = play(settings, &task(site(), 8), &lines);
    assert_eq!(first, "want shop red fork: size big, wood elm. home: east west");
    let said: Vec<&str> = turns.iter().map(|turn| turn.0.as_str()).collect();
    let views = [
        "west: shop club bank",
        "shop: red blue",
        "shop red: cup hat next",
        "shop red: pen fork prev",
        "fork form",
    ];
    assert_eq!(said[..5], views);
    assert_eq!(said[5..], ["ok", "no", "ok", "sent"]);
    assert_eq!(of(&turns, "left"), [7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 2.0, 1.0, 0.0]);
    assert_eq!(of(&turns, "keypoint"), [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0]);
    assert!(turns[8].2 && turns[8].1["solved"] == 1.0 && turns[8].1["bad_send"] == 0.0);
    assert_eq!(of(&turns, "tree"), [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, -0.5, 0.5, 0.5]);
    // Back and forth is worth nothing the second time; what cannot be read costs most.
    let (_, turns) =
        play(settings, &task(site(), 8), &["click west", "home", "click west", "buy it", "send"]);
    assert_eq!(of(&turns, "tree"), [0.5, 0.0, 0.0, -1.0, -0.5]);
    // The other mirror is shut: out.
    let (_, turns) = play(settings, &task(site(), 8), &["click east", "click shop"]);
    assert_eq!((turns[1].0.as_str(), turns[1].1["blocked"], turns[1].2), ("blocked", 1.0, true));
    assert_eq!(turns[1].1["tree"], 0.0);
    // Another good, or a field that is not as wanted, is sent in vain.
    let lines = ["click west", "click shop", "pick red", "click cup", "set size big", "send"];
    let (_, turns) = play(settings, &task(site(), 8), &lines);
    assert_eq!((turns[5].1["solved"], turns[5].1["bad_send"], turns[5].1["tree"]), (0.0, 1.0, -0.5));
}

#[test]
fn only_training_tasks_have_blocked_pages_and_never_both_ways() {
    let world = world("skin = 'site'\nsizes = [7]\nblocked = 0.5");
    let blocked = |split: Split, at: u64| {
        let payload = world.task(split, at, &Seed::root(1)).unwrap().payload;
        let section = payload["site"]["section"].as_u64().unwrap() as usize;
        payload["site"]["blocked"][section]
            .as_array()
            .unwrap()
            .iter()
            .filter(|one| **one == json!(true))
            .count()
    };
    let train: Vec<usize> = (0..100).map(|at| blocked(Split::Train, at)).collect();
    // Of four equally likely pairs three have a blocked page, and of those none has two.
    assert!((60..90).contains(&train.iter().sum::<usize>()) && train.iter().max() == Some(&1), "{train:?}");
    assert_eq!((0..100).map(|at| blocked(Split::HeldOut, at)).sum::<usize>(), 0);
}

/// How many acts it is to the goal, by a search over all states.
fn searched(ground: &dyn Ground, cells: &[u8]) -> Option<usize> {
    let mut queue = VecDeque::from([(cells.to_vec(), 0)]);
    let mut seen = HashSet::from([cells.to_vec()]);
    while let Some((cells, acts)) = queue.pop_front() {
        if ground.facts(&cells).iter().all(|fact| *fact) {
            return Some(acts);
        }
        for act in ground.acts(&cells) {
            let mut next = cells.clone();
            assert_eq!(ground.act(&mut next, &act), Heard::Done);
            let over = ground.reply(&next, &act).over && !ground.facts(&next).iter().all(|fact| *fact);
            if !over && seen.insert(next.clone()) {
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
        let shape = Shape { rooms: 3, things: 2, tree: round % 2 == 0, treated: 0.5 };
        let home = Home::draw(&shape, 1 + round % 2, &mut rng);
        let mut cells = home.start();
        // Also from states that no right play meets.
        for _ in 0..rng.below(8) {
            let acts = home.acts(&cells);
            home.act(&mut cells, rng.pick(&acts).unwrap());
        }
        assert_eq!(
            shortest(&home, &cells).map(|route| route.left),
            searched(&home, &cells),
            "{home:?} {cells:?}"
        );
    }
    for _ in 0..4 {
        let mut site = Site::draw(2, 1, &mut rng);
        site.block(0.5, &mut rng);
        let cells = site.start();
        assert_eq!(shortest(&site, &cells).map(|route| route.left), searched(&site, &cells), "{site:?}");
    }
}

#[test]
fn manners_are_what_they_say() {
    let world = world("skin = 'house'");
    let task = task(home(), 9);
    let (exact, ended, info) = demonstrated(world.as_ref(), &task, "exact", 40, 3);
    assert_eq!((exact.len(), ended, info["solved"]), (9, true, 1.0));
    // The cup first and then the hat, which is where the cup goes.
    let (orderly, ended, _) = demonstrated(world.as_ref(), &task, "orderly", 40, 3);
    assert!(ended);
    assert_eq!(orderly[..6], ["open box", "take cup", "go den", "wash cup", "go yard", "put cup bin"]);
    // Nothing is known of the yard before it is seen.
    let (explore, ended, info) = demonstrated(world.as_ref(), &task, "explore", 40, 3);
    assert_eq!(
        (explore[..3].to_vec(), ended, info["solved"]),
        (vec!["open box".to_owned(), "take cup".to_owned(), "go den".to_owned()], true, 1.0)
    );
    let (wander, ..) = demonstrated(world.as_ref(), &task, "wander", 40, 3);
    assert!(wander.len() > 9);
}

#[test]
fn larger_tasks_are_harder_for_whoever_wanders() {
    let solved = |settings: &str, turns: usize| {
        let world = world(settings);
        let solves = |at: &u64| {
            let task = Arc::new(world.task(Split::Train, *at, &Seed::root(1)).unwrap());
            demonstrated(world.as_ref(), &task, "wander", turns, *at).2["solved"] == 1.0
        };
        (0..60).filter(solves).count()
    };
    for skin in ["house", "quests"] {
        let by_size = [4, 8, 12].map(|size| solved(&format!("skin = '{skin}'\nsizes = [{size}]"), 14));
        assert!(by_size[0] > by_size[1] + 5 && by_size[1] > by_size[2] + 5, "{skin}: {by_size:?}");
    }
}

#[test]
fn every_skin_keeps_the_contract() {
    for settings in [
        "skin = 'house'\nsizes = [3, 12]\nrooms = 6\nobjects = 8\ninstructions = true",
        "skin = 'quests'\nrooms = 2\nobjects = 3\nsizes = [4]\nheld_out_sizes = [8]",
        "skin = 'quests'\ndoors = 'open'\nobjects = 6",
        "skin = 'plan'\nsizes = [4, 14]\nhints = { share = 0.5, depth = 0.7 }\nheld_out_hints = { share = 1.0, depth = 0.5 }",
        "skin = 'plan'\ndoors = 'tree'\ntreated = 0.0",
        "skin = 'site'\nsizes = [6, 10]\nblocked = 0.4",
        "skin = 'site'\nsizes = [7]\nsections = 4\nheld_out_sizes = [9]",
        "skin = 'site'\nsizes = [6, 8]\nsites = { first = 8, count = 4 }",
    ] {
        assert_eq!(
            check_world(world(settings).as_ref(), &Seed::root(7), 8),
            Vec::<String>::new(),
            "{settings}"
        );
    }
}

const SITES: &str = "skin = 'site'\nsizes = [6, 7, 8]\nsites = { first = 0, count = 8 }";

#[test]
fn a_site_with_a_number_never_changes_and_unseen_sites_are_others() {
    let shelves = |settings: &str| {
        let world = world(settings);
        let mut found: BTreeMap<u64, Value> = BTreeMap::new();
        for at in 0..60 {
            let site = world.task(Split::Train, at, &Seed::root(1)).unwrap().payload["site"].clone();
            let kept = found.entry(site["number"].as_u64().unwrap()).or_insert(site["goods"].clone());
            assert_eq!(*kept, site["goods"]);
        }
        found
    };
    let (practised, unseen) = (shelves(SITES), shelves("skin = 'site'\nsites = { first = 8, count = 4 }"));
    assert_eq!((practised.len(), unseen.len()), (8, 4));
    assert!(unseen.values().all(|goods| !practised.values().any(|known| known == goods)));
    let refused = read_world("type = 'places'\nskin = 'site'\nsites = { first = 9, count = 4 }").err();
    assert!(refused.is_some_and(|why| why.to_string().contains("of 12")));
}

#[test]
fn who_knows_the_sites_proposes_what_can_be_done_and_who_does_not_mostly_does_not() {
    let world = world(SITES);
    let author = world.author().unwrap();
    let proposed = |context, at| author.propose(context, &Seed::root(3).child("proposed", at)).unwrap();
    for at in 0..40 {
        let task = proposed(Context::Known, at);
        assert_eq!((task.split, task.payload["site"].get("absent")), (Split::Train, None));
        assert_eq!(task, proposed(Context::Known, at), "the same seed, the same task");
        world.open(&Arc::new(task), &Seed::root(1), None).unwrap();
    }
    let tasks: Vec<Task> = (0..400).map(|at| proposed(Context::Unknown, at)).collect();
    // Three sections of four exist, and four goods of sixteen are there in a hue: 3/4 · 4/16 of all wishes can be met.
    let there = tasks.iter().filter(|task| task.payload["site"].get("absent").is_none()).count();
    assert!((50..=100).contains(&there), "{there} of 400; 75 are expected");
    tasks.into_iter().for_each(|task| drop(world.open(&Arc::new(task), &Seed::root(1), None).unwrap()));
    assert!(self::world("skin = 'site'").author().is_none());
}

#[test]
fn a_judge_of_the_last_page_takes_the_same_good_of_another_section_for_right() {
    let mut payload = site();
    payload["site"]["number"] = json!(0);
    payload["site"]["blocked"] = json!([[false, false], [false, false], [false, false]]);
    let wrong = [
        "click east",
        "click club",
        "pick blue",
        "next",
        "click fork",
        "set size big",
        "set wood elm",
        "send",
    ];
    let (first, turns) = play(SITES, &task(payload.clone(), 8), &wrong);
    assert!(first.starts_with("mill. want shop red fork: size big, wood elm. home:"), "{first}");
    assert_eq!(turns.last().unwrap().0, "sent fork: size big, wood elm");
    assert_eq!((of(&turns, "looks_right")[7], of(&turns, "solved")[7]), (1.0, 0.0));
    let right = [
        "click east",
        "click shop",
        "pick red",
        "next",
        "click fork",
        "set size big",
        "set wood elm",
        "send",
    ];
    let (_, turns) = play(SITES, &task(payload.clone(), 8), &right);
    assert_eq!((of(&turns, "looks_right")[7], of(&turns, "solved")[7]), (1.0, 1.0));
    // A wish for what is not there: nothing solves it, and nothing comes nearer.
    payload["site"]["absent"] = json!([0, 1, 15]);
    let (first, turns) = play(SITES, &task(payload, 7), &right);
    assert!(first.contains("want shop blue sled"), "{first}");
    assert_eq!(
        (of(&turns, "solved")[7], of(&turns, "progress")[7], of(&turns, "looks_right")[7]),
        (0.0, 0.0, 0.0)
    );
}

#[test]
fn every_size_that_is_allowed_can_be_drawn() {
    for (settings, sizes) in [
        ("skin = 'house'", 2..=16),
        ("skin = 'house'\nrooms = 2\nobjects = 1", 2..=5),
        ("skin = 'plan'\nrooms = 8\nobjects = 10", 2..=16),
        ("skin = 'quests'\nrooms = 2\nobjects = 2", 2..=8),
        ("skin = 'quests'\nrooms = 2\nobjects = 4\ndoors = 'open'", 2..=12),
        ("skin = 'site'\nblocked = 1.0", 6..=10),
    ] {
        for size in sizes {
            let world = world(&format!("{settings}\nsizes = [{size}]"));
            for split in [Split::Train, Split::HeldOut] {
                let task = Arc::new(world.task(split, 0, &Seed::root(1)).unwrap());
                assert!(world.open(&task, &Seed::root(1), None).is_ok(), "{settings}, size {size}");
            }
        }
    }
}

#[test]
fn settings_that_mean_nothing_are_refused() {
    for (settings, says) in [
        ("sizes = [1]", "2 to 16 acts"),
        ("skin = 'site'\nsizes = [4]", "6 to 10 acts"),
        ("skin = 'site'\nsizes = [6]\nrooms = 4", "`rooms` means nothing to the skin `site`"),
        ("skin = 'quests'\ntreated = 0.5", "`treated` means nothing to the skin `quests`"),
        ("skin = 'house'\nhints = { share = 0.5, depth = 0.7 }", "`hints` means nothing to the skin `house`"),
        ("skin = 'plan'\nblocked = 0.1", "`blocked` means nothing to the skin `plan`"),
        ("skin = 'plan'\nhints = { share = 0.5, depth = 1.0 }", "a depth of 0 to below 1"),
        ("rooms = 9", "2 to 8"),
        ("objects = 0", "1 to 10"),
        ("skin = 'quests'\nobjects = 1\nsizes = [8]", "2 to 5 acts"),
        ("skin = 'maze'", "maze"),
    ] {
        assert!(refusal(settings).contains(says), "{settings}: {}", refusal(settings));
    }
}

#[test]
fn numbers_out_of_range_are_refused_and_nothing_panics() {
    let refused =
        |settings: &str, payload: Value, size: u32| !opens(world(settings).as_ref(), &task(payload, size));
    let odd = [
        json!(200),
        json!([]),
        json!([[9, 9]]),
        json!([200]),
        json!([[true, true]]),
        json!([{ "name": 99, "room": 0, "shut": true }]),
    ];
    for (settings, whole, kind, size) in
        [("skin = 'house'", home(), "home", 9), ("skin = 'site'\nsizes = [8]", site(), "site", 8)]
    {
        assert!(!refused(settings, whole.clone(), size) && refused(settings, whole.clone(), size + 1));
        for key in whole[kind].as_object().unwrap().keys().filter(|key| *key != "doors") {
            for value in &odd {
                let mut broken = whole.clone();
                broken[kind][key] = value.clone();
                assert!(refused(settings, broken, size), "{key} = {value}");
            }
        }
    }
    assert!(refused("skin = 'house'", site(), 8), "a site is no house");
    // A snapshot whose cells are of another puzzle.
    let world = world("skin = 'house'");
    let own = world.open(&task(home(), 9), &Seed::root(1), None).unwrap().snapshot();
    for cells in [json!([9, 9]), json!([200, 0, 1, 1, 4, 3, 0, 0]), json!([0, 0, 1, 1, 99, 3, 0, 0])] {
        let mut broken = own.clone();
        broken["state"]["cells"] = cells;
        assert!(!goes_on(world.as_ref(), &task(home(), 9), &broken));
    }
    assert_eq!(
        world.open(&task(home(), 9), &Seed::root(1), None).unwrap().parse(""),
        Action::Malformed { why: "what".to_owned() }
    );
}
