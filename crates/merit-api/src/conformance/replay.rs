//! Environments can be reset, repeated and forked: rule 7 of the record.

use super::play::{Step, play};
use super::{Found, Subject, garbage_lines, turn_bound};
use crate::Env;
use merit_core::Task;
use serde_json::Value;
use std::sync::Arc;

/// The action log replayed in a fresh environment, and from every snapshot on, gives what it gave the first time.
pub(super) fn check_replay(subject: &Subject) -> Found {
    let replay = |task| {
        let steps = disturbed(subject, task)?;
        replay_from_each_point(subject, task, &steps).map_err(|error| format!("task {}: {error}", task.id))
    };
    subject.some().filter_map(|task| replay(task).err()).collect()
}

/// An environment that has been played in is, after `reset`, as good as new.
pub(super) fn check_reset(subject: &Subject) -> Found {
    let check = |task: &Arc<Task>| {
        let steps = disturbed(subject, task)?;
        let text = |error: crate::EnvError| format!("task {}: {error}", task.id);
        let mut env = subject.world.open(task, &subject.seed, None).map_err(text)?;
        let (first, fresh) = (env.reset().map_err(text)?, env.snapshot());
        continue_by(env.as_mut(), &steps).map_err(|turn| format!("task {}: turn {turn} differs", task.id))?;
        if env.reset().map_err(text)? != first || env.snapshot() != fresh {
            return Err(format!("task {} begins otherwise after a reset", task.id));
        }
        continue_by(env.as_mut(), &steps)
            .map_err(|turn| format!("task {}: after a reset, turn {turn} differs", task.id))
    };
    subject.some().filter_map(|task| check(task).err()).collect()
}

fn replay_from_each_point(subject: &Subject, task: &Arc<Task>, steps: &[Step]) -> Result<(), String> {
    let mut trunk = subject.world.open(task, &subject.seed, None).map_err(|error| error.to_string())?;
    for point in 0..=steps.len() {
        // Through text, as a snapshot travels.
        let state: Value =
            serde_json::from_str(&trunk.snapshot().to_string()).map_err(|error| error.to_string())?;
        let mut fork =
            subject.world.open(task, &subject.seed, Some(&state)).map_err(|error| error.to_string())?;
        if fork.snapshot() != state {
            return Err(format!("the environment restored before turn {point} differs from the original"));
        }
        continue_by(fork.as_mut(), &steps[point..])
            .map_err(|turn| format!("restored before turn {point}, turn {} differs", point + turn))?;
        continue_by(trunk.as_mut(), steps.get(point..=point).unwrap_or_default())
            .map_err(|_| format!("replayed in a fresh environment, turn {point} differs"))?;
    }
    Ok(())
}

/// Repeats the steps; the error is the first that came out differently.
fn continue_by(env: &mut dyn Env, steps: &[Step]) -> Result<(), usize> {
    let same =
        |step: &Step, env: &mut dyn Env| env.step(&step.action, &step.calls).as_ref() == Ok(&step.result);
    match steps.iter().position(|step| !same(step, env)) {
        Some(turn) => Err(turn),
        None => Ok(()),
    }
}

/// What the expert does with a task, with garbage said before its first and second line.
pub(super) fn disturbed(subject: &Subject, task: &Arc<Task>) -> Result<Vec<Step>, String> {
    let garbage = garbage_lines();
    play(subject.world, task, &subject.seed, turn_bound(task.size), |turns| {
        match (turns.len(), subject.world.expert()) {
            (1 | 3.., Some(expert)) => expert.say(task, turns, 1.0, &subject.seed),
            (turn, _) => Ok(garbage[turn % garbage.len()].clone()),
        }
    })
}
