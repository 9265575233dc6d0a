//! Plays tasks for tests: given lines, or a manner of the expert.

use merit_api::{EpisodeShared, LiveTools, StepResult, ToolAnswer, World};
use merit_core::{Action, CallEnd, CallRecord, Info, Seed, Split, Task, ToolCall};
use merit_env::{Env, EnvError, ExpertTurn, read_world};
use serde_json::{Value, json};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

pub(crate) type Numbers = Info;

pub(crate) const DOCUMENT: &str = include_str!("../../../../docs/worlds.md");

pub(crate) fn built(name: &str, settings: &str) -> Box<dyn World> {
    read_world(&format!("type = '{name}'\n{settings}")).unwrap().build(&LiveTools).unwrap()
}

/// Why settings are refused.
pub(crate) fn refusal(name: &str, settings: &str) -> String {
    let Err(error) = read_world(&format!("type = '{name}'\n{settings}")) else {
        panic!("{name} takes {settings}");
    };
    error.to_string()
}

/// Settings that a world refuses, each with a part of the reason.
pub(crate) fn refuses(name: &str, cases: &[(&str, &str)]) {
    for (settings, why) in cases {
        let found = refusal(name, settings);
        assert!(found.contains(why), "{settings}: {found}");
    }
}

pub(crate) fn by_hand(name: &str, size: u32, payload: Value) -> Arc<Task> {
    Arc::new(Task::new(name, "by hand").with_size(size).with_payload(payload))
}

/// An object with other values for some of its keys.
pub(crate) fn with(mut object: Value, other: &Value) -> Value {
    for (key, value) in other.as_object().unwrap() {
        object[key] = value.clone();
    }
    object
}

/// Whether a world opens a task; otherwise it says that it cannot.
pub(crate) fn opens(world: &dyn World, task: &Arc<Task>) -> bool {
    match world.open(task, &Seed::root(2), None) {
        Ok(_) => true,
        Err(EnvError::Task { .. }) => false,
        Err(other) => panic!("{other}"),
    }
}

/// Whether a world goes on from a snapshot; otherwise it says that it cannot.
pub(crate) fn goes_on(world: &dyn World, task: &Arc<Task>, snapshot: &Value) -> bool {
    match world.open(task, &Seed::root(2), Some(snapshot)) {
        Ok(_) => true,
        Err(EnvError::Snapshot { .. }) => false,
        Err(other) => panic!("{other}"),
    }
}

/// Whether it goes on from a snapshot with other values for some keys of its state.
pub(crate) fn restores(world: &dyn World, task: &Arc<Task>, other: &Value) -> bool {
    let fresh = world.open(task, &Seed::root(2), None).unwrap().snapshot();
    let state = with(fresh["state"].clone(), other);
    goes_on(world, task, &with(fresh, &json!({ "state": state })))
}

pub(crate) fn prompt(world: &dyn World, task: &Arc<Task>) -> String {
    let mut env = world.open(task, &Seed::root(2), None).unwrap();
    env.reset().unwrap().last().unwrap().text.clone()
}

/// The first tasks for training.
pub(crate) fn tasks(world: &dyn World, count: u64) -> Vec<Arc<Task>> {
    (0..count).map(|at| Arc::new(world.task(Split::Train, at, &Seed::root(1)).unwrap())).collect()
}

/// Says a line, with the tools of the world at hand.
pub(crate) fn say(env: &mut dyn Env, task: &Task, line: &str) -> StepResult {
    let action = env.parse(line);
    let calls = match &action {
        Action::Calls { calls } => calls.iter().map(|call| called(env, task, call)).collect(),
        Action::Answer { .. } | Action::Say { .. } | Action::Malformed { .. } => Vec::new(),
    };
    env.step(&action, &calls).unwrap()
}

/// Runs a call of a tool that answers at once, as those of the worlds do.
fn called(env: &dyn Env, task: &Task, call: &ToolCall) -> CallRecord {
    let tool = env.tools().into_iter().find(|tool| tool.spec().name == call.tool);
    let answer = tool.map(|tool| {
        let session = tool.open_beside(&EpisodeShared::default(), task, None).unwrap();
        session.call(call.input.clone()).as_mut().poll(&mut Context::from_waker(Waker::noop()))
    });
    let (end, output) = match answer {
        None => (CallEnd::Refused, "no such tool".to_owned()),
        Some(Poll::Ready(ToolAnswer::Ok(text))) => (CallEnd::Ok, text),
        Some(Poll::Ready(ToolAnswer::Refused(text))) => (CallEnd::Refused, text),
        Some(other) => panic!("{call:?} gives {other:?}"),
    };
    CallRecord { call: call.clone(), end, output, seconds: None }
}

