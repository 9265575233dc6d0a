//! What is said and what comes of it: the expert solves, also when it errs it can be read, and garbage is answered.

use super::play::{Step, play};
use super::{Found, Subject, garbage_lines, turn_bound};
use crate::{ExpertTurn, Termination};
use merit_core::{Action, Task};

/// With `p_correct` 1 the expert solves every task in reasonable time.
pub(super) fn check_expert(subject: &Subject) -> Found {
    let Some(expert) = subject.world.expert() else { return Found::new() };
    let mut found = Found::new();
    for task in &subject.tasks {
        let say = |turns: &[ExpertTurn]| expert.say(task, turns, 1.0, &subject.seed);
        match play(subject.world, task, &subject.seed, turn_bound(task.size), say) {
            Err(what) => found.push(what),
            Ok(steps) if !solved(task, &steps) => {
                let last = steps.last().map(|step| (&step.action, step.result.terminated));
                found.push(format!("the expert does not solve task {}: it ends with {last:?}", task.id));
            }
            Ok(_) => {}
        }
    }
    found
}

fn solved(task: &Task, steps: &[Step]) -> bool {
    steps.last().is_some_and(|last| match (&task.answer, &last.action) {
        (Some(right), Action::Answer { text }) => {
            last.result.terminated == Some(Termination::Answered) && text == right
        }
        (Some(_), _) => false,
        (None, _) => last.result.terminated.is_some(),
    })
}

/// Also an expert that errs says what its world can read; a `p_correct` that is no probability is refused.
pub(super) fn check_erring_expert(subject: &Subject) -> Found {
    let Some(expert) = subject.world.expert() else { return Found::new() };
    let mut found = Found::new();
    for (index, task) in subject.tasks.iter().enumerate() {
        let seed = subject.seed.child("manner of episode", index as u64);
        let p_correct = if index % 2 == 0 { 0.0 } else { 0.5 };
        let say = |turns: &[ExpertTurn]| expert.say(task, turns, p_correct, &seed);
        match play(subject.world, task, &seed, turn_bound(task.size), say) {
            Ok(steps) if steps.iter().any(|step| matches!(step.action, Action::Malformed { .. })) => {
                found.push(format!("on task {} the expert says what its world cannot read", task.id));
            }
            Ok(_) => {}
            Err(what) => found.push(what),
        }
        if [-0.1, 1.1, f64::NAN].iter().any(|&p| expert.say(task, &[], p, &seed).is_ok()) {
            found.push("the expert takes a `p_correct` outside 0 to 1".to_owned());
        }
    }
    found
}

/// In every manner that has a name the expert says what its world can read, and the same twice.
pub(super) fn check_manners(subject: &Subject) -> Found {
    let Some(expert) = subject.world.expert() else { return Found::new() };
    let mut found = Found::new();
    for manner in subject.world.manners() {
        for task in subject.some() {
            let say = |turns: &[ExpertTurn]| expert.say_in(manner.name, task, turns, &subject.seed);
            let once = || play(subject.world, task, &subject.seed, turn_bound(task.size), say);
            match (once(), once()) {
                (Err(what), _) | (_, Err(what)) => found.push(what),
                (Ok(steps), Ok(again)) => {
                    let odd = steps.iter().any(|step| matches!(step.action, Action::Malformed { .. }));
                    if odd || steps != again {
                        let what = if odd { "its world cannot read it" } else { "it differs the next time" };
                        found.push(format!("task {} in the manner `{}`: {what}", task.id, manner.name));
                    }
                }
            }
        }
    }
    if let Some(task) = subject.tasks.first()
        && expert.say_in("no such manner", task, &[], &subject.seed).is_ok()
    {
        found.push("the expert plays in a manner that it does not list".to_owned());
    }
    found
}

/// Garbage is answered with words, and the task goes on afterwards.
pub(super) fn check_garbage(subject: &Subject) -> Found {
    let mut found = Found::new();
    let lines = garbage_lines();
    for task in subject.some() {
        let say = |turns: &[ExpertTurn]| Ok(lines[turns.len()].clone());
        match play(subject.world, task, &subject.seed, lines.len(), say) {
            Err(what) => found.push(what),
            Ok(steps) => {
                for (line, step) in lines.iter().zip(steps) {
                    let shown: String = line.chars().take(12).collect();
                    if step.result.terminated == Some(Termination::Answered) {
                        found.push(format!("garbage {shown:?} counts as an answer"));
                    }
                    if !step.result.is_last() && step.result.observations.is_empty() {
                        found.push(format!("garbage {shown:?} is met with silence"));
                    }
                }
            }
        }
    }
    found
}
