//! A mixture deals the tasks of its worlds in turn and hands everything else to them.

use crate::played::{built, demonstrated, tasks};
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
fn a_mixture_knows_the_manners_that_all_its_worlds_know() {
    let of = |worlds: &[&str]| {
        let members: Vec<String> = worlds
            .iter()
            .map(|world| format!("{{ name = '{world}', world = {{ type = '{world}' }} }}"))
            .collect();
        let text = format!("type = 'mix'\nof = [{}]", members.join(", "));
        let settings = read_world(&text).unwrap();
        let told: Vec<&str> = settings.manners().iter().map(|manner| manner.name).collect();
        let built = settings.build(&LiveTools).unwrap();
        assert_eq!(told, built.manners().iter().map(|manner| manner.name).collect::<Vec<_>>());
        told
    };
    assert_eq!(of(&["ledger", "rows"]), ["exact", "hasty", "careless"]);
    assert_eq!(of(&["rows", "ledger", "sums"]), ["exact", "hasty"]);
    assert_eq!(of(&["vault", "tutor"]), [""; 0]);
    let world = mix();
    let tasks = tasks(world.as_ref(), 3);
    // Each world plays it its own way: the ledger stops after the first entry, the table is not asked.
    let hasty = tasks.iter().map(|task| demonstrated(world.as_ref(), task, "hasty", 1).0);
    let firsts: Vec<String> = hasty.map(|lines| lines[0].split(' ').next().unwrap().to_owned()).collect();
    assert_eq!(firsts, ["lookup", "answer", "answer"]);
    let refused = world.expert().unwrap().say_in("sloppy", &tasks[0], &[], &Seed::root(1));
    assert!(refused.unwrap_err().to_string().contains("unknown manner `sloppy`"), "rows has no such manner");
}

#[test]
fn replies_of_a_mixture_are_held_to_the_schema_of_their_own_world() {
    let inner = built("catalogue", "");
    let world = built("mix", "of = [{ name = 'one', world = { type = 'catalogue' } }]");
    let task = &tasks(world.as_ref(), 1)[0];
    let schema = world.open(task, &Seed::root(1), None).unwrap().schema();
    let own = serde_json::from_value(task.payload["task"].clone()).unwrap();
    let wanted = inner.open(&Arc::new(own), &Seed::root(1), None).unwrap().schema();
    assert!(wanted.is_some());
    assert_eq!(schema, wanted);
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
