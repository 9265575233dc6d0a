//! Every example runs, is at most sixty lines long, and what it shows is true.

#[path = "../own_loop.rs"]
mod own_loop;
#[path = "../own_rule.rs"]
mod own_rule;
#[path = "../own_world.rs"]
mod own_world;

use merit::api::{LiveTools, WorldSettings as _, conformance::check_world};
use merit::prelude::*;

#[test]
fn a_world_and_a_term_of_ones_own_are_trained_from_a_recipe() {
    own_world::main().unwrap();
}

#[test]
fn the_loop_runs_by_hand() {
    own_loop::main().unwrap();
}

#[test]
fn a_credit_rule_of_ones_own_conforms_and_is_named_by_a_recipe() {
    own_rule::main().unwrap();
}

#[test]
fn the_world_of_the_example_conforms() {
    let world = own_world::Larger {}.build(&LiveTools).unwrap();
    assert_eq!(check_world(world.as_ref(), &Seed::root(1), 4), Vec::<String>::new());
}

#[test]
fn no_example_is_longer_than_sixty_lines() {
    for text in
        [include_str!("../own_world.rs"), include_str!("../own_loop.rs"), include_str!("../own_rule.rs")]
    {
        assert!(text.lines().count() <= 60);
    }
}
