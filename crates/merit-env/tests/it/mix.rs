//! A mixture deals the tasks of its worlds in turn and hands everything else to them.

use merit_core::{Seed, Split};
use merit_env::{LiveTools, World, read_world};
use std::sync::Arc;

const MIX: &str = "type = 'mix'\nof = [{ name = 'prices', world = { type = 'ledger' } }, \
                   { name = 'table', times = 2, world = { type = 'rows' } }]";

fn mix() -> Box<dyn World> {
    read_world(MIX).unwrap().build(&LiveTools).unwrap()
}

#[test]
fn worlds_are_dealt_as_often_as_they_are_listed_and_no_task_twice() {
    let tasks: Vec<_> = (0..9).map(|at| mix().task(Split::Train, at, &Seed::root(1)).unwrap()).collect();
    let kinds: Vec<&str> = tasks.iter().map(|task| task.payload["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["prices", "table", "table"].repeat(3));
    let ids: std::collections::BTreeSet<&String> = tasks.iter().map(|task| &task.id).collect();
    assert_eq!(ids.len(), 9);
}

#[test]
fn every_task_has_the_tools_and_words_of_its_own_world() {
    let world = mix();
    let tools_of = |at| {
        let task = Arc::new(world.task(Split::Train, at, &Seed::root(1)).unwrap());
        let env = world.open(&task, &Seed::root(1), None).unwrap();
        let tools = env.tools();
        // A tool opens the task of its own world, whatever task it is given.
        tools.iter().for_each(|tool| drop(tool.open(&task, None).unwrap()));
        tools.iter().map(|tool| tool.spec().name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(tools_of(0), ["lookup", "calc"]);
    assert_eq!(tools_of(1), ["sql"]);
}

#[test]
fn mixtures_that_mean_nothing_are_refused() {
    let check = |text: &str, why: &str| {
        let refused = read_world(text).unwrap_err().to_string();
        assert!(refused.contains(why), "{refused}");
    };
    check("type = 'mix'\nof = []", "`of` is empty");
    let twice = "type = 'mix'\nof = [{ name = 'a', world = { type = 'rows' } }, { name = 'a', world = { type = 'rows' } }]";
    check(twice, "two worlds are called `a`");
    check("type = 'mix'\nof = [{ name = 'a', times = 0, world = { type = 'rows' } }]", "times");
    check("type = 'mix'\nof = [{ name = 'a', world = { type = 'row' } }]", "rows");
}
