//! Worlds can be repeated and forked: rule 7 of the record.

use super::play::{Step, play};
use super::{Found, Subject, garbage, turn_bound};
use crate::World;
use merit_core::Task;
use serde_json::Value;
use std::sync::Arc;

/// The action log replayed in a fresh world, and from every snapshot on, gives what it gave the first time.
pub(super) fn check_replay(subject: &Subject) -> Found {
    let replay = |task| {
        let steps = disturbed(subject, task)?;
        replay_from_each_point(subject, task, &steps).map_err(|error| format!("task {}: {error}", task.id))
    };
    subject.some().filter_map(|task| replay(task).err()).collect()
}

fn replay_from_each_point(subject: &Subject, task: &Arc<Task>, steps: &[Step]) -> Result<(), String> {
    let mut trunk = subject.env.open(task, &subject.seed, None).map_err(|error| error.to_string())?;
    for point in 0..=steps.len() {
        // Through text, as a snapshot travels.
        let state: Value =
            serde_json::from_str(&trunk.snapshot().to_string()).map_err(|error| error.to_string())?;
        let mut fork =
            subject.env.open(task, &subject.seed, Some(&state)).map_err(|error| error.to_string())?;
        if fork.opening() != trunk.opening() || fork.snapshot() != state {
            return Err(format!("the world restored before turn {point} differs from the original"));
        }
        continue_by(fork.as_mut(), &steps[point..])
            .map_err(|turn| format!("restored before turn {point}, turn {} differs", point + turn))?;
        continue_by(trunk.as_mut(), steps.get(point..=point).unwrap_or_default())
            .map_err(|_| format!("replayed in a fresh world, turn {point} differs"))?;
    }
    Ok(())
}

/// Repeats the steps; the error is the first that came out differently.
fn continue_by(world: &mut dyn World, steps: &[Step]) -> Result<(), usize> {
    let same = |step: &Step, world: &mut dyn World| {
        world.act(&step.action, &step.calls).as_ref() == Ok(&step.reaction)
    };
    match steps.iter().position(|step| !same(step, world)) {
        Some(turn) => Err(turn),
        None => Ok(()),
    }
}

/// What the demonstrator does with a task, with garbage said before its first and second line.
fn disturbed(subject: &Subject, task: &Arc<Task>) -> Result<Vec<Step>, String> {
    let garbage = garbage();
    play(subject.env, task, &subject.seed, turn_bound(task.size), |turns| {
        match (turns.len(), subject.env.demonstrator()) {
            (1 | 3.., Some(demonstrator)) => demonstrator.say(task, turns, 1.0, &subject.seed),
            (turn, _) => Ok(garbage[turn % garbage.len()].clone()),
        }
    })
}
