//! Lenses: the optics against formulas, tiers against the card, and what the manners design.

use merit_api::{LiveTools, World};
use merit_core::{Action, Info, Seed, Split, Task};
use merit_env::lens::optics::{Element, feasibility, focus, landing, spot};
use merit_env::read_world;
use std::sync::Arc;

fn world(settings: &str) -> Box<dyn World> {
    read_world(&format!("type = 'lens'\n{settings}")).unwrap().build(&LiveTools).unwrap()
}

fn tasks(world: &dyn World, count: u64) -> Vec<Arc<Task>> {
    (0..count).map(|at| Arc::new(world.task(Split::Train, at, &Seed::root(1)).unwrap())).collect()
}

fn said(world: &dyn World, task: &Task, manner: &str, seed: u64) -> String {
    world.expert().unwrap().say_in(manner, task, &[], &Seed::root(seed)).unwrap()
}

fn info(world: &dyn World, task: &Arc<Task>, line: &str) -> Info {
    let mut env = world.open(task, &Seed::root(2), None).unwrap();
    env.reset().unwrap();
    let action = env.parse(line);
    env.step(&action, &[]).unwrap().info
}

const LENS: Element = Element { index: 1.5, front: 0.02, back: -0.02, thickness: 6.0, gap: 0.0 };

#[test]
fn the_focal_length_is_the_lensmakers() {
    // 1/f = (n-1) (c1 - c2 + (n-1) t c1 c2 / n) = 0.5 (0.04 - 0.5 * 6 * 0.0004 / 1.5) = 0.0196.
    let (efl, back) = focus(&[LENS]).unwrap();
    assert!((efl - 1.0 / 0.0196).abs() < 1e-9, "{efl}");
    // The focus lies f (1 - (n-1) t c1 / n) behind the last surface.
    assert!((back - efl * (1.0 - 0.5 * 6.0 * 0.02 / 1.5)).abs() < 1e-9, "{back}");
    // A plate and a lens that spreads bring nothing together.
    assert_eq!(focus(&[Element { front: 0.0, back: 0.0, ..LENS }]), None);
    assert_eq!(focus(&[Element { front: -0.02, back: 0.02, ..LENS }]), None);
}

#[test]
fn real_rays_near_the_axis_go_where_paraxial_ones_do_and_others_fall_short() {
    let (_, back) = focus(&[LENS]).unwrap();
    let near = landing(&[LENS], 0.01, back).unwrap();
    assert!(near.abs() < 1e-7, "{near}");
    // Spherical aberration of a lens that collects: rays at the rim cross the axis before the focus.
    let rim = landing(&[LENS], 5.0, back).unwrap();
    assert!(rim < -1e-3, "{rim}");
    // It grows with the third power of the height.
    let half = landing(&[LENS], 2.5, back).unwrap();
    assert!((rim / half - 8.0).abs() < 1.0, "{}", rim / half);
    // A plate sends a ray along the axis straight on.
    let plate = [Element { front: 0.0, back: 0.0, ..LENS }];
    assert_eq!(landing(&plate, 3.0, 40.0), Some(3.0));
    // The bent side first is sharper than last.
    let bent = |front, back| spot(&[Element { front, back, ..LENS }], 6.0).unwrap();
    assert!(bent(0.04, 0.0) < 0.5 * bent(0.0, -0.04));
}

#[test]
fn a_lens_can_be_made_where_its_edge_is_thick_enough_and_its_rays_arrive() {
    assert_eq!(feasibility(&[LENS], 6.0), 1.0);
    // Both surfaces are 0.3621 mm deep at 6 mm; 1.2 mm leave an edge under half a millimetre.
    assert!(feasibility(&[Element { thickness: 1.2, ..LENS }], 6.0) < 1.0);
    // A radius of 25 mm does not reach a rim of 30.
    assert!(feasibility(&[Element { front: 0.04, ..LENS }], 30.0) < 1.0);
    // Two elements that meet at the rim.
    let pair = |gap| [Element { back: 0.02, gap, ..LENS }, Element { front: -0.02, ..LENS }];
    assert!(feasibility(&pair(0.0), 6.0) < 1.0 && feasibility(&pair(1.0), 6.0) == 1.0);
}

