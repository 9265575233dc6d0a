//! Steps per second of every world that needs no file and no program: tasks are opened, reset and played to the end.
//!
//! What is said was recorded beforehand from the world's expert, and so was what the tools answered to it, so that only the world is
//! timed: opening a task, reading each line, and its step with the answers of the tools. Every task is played to its end. Arguments:
//! seconds per world, and how often a task is played before the next one: 1 unless told, 8 as the rollouts of a group do in most
//! recipes; and the name of one world, where not all are meant. One JSON object a line, with the fields of
//! `benchmarks/peers/textarena_steps.py`, and `calls`, the steps that came with a tool's answer.
#![allow(clippy::print_stdout)]

use merit_api::{EpisodeShared, ExpertTurn, LiveTools, ToolAnswer, ToolSession, World, call_blocking};
use merit_core::{Action, CallEnd, CallRecord, Seed, Split, Task, ToolCall};
use merit_env::{Env, WORLDS, read_world};
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

const TASKS: u64 = 200;
const MOST_TURNS: usize = 200;
const TOOL_DEADLINE: Duration = Duration::from_secs(5);

/// A line of the expert, and what its calls were answered.
struct Turn {
    line: String,
    calls: Vec<CallRecord>,
}

type Opened = Vec<(String, Arc<dyn ToolSession>)>;

fn open_tools(env: &dyn Env, task: &Task) -> Result<Opened, Box<dyn Error>> {
    let shared = EpisodeShared::default();
    let mut opened = Opened::new();
    for tool in env.tools() {
        opened.push((tool.spec().name.clone(), tool.open_beside(&shared, task, None)?));
    }
    Ok(opened)
}

fn answered(call: &ToolCall, tools: &Opened) -> Result<CallRecord, Box<dyn Error>> {
    let (end, output) = match tools.iter().find(|(name, _)| *name == call.tool) {
        None => (CallEnd::Refused, format!("no tool `{}`", call.tool)),
        Some((_, session)) => match call_blocking(session, &call.input, TOOL_DEADLINE)? {
            ToolAnswer::Ok(text) => (CallEnd::Ok, text),
            ToolAnswer::Refused(text) => (CallEnd::Refused, text),
            other => return Err(format!("{call:?} gives {other:?}").into()),
        },
    };
    Ok(CallRecord { call: call.clone(), end, output, seconds: None })
}

/// What the expert says in a task until its end, with what the tools answer.
fn recorded(world: &dyn World, task: &Arc<Task>) -> Result<Vec<Turn>, Box<dyn Error>> {
    let expert = world.expert().ok_or("a world without an expert")?;
    let mut env = world.open(task, &Seed::root(1), None)?;
    env.reset()?;
    let tools = open_tools(env.as_ref(), task)?;
    let (mut turns, mut shown) = (Vec::new(), Vec::new());
    while turns.len() < MOST_TURNS {
        let line = expert.say(task, &shown, 1.0, &Seed::root(2))?;
        let action = env.parse(&line);
        let calls = match &action {
            Action::Calls { calls } => {
                calls.iter().map(|call| answered(call, &tools)).collect::<Result<_, _>>()?
            }
            Action::Answer { .. } | Action::Say { .. } | Action::Malformed { .. } => Vec::new(),
        };
        let result = env.step(&action, &calls)?;
        let over = result.is_last();
        shown.push(ExpertTurn { said: line.clone(), observed: result.observations });
        turns.push(Turn { line, calls });
        if over {
            return Ok(turns);
        }
    }
    Err(format!("{MOST_TURNS} turns and task {} is not over", task.id).into())
}

fn main() -> Result<(), Box<dyn Error>> {
    let seconds: f64 = std::env::args().nth(1).map_or(Ok(1.0), |text| text.parse())?;
    let group: usize = std::env::args().nth(2).map_or(Ok(1), |text| text.parse())?;
    let only = std::env::args().nth(3);
    for entry in WORLDS {
        let name = entry.about.name;
        let other = only.as_ref().is_some_and(|only| only != name);
        if other || ["command", "python", "tasks"].contains(&name) {
            continue;
        }
        let world = read_world(&format!("type = {name:?}\n{}", entry.example))?.build(&LiveTools)?;
        let mut plays = Vec::new();
        for at in 0..TASKS {
            let task = Arc::new(world.task(Split::Train, at, &Seed::root(1))?);
            let turns = recorded(world.as_ref(), &task)?;
            plays.push((task, turns));
        }
        let (mut steps, mut calls, mut episodes) = (0_u64, 0_u64, 0_u64);
        let begun = Instant::now();
        for (task, turns) in plays.iter().flat_map(|play| std::iter::repeat_n(play, group)).cycle() {
            if begun.elapsed().as_secs_f64() >= seconds {
                break;
            }
            let mut env = world.open(task, &Seed::root(1), None)?;
            env.reset()?;
            for turn in turns {
                env.step(&env.parse(&turn.line), &turn.calls)?;
                calls += u64::from(!turn.calls.is_empty());
            }
            steps += turns.len() as u64;
            episodes += 1;
        }
        let took = begun.elapsed().as_secs_f64();
        let speed = steps as f64 / took;
        let line = serde_json::json!({
            "game": name, "steps": steps, "calls": calls, "episodes": episodes, "seconds": took, "steps_per_s": speed,
        });
        println!("{line}");
    }
    Ok(())
}
