//! Steps per second of every world that needs no file and no program: tasks are opened, reset and played to the end.
//!
//! What is said was recorded beforehand from the world's expert, so that only the world is timed: opening a task, reading each line, and
//! its step. Worlds whose expert calls tools are left out. Arguments: seconds per world, and how often a task is played before the next one:
//! 1 unless told, 8 as the rollouts of a group do in most recipes; and the name of one world, where not all are meant. One JSON object a line, with the fields of
//! `benchmarks/peers/textarena_steps.py`.
#![allow(clippy::print_stdout)]

use merit_api::{ExpertTurn, LiveTools, World};
use merit_core::{Action, Seed, Split, Task};
use merit_env::{EnvError, WORLDS, read_world};
use std::sync::Arc;
use std::time::Instant;

const TASKS: u64 = 200;
const MOST_TURNS: usize = 40;

/// What the expert says in a task; absent where it calls a tool.
fn lines(world: &dyn World, task: &Arc<Task>) -> Result<Option<Vec<String>>, EnvError> {
    let Some(expert) = world.expert() else { return Ok(None) };
    let mut env = world.open(task, &Seed::root(1), None)?;
    env.reset()?;
    let mut turns: Vec<ExpertTurn> = Vec::new();
    while turns.len() < MOST_TURNS {
        let said = expert.say(task, &turns, 1.0, &Seed::root(2))?;
        let action = env.parse(&said);
        if matches!(action, Action::Calls { .. }) {
            return Ok(None);
        }
        let result = env.step(&action, &[])?;
        let over = result.is_last();
        turns.push(ExpertTurn { said, observed: result.observations });
        if over {
            break;
        }
    }
    Ok(Some(turns.into_iter().map(|turn| turn.said).collect()))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let seconds: f64 = std::env::args().nth(1).map_or(Ok(1.0), |text| text.parse())?;
    let group: usize = std::env::args().nth(2).map_or(Ok(1), |text| text.parse())?;
    let only = std::env::args().nth(3);
    for entry in WORLDS {
        let name = entry.about.name;
        let other = only.as_ref().is_some_and(|only| only != name);
        if other || ["command", "python", "tasks", "mix"].contains(&name) {
            continue;
        }
        let world = read_world(&format!("type = {name:?}\n{}", entry.example))?.build(&LiveTools)?;
        let mut plays = Vec::new();
        for at in 0..TASKS {
            let task = Arc::new(world.task(Split::Train, at, &Seed::root(1))?);
            plays.extend(lines(world.as_ref(), &task)?.map(|lines| (task, lines)));
        }
        let (mut steps, mut episodes) = (0_u64, 0_u64);
        let begun = Instant::now();
        for (task, lines) in plays.iter().flat_map(|play| std::iter::repeat_n(play, group)).cycle() {
            if begun.elapsed().as_secs_f64() >= seconds {
                break;
            }
            let mut env = world.open(task, &Seed::root(1), None)?;
            env.reset()?;
            for line in lines {
                env.step(&env.parse(line), &[])?;
            }
            steps += lines.len() as u64;
            episodes += 1;
        }
        let took = begun.elapsed().as_secs_f64();
        if steps > 0 {
            let speed = steps as f64 / took;
            let line = serde_json::json!({
                "game": name, "steps": steps, "episodes": episodes, "seconds": took, "steps_per_s": speed,
            });
            println!("{line}");
        }
    }
    Ok(())
}
