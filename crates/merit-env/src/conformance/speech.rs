//! What is said and what comes of it: the oracle solves, demonstrators speak the dialect, garbage is answered.

use super::play::{Step, play};
use super::{Found, Subject, garbage, turn_bound};
use crate::{DemoTurn, WorldEnd};
use merit_core::{Action, Task};

/// At skill 1 the demonstrator is the oracle: it solves every task in reasonable time.
pub(super) fn check_oracle(subject: &Subject) -> Found {
    let Some(oracle) = subject.env.demonstrator() else { return Found::new() };
    let mut found = Found::new();
    for task in &subject.tasks {
        let say = |turns: &[DemoTurn]| oracle.say(task, turns, 1.0, &subject.seed);
        match play(subject.env, task, &subject.seed, turn_bound(task.size), say) {
            Err(what) => found.push(what),
            Ok(steps) if !solved(task, &steps) => {
                let last = steps.last().map(|step| (&step.action, step.reaction.end));
                found.push(format!("the oracle does not solve task {}: it ends with {last:?}", task.id));
            }
            Ok(_) => {}
        }
    }
    found
}

fn solved(task: &Task, steps: &[Step]) -> bool {
    steps.last().is_some_and(|last| match (&task.answer, &last.action) {
        (Some(right), Action::Answer { text }) => last.reaction.end == WorldEnd::Answered && text == right,
        (Some(_), _) => false,
        (None, _) => last.reaction.end != WorldEnd::Open,
    })
}

/// Whatever its skill, the demonstrator speaks the dialect; a skill that is no probability is refused.
pub(super) fn check_demonstrator(subject: &Subject) -> Found {
    let Some(demonstrator) = subject.env.demonstrator() else { return Found::new() };
    let mut found = Found::new();
    for (index, task) in subject.tasks.iter().enumerate() {
        let seed = subject.seed.child("manner of episode", index as u64);
        let skill = if index % 2 == 0 { 0.0 } else { 0.5 };
        let say = |turns: &[DemoTurn]| demonstrator.say(task, turns, skill, &seed);
        match play(subject.env, task, &seed, turn_bound(task.size), say) {
            Ok(steps) if steps.iter().any(|step| matches!(step.action, Action::Malformed { .. })) => {
                found.push(format!("on task {} the demonstrator says what its world cannot read", task.id));
            }
            Ok(_) => {}
            Err(what) => found.push(what),
        }
        if [-0.1, 1.1, f64::NAN].iter().any(|&skill| demonstrator.say(task, &[], skill, &seed).is_ok()) {
            found.push("the demonstrator takes a skill outside 0 to 1".to_owned());
        }
    }
    found
}

/// Garbage is answered with words, and the world is open afterwards.
pub(super) fn check_garbage(subject: &Subject) -> Found {
    let mut found = Found::new();
    let lines = garbage();
    for task in subject.some() {
        let say = |turns: &[DemoTurn]| Ok(lines[turns.len()].clone());
        match play(subject.env, task, &subject.seed, lines.len(), say) {
            Err(what) => found.push(what),
            Ok(steps) => {
                for (line, step) in lines.iter().zip(steps) {
                    let shown: String = line.chars().take(12).collect();
                    if step.reaction.end == WorldEnd::Answered {
                        found.push(format!("garbage {shown:?} counts as an answer"));
                    }
                    if step.reaction.end == WorldEnd::Open && step.reaction.observations.is_empty() {
                        found.push(format!("garbage {shown:?} is met with silence"));
                    }
                }
            }
        }
    }
    found
}
