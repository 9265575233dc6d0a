//! Each knob of difficulty moves the success of a fixed policy one way, in the worlds whose own tests say nothing of it.
//!
//! The fixed policy is mostly the impatient one: it plays like the expert, and before every turn it gives up with a chance of one in
//! five; from then on it plays a manner that errs.

use crate::played::{built, prompt, say, tasks};
use merit_api::{ExpertTurn, World};
use merit_core::{Seed, Task};
use std::sync::Arc;

const TASKS: u64 = 200;
const GIVES_UP: f64 = 0.2;
const MOST_TURNS: usize = 40;

/// Whether an episode in which `line` says what comes next ends with the right answer, or with `info` of 1.
fn solves(
    world: &dyn World,
    task: &Arc<Task>,
    info: &str,
    mut line: impl FnMut(&[ExpertTurn]) -> String,
) -> bool {
    let mut env = world.open(task, &Seed::root(2), None).unwrap();
    env.reset().unwrap();
    let mut turns = Vec::new();
    while turns.len() < MOST_TURNS {
        let said = line(&turns);
        let result = say(env.as_mut(), task, &said);
        if result.is_last() {
            return match (&task.answer, result.info.get(info)) {
                (_, Some(told)) => *told == 1.0,
                (Some(answer), None) => said.split_once(' ').is_some_and(|(_, said)| said == answer),
                (None, None) => panic!("`{info}` is not told at the end: {:?}", result.info),
            };
        }
        turns.push(ExpertTurn { said, observed: result.observations });
    }
    false
}

/// The success of the impatient policy, which errs as `erring` does.
fn impatient(world: &dyn World, erring: &str, info: &str) -> f64 {
    let expert = world.expert().unwrap();
    let one = |(at, task): (u64, Arc<Task>)| {
        let mut patience = Seed::root(9).child("patience", at).stream();
        let mut manner = "exact";
        solves(world, &task, info, |turns| {
            if patience.chance(GIVES_UP) {
                manner = erring;
            }
            expert.say_in(manner, &task, turns, &Seed::root(at)).unwrap()
        })
    };
    share((0..).zip(tasks(world, TASKS)).map(one))
}

fn share(solved: impl Iterator<Item = bool>) -> f64 {
    solved.filter(|solved| *solved).count() as f64 / TASKS as f64
}

/// That each of these is clearly below the one before.
fn falls(what: &str, found: &[f64]) {
    assert!(found.windows(2).all(|pair| pair[0] > pair[1] + 0.02), "{what}: {found:?}");
}

#[test]
fn longer_tasks_are_harder_for_the_impatient() {
    for (world, settings, sizes, erring, info) in [
        ("sums", "kinds = { product = 1.0 }", 1..=4, "hasty", "right"),
        ("sums", "kinds = { mod = 1.0 }", 1..=3, "hasty", "right"),
        ("inquiry", "", 1..=5, "hasty", "content_right"),
        ("kbqa", "mode = 'notes'", 1..=4, "hasty", "right"),
        ("kbqa", "mode = 'units'", 1..=3, "hasty", "right"),
        ("kbqa", "mode = 'mask'", 1..=4, "hasty", "right"),
        ("look", "mode = 'video'", 1..=3, "hasty", "right"),
    ] {
        let found: Vec<f64> = sizes
            .map(|size| {
                let world = built(world, &format!("{settings}\nsizes = [{size}]"));
                impatient(world.as_ref(), erring, info)
            })
            .collect();
        falls(&format!("{world}, {settings}"), &found);
    }
}

#[test]
fn larger_plans_are_harder_for_whoever_forgets_acts() {
    let forgetful = |size: u32| {
        let world = built("places", &format!("skin = 'plan'\nsizes = [{size}]"));
        let world = world.as_ref();
        let expert = world.expert().unwrap();
        share((0..).zip(tasks(world, TASKS)).map(|(at, task): (u64, _)| {
            let mut memory = Seed::root(9).child("memory", at).stream();
            solves(world, &task, "solved", |turns| {
                let plan = expert.say_in("exact", &task, turns, &Seed::root(at)).unwrap();
                let acts: Vec<&str> = plan.split(", ").filter(|_| !memory.chance(0.1)).collect();
                acts.join(", ")
            })
        }))
    };
    falls("places, plan", &[4, 8, 12].map(forgetful));
}

#[test]
fn fewer_easy_questions_are_harder_for_whoever_guesses() {
    let hasty = |settings: String| {
        let world = built("look", &settings);
        let world = world.as_ref();
        let expert = world.expert().unwrap();
        share((0..).zip(tasks(world, TASKS)).map(|(at, task): (u64, _)| {
            solves(world, &task, "right", |turns| {
                expert.say_in("hasty", &task, turns, &Seed::root(at)).unwrap()
            })
        }))
    };
    falls("look, judge", &[1.0, 0.5, 0.0].map(|easy| hasty(format!("mode = 'judge'\neasy = {easy}"))));
    falls(
        "look, count",
        &[1.0, 0.5, 0.0].map(|named| hasty(format!("mode = 'count'\nsizes = [1]\nnamed = {named}"))),
    );
}

/// What somebody answers who adds and subtracts column by column, and never carries or borrows.
fn without_carrying(asked: &str) -> u32 {
    let words: Vec<&str> = asked.split_whitespace().collect();
    let [.., first, sign, second] = words[..] else { panic!("no sum in {asked:?}") };
    let (first, second): (u32, u32) = (first.parse().unwrap(), second.parse().unwrap());
    let column = |place: u32| {
        let (a, b) = (first / place % 10, second / place % 10);
        place * if sign == "minus" { a.abs_diff(b) } else { (a + b) % 10 }
    };
    column(1) + column(10)
}

#[test]
fn longer_sums_are_harder_for_whoever_never_carries() {
    let found = [1, 2, 3].map(|size| {
        let world = built("tutor", &format!("sizes = [{size}]"));
        let world = world.as_ref();
        share(tasks(world, TASKS).into_iter().map(|task| {
            let reply = without_carrying(&prompt(world, &task)).to_string();
            solves(world, &task, "helpful", |_| reply.clone())
        }))
    });
    falls("tutor", &found);
}

#[test]
fn larger_boards_are_harder_for_the_impatient() {
    for kind in ["mines", "push"] {
        let found = [1, 3, 5].map(|size| {
            let world = built("boards", &format!("kind = '{kind}'\nsizes = [{size}]"));
            impatient(world.as_ref(), "reckless", "won")
        });
        falls(&format!("boards, {kind}"), &found);
    }
}

#[test]
fn experts_solve_what_has_no_single_answer() {
    for (world, settings, info) in [
        ("places", "skin = 'house'", "solved"),
        ("places", "skin = 'quests'", "solved"),
        ("places", "skin = 'plan'", "solved"),
        ("places", "skin = 'site'\nblocked = 0.4", "solved"),
        ("kbqa", "mode = 'planner'", "reader_right"),
        ("kbqa", "mode = 'planner'\nreader = 'g2'\nknown = 0.0", "reader_right"),
    ] {
        assert_eq!(
            crate::played::mean(built(world, settings).as_ref(), "exact", info),
            1.0,
            "{world}, {settings}"
        );
    }
}
