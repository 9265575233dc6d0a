//! Plays tasks for tests: given lines, or a manner of the expert.

use merit_api::{LiveTools, World};
use merit_core::{Info, Seed, Split, Task};
use merit_env::{ExpertTurn, read_world};
use serde_json::Value;
use std::sync::Arc;

pub(crate) type Numbers = Info;

pub(crate) fn built(name: &str, settings: &str) -> Box<dyn World> {
    read_world(&format!("type = '{name}'\n{settings}")).unwrap().build(&LiveTools).unwrap()
}

/// Why settings are refused.
pub(crate) fn refusal(name: &str, settings: &str) -> String {
    read_world(&format!("type = '{name}'\n{settings}")).err().unwrap().to_string()
}

pub(crate) fn by_hand(name: &str, size: u32, payload: Value) -> Arc<Task> {
    Arc::new(Task::new(name, "by hand").with_size(size).with_payload(payload))
}

pub(crate) fn prompt(world: &dyn World, task: &Arc<Task>) -> String {
    let mut env = world.open(task, &Seed::root(2), None).unwrap();
    env.reset().unwrap().last().unwrap().text.clone()
}

/// What is said to each line, and the infos of each turn.
pub(crate) fn play(world: &dyn World, task: &Arc<Task>, lines: &[&str]) -> Vec<(String, Numbers)> {
    let mut env = world.open(task, &Seed::root(2), None).unwrap();
    env.reset().unwrap();
    let step = |line: &&str| {
        let action = env.parse(line);
        let result = env.step(&action, &[]).unwrap();
        (result.observations.first().map(|message| message.text.clone()).unwrap_or_default(), result.info)
    };
    lines.iter().map(step).collect()
}

pub(crate) fn said(world: &dyn World, task: &Arc<Task>, lines: &[&str]) -> Vec<String> {
    play(world, task, lines).into_iter().map(|(said, _)| said).collect()
}

pub(crate) fn last(world: &dyn World, task: &Arc<Task>, lines: &[&str]) -> Numbers {
    play(world, task, lines).pop().unwrap().1
}

/// How a manner plays a task: its lines, and the infos at the end.
pub(crate) fn demonstrated(
    world: &dyn World,
    task: &Arc<Task>,
    manner: &str,
    seed: u64,
) -> (Vec<String>, Numbers) {
    let mut env = world.open(task, &Seed::root(2), None).unwrap();
    env.reset().unwrap();
    let mut turns: Vec<ExpertTurn> = Vec::new();
    loop {
        let line = world.expert().unwrap().say_in(manner, task, &turns, &Seed::root(seed)).unwrap();
        let action = env.parse(&line);
        let result = env.step(&action, &[]).unwrap();
        let over = result.is_last();
        turns.push(ExpertTurn { said: line, observed: result.observations });
        if over {
            return (turns.into_iter().map(|turn| turn.said).collect(), result.info);
        }
        assert!(turns.len() < 40, "{manner} comes to no end: {turns:?}");
    }
}

/// The mean of an info at the end over 200 tasks played in a manner.
pub(crate) fn mean(world: &dyn World, manner: &str, info: &str) -> f64 {
    let ends = (0..200).map(|at| {
        let task = Arc::new(world.task(Split::Train, at, &Seed::root(1)).unwrap());
        demonstrated(world, &task, manner, at).1[info]
    });
    ends.sum::<f64>() / 200.0
}

/// The words of the longest episode that a manner plays in 60 tasks: prompt, lines and answers.
pub(crate) fn longest(world: &dyn World, manner: &str) -> usize {
    let words = |text: &str| text.split_whitespace().count();
    let lengths = (0..60).map(|at| {
        let task = Arc::new(world.task(Split::Train, at, &Seed::root(1)).unwrap());
        let lines = demonstrated(world, &task, manner, at).0;
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let told = said(world, &task, &lines);
        words(&prompt(world, &task))
            + lines.into_iter().map(words).sum::<usize>()
            + told.iter().map(|text| words(text)).sum::<usize>()
    });
    lengths.max().unwrap()
}