#[test]
fn tiers_say_what_the_card_says() {
    let world = world("sizes = [1]");
    for task in tasks(world.as_ref(), 6) {
        let right = info(world.as_ref(), &task, &said(world.as_ref(), &task, "exact", 5));
        assert_eq!((right["tier_1"], right["tier_2"], right["solved"]), (1.0, 1.0, 1.0));
        let (error, spot) = (right["error"], right["spot"]);
        assert!(error < 0.05);
        assert!((right["tier_3"] - (0.8 * (-error / 0.1).exp() + 0.2 * (-spot).exp())).abs() < 1e-12);
        // Two elements where one was asked for, and words that are no prescription, are nothing.
        for wrong in
            ["crown 5 -5 4 gap 1 crown 5 -5 4", "crown 5 -5", "glass 1", "crown 05 -5 4", "crown 21 -5 4"]
        {
            let found = info(world.as_ref(), &task, wrong);
            assert!(
                ["tier_1", "tier_2", "tier_3", "tier_4", "solved"].iter().all(|name| found[*name] == 0.0),
                "{wrong}"
            );
        }
        // Half of the surfaces are strongly curved.
        assert_eq!(info(world.as_ref(), &task, "crown 11 -10 12")["tier_4"], 0.5);
    }
}

#[test]
fn manners_design_what_they_say() {
    let world = world("sizes = [1, 2, 3]");
    let tasks = tasks(world.as_ref(), 30);
    let mean = |manner: &str, name: &str| {
        let found =
            tasks.iter().map(|task| info(world.as_ref(), task, &said(world.as_ref(), task, manner, 5))[name]);
        found.sum::<f64>() / tasks.len() as f64
    };
    assert_eq!((mean("exact", "solved"), mean("textbook", "solved")), (1.0, 1.0));
    let alike = tasks.iter().filter(|task| {
        let once = said(world.as_ref(), task, "textbook", 5);
        once == said(world.as_ref(), task, "textbook", 6) && once.split(' ').next() == Some("fused")
    });
    assert!(alike.count() > tasks.len() / 2, "textbooks leave nothing to chance");
    assert_eq!(mean("made", "tier_2"), 1.0);
    assert!(mean("made", "solved") < 0.3);
    assert!(mean("random", "solved") < 0.1);
    // Half of the looks at rays are wasted on draws, so a right design is the better start.
    assert!(mean("exact", "refined_beats_chance") > 0.5);
}

#[test]
fn a_completion_keeps_what_was_given() {
    let world = world("sizes = [1, 2]\ncompletion = 1.0");
    for task in tasks(world.as_ref(), 16) {
        let given = task.payload["given"].as_str().unwrap().to_owned();
        assert!(given.contains('_'), "{given}");
        let right = said(world.as_ref(), &task, "exact", 5);
        assert_eq!(info(world.as_ref(), &task, &right)["solved"], 1.0, "{given}: {right}");
        assert!(given.split(' ').zip(right.split(' ')).all(|(given, word)| given == "_" || given == word));
        // Another value in the place of one that was given is not a completion.
        let fixed = given.split(' ').position(|word| word.parse::<i64>().is_ok());
        if let Some(place) = fixed {
            let words: Vec<&str> = right.split(' ').collect();
            let other = if words[place] == "1" { "2" } else { "1" };
            let changed: Vec<&str> =
                words.iter().enumerate().map(|(at, word)| if at == place { other } else { word }).collect();
            assert_eq!(info(world.as_ref(), &task, &changed.join(" "))["tier_1"], 0.0);
        }
    }
}

#[test]
fn an_answer_is_written_in_one_way() {
    let world = world("");
    let env = world.open(&tasks(world.as_ref(), 1)[0], &Seed::root(2), None).unwrap();
    assert_eq!(env.parse("  crown 12  -5 4 "), Action::Answer { text: "crown 12 -5 4".to_owned() });
    assert!(matches!(env.parse("crown 12 -5 4 flint 1 1 1"), Action::Malformed { .. }));
}

#[test]
fn more_elements_are_harder_to_hit_by_chance() {
    let success = |size: u32| {
        let world = world(&format!("sizes = [{size}]"));
        let made =
            |task: &Arc<Task>| info(world.as_ref(), task, &said(world.as_ref(), task, "random", 5))["tier_2"];
        tasks(world.as_ref(), 300).iter().filter(|task| made(task) >= 1.0).count()
    };
    let found: Vec<usize> = (1..=3).map(success).collect();
    assert!(found.is_sorted_by(|a, b| a > b), "designs that can be made, of 300: {found:?}");
}