/// What is said to each line, and the infos of each turn.
pub(crate) fn play(world: &dyn World, task: &Arc<Task>, lines: &[&str]) -> Vec<(String, Numbers)> {
    let mut env = world.open(task, &Seed::root(2), None).unwrap();
    env.reset().unwrap();
    let step = |line: &&str| {
        let result = say(env.as_mut(), task, line);
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

/// One info of every turn.
pub(crate) fn of(turns: &[(String, Numbers)], name: &str) -> Vec<f64> {
    turns.iter().map(|(_, info)| info[name]).collect()
}

/// That every turn tells infos of the same names.
pub(crate) fn tells_the_same_names(turns: &[(String, Numbers)]) {
    for (_, info) in turns {
        assert!(info.keys().eq(turns[0].1.keys()), "{info:?}");
    }
}

/// How a manner plays a task: the lines that it says, each with the infos of the turn.
pub(crate) fn shown(world: &dyn World, task: &Arc<Task>, manner: &str, seed: u64) -> Vec<(String, Numbers)> {
    let mut env = world.open(task, &Seed::root(2), None).unwrap();
    env.reset().unwrap();
    let (mut turns, mut infos): (Vec<ExpertTurn>, Vec<Numbers>) = (Vec::new(), Vec::new());
    loop {
        let line = world.expert().unwrap().say_in(manner, task, &turns, &Seed::root(seed)).unwrap();
        let result = say(env.as_mut(), task, &line);
        let over = result.is_last();
        infos.push(result.info);
        turns.push(ExpertTurn { said: line, observed: result.observations });
        if over {
            return turns.into_iter().map(|turn| turn.said).zip(infos).collect();
        }
        assert!(turns.len() < 40, "{manner} comes to no end: {turns:?}");
    }
}

/// How a manner plays a task: its lines, and the infos at the end.
pub(crate) fn demonstrated(
    world: &dyn World,
    task: &Arc<Task>,
    manner: &str,
    seed: u64,
) -> (Vec<String>, Numbers) {
    let (lines, mut infos): (Vec<String>, Vec<Numbers>) =
        shown(world, task, manner, seed).into_iter().unzip();
    (lines, infos.pop().unwrap())
}

/// The mean turns of a manner over the first tasks, and the means of infos at their end.
pub(crate) fn means<const N: usize>(
    world: &dyn World,
    manner: &str,
    count: u64,
    names: [&str; N],
) -> (f64, [f64; N]) {
    let ends = (0..).zip(tasks(world, count)).map(|(at, task)| demonstrated(world, &task, manner, at));
    let (mut turns, mut sums) = (0, [0.0; N]);
    for (lines, info) in ends {
        turns += lines.len();
        sums.iter_mut().zip(names).for_each(|(sum, name)| *sum += info[name]);
    }
    (turns as f64 / count as f64, sums.map(|sum| sum / count as f64))
}

/// The mean of an info at the end over 200 tasks played in a manner.
pub(crate) fn mean(world: &dyn World, manner: &str, info: &str) -> f64 {
    means(world, manner, 200, [info]).1[0]
}

/// The words of the longest episode that a manner plays in 60 tasks: prompt, lines and answers.
pub(crate) fn longest(world: &dyn World, manner: &str) -> usize {
    let words = |text: &str| text.split_whitespace().count();
    let lengths = (0..).zip(tasks(world, 60)).map(|(at, task)| {
        let lines = demonstrated(world, &task, manner, at).0;
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let told = said(world, &task, &lines);
        words(&prompt(world, &task))
            + lines.into_iter().map(words).sum::<usize>()
            + told.iter().map(|text| words(text)).sum::<usize>()
    });
    lengths.max().unwrap()
}

/// How often the expert has reached `info` within the turns of a shipped recipe, over 60 held-out tasks of its world.
pub(crate) fn in_time(recipe: &str, info: &str) -> f64 {
    let file = format!("{}/../../recipes/{recipe}.toml", env!("CARGO_MANIFEST_DIR"));
    let table: toml::Table = std::fs::read_to_string(file).unwrap().parse().unwrap();
    let turns = table["rollout"]["max_turns"].as_integer().unwrap() as usize;
    let world = read_world(&toml::to_string(&table["world"]).unwrap()).unwrap().build(&LiveTools).unwrap();
    let reached = |at: &u64| {
        let task = Arc::new(world.task(Split::HeldOut, *at, &Seed::root(1)).unwrap());
        let (lines, end) = demonstrated(world.as_ref(), &task, "exact", *at);
        lines.len() <= turns && end[info] == 1.0
    };
    (0..60).filter(reached).count() as f64 / 60.0
}

/// The last sample of a world in the documents that begins with what this task asks, played: what is said to its lines must be what
/// stands there.
pub(crate) fn plays_as_documented(world: &dyn World, task: &Arc<Task>) {
    let name = world.about().name;
    let section = DOCUMENT.split("\n## ").find(|section| section.starts_with(&format!("`{name}`\n")));
    let fences: Vec<&str> = section.unwrap().split("```").collect();
    // Texts inside and outside of fences take turns: an open fence would turn them round.
    assert!(fences.len() % 2 == 1 && fences.len() > 2, "a sample of {name} is not closed");
    let asked = format!("\n{}\n", prompt(world, task));
    let found = fences.iter().skip(1).step_by(2).rev().find(|sample| sample.starts_with(&asked));
    let sample = found
        .unwrap_or_else(|| panic!("no sample of {name} begins with{asked}"))
        .trim_matches('\n')
        .lines()
        .skip(1);
    let turns: Vec<(&str, &str)> = sample
        .map(|turn| {
            let turn = turn.strip_prefix("  > ").unwrap_or(turn);
            let (line, answer) = turn.split_once("  ").unwrap_or((turn, ""));
            (line, answer.trim())
        })
        .collect();
    let lines: Vec<&str> = turns.iter().map(|(line, _)| *line).collect();
    let answers: Vec<&str> = turns.iter().map(|(_, answer)| *answer).collect();
    assert_eq!(said(world, task, &lines), answers);
}
