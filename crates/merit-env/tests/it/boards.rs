//! Boards: mines against counting by hand, boxes against the shortest way.

use merit_api::conformance::check_world;
use merit_api::{LiveTools, World};
use merit_core::{Info, Seed, Split, Task};
use merit_env::{ExpertTurn, read_world};
use serde_json::json;
use std::sync::Arc;

fn world(settings: &str) -> Box<dyn World> {
    read_world(&format!("type = 'boards'\n{settings}")).unwrap().build(&LiveTools).unwrap()
}

fn play(world: &dyn World, task: &Arc<Task>, lines: &[&str]) -> Vec<(String, Info)> {
    let mut env = world.open(task, &Seed::root(2), None).unwrap();
    env.reset().unwrap();
    let step = |line: &&str| {
        let action = env.parse(line);
        let result = env.step(&action, &[]).unwrap();
        (result.observations[0].text.clone(), result.info)
    };
    lines.iter().map(step).collect()
}

#[test]
fn opening_counts_the_mines_around_and_empty_cells_open_their_neighbours() {
    let two = Arc::new(
        Task::new("boards", "by hand").with_size(2).with_payload(json!({ "kind": "mines", "mines": 0b11 })),
    );
    let mut env = world("").open(&two, &Seed::root(2), None).unwrap();
    // Mines at a1 and a2: two stand beside b1, two beside b2, one beside a3 and b3.
    assert_eq!(env.reset().unwrap().last().unwrap().text, "..100 22100 00000 00000 00000");
    // A mine at b2 and one at d4: the middle has two around and opens alone.
    let mines = 1 << 6 | 1 << 18;
    let apart = Arc::new(
        Task::new("boards", "by hand").with_size(2).with_payload(json!({ "kind": "mines", "mines": mines })),
    );
    let world = world("");
    let turns = play(world.as_ref(), &apart, &["open a5", "open b2"]);
    assert_eq!(turns[0].0, "..100 ..100 ..211 ..... .....");
    assert_eq!(turns[1].0, "boom");
}

#[test]
fn chances_are_shares_of_the_layouts_that_agree() {
    // Two mines, and two of the eight cells around the middle are mined: every one with a chance of a quarter, all others with none.
    let mines = 1 << 6 | 1 << 18;
    let task = Arc::new(
        Task::new("boards", "by hand").with_size(2).with_payload(json!({ "kind": "mines", "mines": mines })),
    );
    let world = world("");
    let near = &play(world.as_ref(), &task, &["open b3"])[0].1;
    assert_eq!((near["chance"], near["least_chance"], near["good"]), (0.25, 0.0, 0.0));
    let far = &play(world.as_ref(), &task, &["open a5"])[0].1;
    assert_eq!((far["chance"], far["good"], far["news"]), (0.0, 1.0, 1.0));
    let again = &play(world.as_ref(), &task, &["open c3"])[0].1;
    assert_eq!((again["news"], again["good"]), (0.0, 0.0));
}

#[test]
fn a_box_is_pushed_never_pulled_and_may_get_stuck() {
    let room = json!({ "walls": [[0, 0]], "goal": [2, 4], "start": { "player": [2, 0], "goods": [2, 2] } });
    let task = Arc::new(
        Task::new("boards", "by hand").with_size(1).with_payload(json!({ "kind": "push", "room": room })),
    );
    let world = world("kind = 'push'");
    let turns = play(world.as_ref(), &task, &["right", "left", "right", "right", "right"]);
    assert_eq!(turns[0].0, "#..... ...... .ao.x. ...... ...... ......");
    let of = |name: &str| turns.iter().map(|(_, info)| info[name]).collect::<Vec<f64>>();
    assert_eq!(of("left"), [2.0, 3.0, 2.0, 1.0, 0.0]);
    assert_eq!(of("good"), [1.0, 0.0, 1.0, 1.0, 1.0]);
    assert_eq!(of("won"), [0.0, 0.0, 0.0, 0.0, 1.0]);
    // Down to the lowest row, from where it never comes up again.
    let down = play(world.as_ref(), &task, &["up", "right", "right", "down", "down", "down"]);
    assert_eq!(down.last().unwrap().1["stuck"], 1.0);
    // Against the wall of the room nothing moves.
    assert_eq!(play(world.as_ref(), &task, &["left"])[0].1["moved"], 0.0);
}

fn share_won(world: &dyn World, manner: &str, turns_allowed: usize) -> f64 {
    let tasks = (0..60).map(|at| Arc::new(world.task(Split::Train, at, &Seed::root(1)).unwrap()));
    let won = |task: Arc<Task>| {
        let mut env = world.open(&task, &Seed::root(2), None).unwrap();
        env.reset().unwrap();
        let mut turns: Vec<ExpertTurn> = Vec::new();
        for _ in 0..turns_allowed {
            let said = world.expert().unwrap().say_in(manner, &task, &turns, &Seed::root(3)).unwrap();
            let action = env.parse(&said);
            let result = env.step(&action, &[]).unwrap();
            if result.is_last() {
                return result.info["won"] > 0.5;
            }
            turns.push(ExpertTurn { said, observed: result.observations });
        }
        false
    };
    tasks.filter(|task| won(Arc::clone(task))).count() as f64 / 60.0
}

#[test]
fn manners_are_what_they_say_and_larger_boards_are_harder() {
    for kind in ["mines", "push"] {
        let of = |sizes: &str, manner: &str| {
            share_won(world(&format!("kind = '{kind}'\nsizes = {sizes}")).as_ref(), manner, 24)
        };
        assert_eq!(of("[1, 3, 5]", "exact"), 1.0, "{kind}");
        let easy = of("[1]", "mixed");
        let hard = of("[5]", "mixed");
        assert!(easy > hard + 0.2, "{kind}: {easy} and {hard}");
        assert!(of("[4]", "reckless") < 0.15, "{kind}");
    }
}

#[test]
fn both_boards_keep_the_contract() {
    for settings in ["", "kind = 'push'", "kind = 'mines'\nsizes = [5]\ninstructions = true"] {
        assert_eq!(
            check_world(world(settings).as_ref(), &Seed::root(7), 8),
            Vec::<String>::new(),
            "{settings}"
        );
    }
}
