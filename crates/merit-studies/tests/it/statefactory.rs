//! The likeness of a state to a goal by hand, and the worlds it is measured in.

use merit_studies::state_goal::{Fact, Form, Likeness, Thing, progress};
use merit_studies::studies::statefactory::pearson_distance;
use merit_studies::worlds::facts::Facts;

const FORMS: [Form; 4] = [Form::Attributes, Form::Objects, Form::FirstOfObject, Form::Sentences];

fn thing(name: &str, facts: &[(&str, &str)]) -> Thing {
    let fact =
        |(attribute, says): &(&str, &str)| Fact { attribute: (*attribute).into(), says: (*says).into() };
    Thing { name: name.into(), facts: facts.iter().map(fact).collect() }
}

/// What each form says of the same state and goal.
fn check(goal: &[Thing], state: &[Thing], by_hand: [f64; 4]) {
    let said = FORMS.map(|form| progress(&form.of(goal), &form.of(state), &mut Likeness::default()));
    assert_eq!(said, by_hand, "{goal:?} in {state:?}");
}

// A word of one letter has two features, itself and ` x `. Texts of two such words that share one: 2 / (2 · 2) = 0.5.

#[test]
fn goal_facts_copied_into_the_state_give_one_at_step_zero() {
    let goal = [thing("a b", &[("k", "x")]), thing("c", &[("k", "y"), ("l", "z")])];
    check(&goal, &goal, [1.0, 1.0, 0.75, 1.0]);
    let nothing_done = thing("d", &[("k", "w")]);
    check(&goal, std::slice::from_ref(&nothing_done), [0.0; 4]);
    check(&goal, &[&[nothing_done], &goal[..]].concat(), [1.0, 1.0, 0.75, 1.0]);
    check(&goal, &[], [0.0; 4]);
    check(&[], &goal, [0.0; 4]);
}

#[test]
fn the_object_gates_its_attributes() {
    // The right value on the wrong object: 0.5 · 1, where the right object has 1 · 0. A flat list does not see whose it is.
    let goal = [thing("a b", &[("k", "x")])];
    check(&goal, &[thing("a b", &[("k", "y")]), thing("a c", &[("k", "x")])], [0.5, 0.5, 0.5, 1.0]);
}

#[test]
fn the_attribute_gates_its_values() {
    // The right value under another attribute's name counts only where there are no names. In a flat list the nearest counts.
    let goal = [thing("a", &[("k", "x")])];
    check(&goal, &[thing("a", &[("k", "y"), ("l", "x")])], [0.0, 1.0, 0.0, 1.0]);
}

/// The released code gives all sentences of an object one name, and of equal names the first counts.
#[test]
fn the_released_objects_hold_every_sentence_against_the_first() {
    let goal = [thing("a", &[("k", "x"), ("l", "y")])];
    check(&goal, &goal, [1.0, 1.0, 0.5, 1.0]);
}

#[test]
fn the_mean_over_objects_is_cut_to_two_decimals() {
    // sim(a, a b) = 2 / (sqrt 2 · 2) = 0.7071; flat sentences: the square of it, since there the text is name and value.
    let goal = [thing("a", &[("k", "x")]), thing("b", &[("k", "y")])];
    check(&goal, &[thing("a", &[("k", "x z")])], [0.35, 0.35, 0.35, 0.25]);
}

#[test]
fn pearson_distance_is_not_epic() {
    // A factor and a constant change nothing.
    assert!(pearson_distance(&[1.0, 1.0, 3.0], &[0.0, 0.0, 1.0]) < 1e-7);
    // A potential of 0, 1, 1, 0 makes (1, 0, 0) of (0, 0, 1). EPIC's distance of the two is 0; rho is −0.5 here.
    assert!((pearson_distance(&[1.0, 0.0, 0.0], &[0.0, 0.0, 1.0]) - 0.75_f64.sqrt()).abs() < 1e-12);
    // Who says the same of everything knows nothing.
    assert!((pearson_distance(&[0.3, 0.3], &[0.0, 1.0]) - 0.5_f64.sqrt()).abs() < 1e-12);
}

fn away(world: &Facts, goal: &[Thing], state: &[Thing]) -> Option<u32> {
    let holds = |wanted: &Thing, known: &[Thing]| {
        known.iter().any(|t| t.name == wanted.name && wanted.facts.iter().all(|fact| t.facts.contains(fact)))
    };
    let here = world.states.iter().position(|known| state.iter().all(|wanted| holds(wanted, known))).unwrap();
    world.distances(goal)[here]
}

#[test]
fn blocks_have_all_their_states_and_distances() {
    let world = Facts::blocks();
    // Sets of lists of five: 501 (OEIS A000262).
    assert_eq!(world.states.len(), 501);
    let on = |block: &str, under: &str| {
        let name = format!("{block} block");
        thing(&name, &[("position", &format!("the {name} is on the {under}"))])
    };
    let goal = [on("red", "blue block"), on("blue", "green block"), on("green", "table")];
    let flat = ["red", "blue", "green", "yellow", "white"].map(|block| on(block, "table"));
    assert_eq!(away(&world, &goal, &flat), Some(2));
    // Blue on red on green: both come down, and go up again the other way round.
    let wrong = [on("blue", "red block"), on("red", "green block"), on("green", "table")];
    assert_eq!(away(&world, &goal, &wrong), Some(4));
}

#[test]
fn a_house_has_all_its_states_and_distances() {
    let world = Facts::house();
    // Five places of the robot; nothing carried: (5 · 2)³; one of three carried, clean or not: 3 · 2 · 10².
    assert_eq!(world.states.len(), 5 * (1000 + 600));
    let goal = [thing("mug", &[("place", "the mug is at the shelf"), ("condition", "the mug is clean")])];
    let start = [
        thing("mug", &[("place", "the mug is at the table"), ("condition", "the mug is dirty")]),
        thing("robot", &[("place", "the robot is at the sink"), ("load", "the robot carries nothing")]),
    ];
    // To the table, take, to the sink, wash, to the shelf, put.
    assert_eq!(away(&world, &goal, &start), Some(6));
    // What is clean cannot be made dirty.
    let dirty = [thing("mug", &[("condition", "the mug is dirty")])];
    assert_eq!(away(&world, &dirty, &[thing("mug", &[("condition", "the mug is clean")])]), None);
}
