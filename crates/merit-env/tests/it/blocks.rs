//! Towers of blocks: what moves do, how many are left, and how hard it is for whom.

use crate::played::{
    built, by_hand, demonstrated, goes_on, in_time, longest, mean, opens, play, prompt, refusal,
};
use merit_api::World;
use merit_api::conformance::check_world;
use merit_core::{Seed, Split, Task};
use merit_env::places::blocks::Blocks;
use merit_env::places::ground::{Ground, Heard, shortest};
use serde_json::{Value, json};
use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

fn blocks(settings: &str) -> Box<dyn World> {
    built("places", &format!("skin = 'blocks'\n{settings}"))
}

fn task(size: u32, hues: &[u8], start: &[u8], goal: &[u8]) -> Arc<Task> {
    by_hand("places", size, json!({ "blocks": { "hues": hues, "start": start, "goal": goal } }))
}

/// Green on red, and blue. Wanted: red on blue on green. Both wishes undo each other; three moves.
fn knotted() -> Arc<Task> {
    task(3, &[0, 1, 2], &[0, 0, 1], &[2, 3, 0])
}

#[test]
fn a_block_that_bears_another_cannot_be_moved() {
    let (world, task) = (blocks("sizes = [2, 3, 4]"), knotted());
    assert_eq!(prompt(world.as_ref(), &task), "want green blue red. red green, blue");
    let lines = [
        "stack red blue",
        "unstack blue",
        "stack blue  green",
        "stack red red",
        "stack red white",
        "lift red",
        "unstack blue",
        "unstack green",
        "stack blue green",
        "stack red blue",
    ];
    let turns = play(world.as_ref(), &task, &lines);
    let told: Vec<&str> = turns.iter().map(|turn| turn.0.as_str()).collect();
    let hint = "say stack ONE OTHER or unstack ONE";
    let towers = [
        "red green blue",
        "no",
        "no",
        hint,
        "red green, blue",
        "red, blue, green",
        "red, green blue",
        "done",
    ];
    assert_eq!(told[..2], ["no", "no"]);
    assert_eq!(told[2..], towers);
    let of = |name: &str| turns.iter().map(|turn| turn.1[name]).collect::<Vec<f64>>();
    // Blue on green is wanted, and in the way: green has to come off red first.
    assert_eq!(of("left"), [3.0, 3.0, 4.0, 4.0, 4.0, 4.0, 3.0, 2.0, 1.0, 0.0]);
    assert_eq!(of("refused"), [1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(of("keypoint"), [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0]);
    let third = 1.0 / 3.0;
    assert_eq!(of("goal_share"), [0.0, 0.0, third, third, third, third, 0.0, third, 2.0 * third, 1.0]);
    assert_eq!(of("solved")[9], 1.0);
}

/// How many moves it is to the goal, by a search over all states.
fn searched(ground: &Blocks, cells: &[u8]) -> Option<usize> {
    let mut queue = VecDeque::from([(cells.to_vec(), 0)]);
    let mut seen = HashSet::from([cells.to_vec()]);
    while let Some((cells, moves)) = queue.pop_front() {
        if ground.facts(&cells).iter().all(|fact| *fact) {
            return Some(moves);
        }
        for act in ground.acts(&cells) {
            let mut next = cells.clone();
            assert_eq!(ground.act(&mut next, &act), Heard::Done);
            assert!(ground.fits(&next), "{act}: {next:?}");
            if seen.insert(next.clone()) {
                queue.push_back((next, moves + 1));
            }
        }
    }
    None
}

#[test]
fn the_oracle_agrees_with_a_search_over_all_states() {
    let mut rng = Seed::root(5).stream();
    for round in 0..60 {
        let blocks = Blocks::draw(3 + round % 3, &mut rng);
        let mut cells = blocks.start();
        for _ in 0..rng.below(6) {
            let acts = blocks.acts(&cells);
            blocks.act(&mut cells, rng.pick(&acts).unwrap());
        }
        let left = shortest(&blocks, &cells).map(|route| route.left);
        assert_eq!(left, searched(&blocks, &cells), "{blocks:?} {cells:?}");
    }
}

/// The share of tasks that a manner solves in so many turns.
fn solved(settings: &str, manner: &str, turns: usize) -> f64 {
    let world = blocks(settings);
    let solves = |at: &u64| {
        let task = Arc::new(world.task(Split::Train, *at, &Seed::root(1)).unwrap());
        demonstrated(world.as_ref(), &task, manner, *at).0.len() <= turns
    };
    (0..100).filter(solves).count() as f64 / 100.0
}

/// The share of tasks that any moves solve in so many turns.
fn stumbled(settings: &str, turns: usize) -> f64 {
    let world = blocks(settings);
    let solves = |at: &u64| {
        let task = world.task(Split::Train, *at, &Seed::root(1)).unwrap();
        let ground: Blocks = serde_json::from_value(task.payload["blocks"].clone()).unwrap();
        let (mut cells, mut rng) = (ground.start(), Seed::root(*at).stream());
        (0..turns).any(|_| {
            let acts = ground.acts(&cells);
            ground.act(&mut cells, rng.pick(&acts).unwrap());
            ground.reply(&cells, "").over
        })
    };
    (0..200).filter(solves).count() as f64 / 200.0
}

#[test]
fn manners_are_what_they_say_and_more_moves_and_blocks_are_harder() {
    assert_eq!(in_time("places-blocks", "solved"), 1.0);
    let world = blocks("objects = 5\nsizes = [2, 5, 8]");
    for manner in ["exact", "orderly", "explore", "wander"] {
        assert_eq!(mean(world.as_ref(), manner, "solved"), 1.0, "{manner}");
    }
    // White on green, and red and blue alone; wanted are green on red and white on blue. Green first: white is in the way.
    let apart = task(2, &[0, 1, 2, 3], &[0, 0, 0, 3], &[0, 0, 1, 2]);
    let lines = |manner: &str| demonstrated(world.as_ref(), &apart, manner, 1).0;
    assert_eq!(lines("exact"), ["stack white blue", "stack green red"]);
    assert_eq!(lines("orderly"), ["unstack white", "stack green red", "stack white blue"]);
    let by_size = [2, 4, 6].map(|size| solved(&format!("objects = 4\nsizes = [{size}]"), "wander", 8));
    assert!(by_size.windows(2).all(|two| two[0] > two[1] + 0.1), "{by_size:?}");
    let by_blocks = [3, 4, 5].map(|objects| stumbled(&format!("objects = {objects}\nsizes = [4]"), 12));
    assert!(by_blocks.windows(2).all(|two| two[0] > two[1] + 0.01), "{by_blocks:?}");
    assert!(stumbled("objects = 5\nsizes = [6]", 12) < 0.02);
}

#[test]
fn blocks_keep_the_contract_and_every_size_can_be_drawn() {
    for settings in ["sizes = [2, 6]", "objects = 6\nsizes = [3]\nheld_out_sizes = [8]\ninstructions = true"]
    {
        let found = check_world(blocks(settings).as_ref(), &Seed::root(7), 8);
        assert_eq!(found, Vec::<String>::new(), "{settings}");
    }
    for objects in 3..=6 {
        for size in 2..=2 * (objects - 1) {
            let world = built("places", &format!("skin = 'blocks'\nobjects = {objects}\nsizes = [{size}]"));
            for split in [Split::Train, Split::HeldOut] {
                let task = Arc::new(world.task(split, 0, &Seed::root(1)).unwrap());
                assert!(world.open(&task, &Seed::root(1), None).is_ok(), "{objects} blocks, size {size}");
            }
        }
    }
    // A whole episode of the recipe is short.
    assert!(longest(blocks("sizes = [2, 3, 4]").as_ref(), "wander") < 100);
}

#[test]
fn settings_and_tasks_that_mean_nothing_are_refused() {
    for (settings, says) in [
        ("objects = 2", "3 to 6"),
        ("objects = 7", "3 to 6"),
        ("sizes = [7]", "2 to 6 acts"),
        ("rooms = 3", "`rooms` means nothing to the skin `blocks`"),
        ("doors = 'open'", "`doors` means nothing to the skin `blocks`"),
        ("treated = 0.5", "`treated` means nothing to the skin `blocks`"),
        ("lever = true", "`lever` means nothing to the skin `blocks`"),
    ] {
        let why = refusal("places", &format!("skin = 'blocks'\n{settings}"));
        assert!(why.contains(says), "{settings}: {why}");
    }
    let world = blocks("sizes = [2, 3, 4]");
    assert!(opens(world.as_ref(), &knotted()));
    for odd in [
        task(4, &[0, 1, 2], &[0, 0, 1], &[2, 3, 0]),
        task(3, &[0, 2, 1], &[0, 0, 1], &[2, 3, 0]),
        task(3, &[0, 0, 2], &[0, 0, 1], &[2, 3, 0]),
        task(3, &[0, 1, 9], &[0, 0, 1], &[2, 3, 0]),
        task(3, &[0, 1, 2], &[0, 0, 99], &[2, 3, 0]),
        task(3, &[0, 1, 2], &[0, 1, 1], &[2, 3, 0]),
        task(3, &[0, 1, 2], &[2, 1, 0], &[2, 3, 0]),
        task(3, &[0, 1, 2], &[0, 0, 3], &[2, 3, 0]),
        task(3, &[0, 1, 2], &[0, 0, 1], &[2, 3]),
        task(3, &[], &[], &[]),
    ] {
        assert!(!opens(world.as_ref(), &odd), "{}", odd.payload);
    }
    let own = world.open(&knotted(), &Seed::root(1), None).unwrap().snapshot();
    for (cells, fits) in [
        (json!([0, 0, 0]), true),
        (json!([0, 0]), false),
        (json!([2, 1, 0]), false),
        (json!([0, 1, 1]), false),
    ] {
        let mut other: Value = own.clone();
        other["state"]["cells"] = cells.clone();
        assert_eq!(goes_on(world.as_ref(), &knotted(), &other), fits, "{cells}");
    }
}
