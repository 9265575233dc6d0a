//! Items into JSON: what is told, what is asked for, and what the manners get wrong.

use crate::played::opens;
use merit_api::{LiveTools, World};
use merit_core::{Action, Seed, Split, Task};
use merit_env::read_world;
use serde_json::{Value, json};
use std::sync::Arc;

fn world(settings: &str) -> Box<dyn World> {
    read_world(&format!("type = 'catalogue'\n{settings}")).unwrap().build(&LiveTools).unwrap()
}

fn tasks(world: &dyn World, count: u64) -> Vec<Arc<Task>> {
    let seed = Seed::root(1);
    let splits = [Split::Train, Split::HeldOut];
    (0..count).flat_map(|at| splits.map(|split| Arc::new(world.task(split, at, &seed).unwrap()))).collect()
}

fn said(world: &dyn World, task: &Task, manner: &str) -> String {
    world.expert().unwrap().say_in(manner, task, &[], &Seed::root(3)).unwrap()
}

#[test]
fn every_field_is_told_once_and_the_wanted_ones_are_named_behind() {
    let world = world("sizes = [2]");
    for task in tasks(world.as_ref(), 20) {
        let mut env = world.open(&task, &Seed::root(2), None).unwrap();
        let prompt = env.reset().unwrap().last().unwrap().text.clone();
        let (told, wanted) = prompt.split_once(" want ").unwrap();
        for field in ["box", "cost", "hue", "mass", "parts", "wood"] {
            assert_eq!(told.split(' ').filter(|word| *word == field).count(), 1, "{prompt}");
        }
        let reply: Value = serde_json::from_str(&said(world.as_ref(), &task, "exact")).unwrap();
        let mut names: Vec<&str> = wanted.split(' ').collect();
        names.sort_unstable();
        assert_eq!(reply.as_object().unwrap().keys().collect::<Vec<_>>(), names);
        assert_eq!(reply, task.payload["reply"]);
        assert_eq!(task.answer.as_deref(), Some(reply.to_string().as_str()));
    }
}

#[test]
fn a_reply_of_the_expert_fits_the_schema_and_the_wrong_manners_are_wrong_in_their_way() {
    let world = world("");
    for task in tasks(world.as_ref(), 12) {
        let schema = &task.payload["schema"];
        let right: Value = serde_json::from_str(&said(world.as_ref(), &task, "exact")).unwrap();
        assert_eq!(schema["required"].as_array().unwrap().len(), right.as_object().unwrap().len());
        assert_eq!(schema["additionalProperties"], json!(false));
        let short: Value = serde_json::from_str(&said(world.as_ref(), &task, "short")).unwrap();
        assert_eq!(short.as_object().unwrap().len() + 1, right.as_object().unwrap().len());
        for broken in ["bare", "chatty"] {
            let said = said(world.as_ref(), &task, broken);
            assert!(serde_json::from_str::<Value>(&said).is_err(), "{said}");
        }
        assert_eq!(world.open(&task, &Seed::root(2), None).unwrap().schema().as_ref(), Some(schema));
    }
}

#[test]
fn the_surface_is_the_share_of_four_rules() {
    let world = world("");
    let task = &tasks(world.as_ref(), 1)[0];
    for (reply, share) in [
        ("{\"hue\":\"red\"}", 1.0),
        ("{}", 1.0),
        ("here {\"hue\":\"red\"}", 0.75),
        ("`{\"hue\":\"red\"}`", 0.25),
        ("{\"hue\":\"red", 0.25 + 0.25),
    ] {
        let mut env = world.open(task, &Seed::root(2), None).unwrap();
        env.reset().unwrap();
        let action = env.parse(reply);
        assert_eq!(action, Action::Answer { text: reply.to_owned() });
        assert_eq!(env.step(&action, &[]).unwrap().info["surface"], share, "{reply}");
    }
}

#[test]
fn a_task_whose_reply_or_schema_was_changed_is_refused() {
    let world = world("sizes = [3]");
    let task = tasks(world.as_ref(), 1).remove(0);
    for (place, value) in [("reply", json!({})), ("schema", json!({})), ("wanted", json!(["hue", "hue"]))] {
        let mut payload = task.payload.clone();
        payload[place] = value;
        let changed = Arc::new(Task { payload, ..(*task).clone() });
        assert!(!opens(world.as_ref(), &changed), "{place}");
    }
}

#[test]
fn more_fields_are_harder_for_a_policy_that_knows_four_of_six() {
    let success = |size: u32| {
        let world = world(&format!("sizes = [{size}]"));
        let known = ["box", "cost", "hue", "mass"];
        let solved = tasks(world.as_ref(), 100).into_iter().filter(|task| {
            let wanted = task.payload["reply"].as_object().unwrap();
            wanted.keys().all(|name| known.contains(&name.as_str()))
        });
        solved.count()
    };
    let found: Vec<usize> = (1..=5).map(success).collect();
    assert!(found.is_sorted_by(|a, b| a > b) && found[4] == 0, "{found:?}");
}
