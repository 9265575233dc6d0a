//! A line of a task file as the scorer and as the attacker see it.

use super::Given;
use crate::subject::Subject;
use merit_core::{Move, Split, Task, TaskLine};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

/// Refuses what cannot be tried.
pub(super) fn check(line: &TaskLine) -> Result<(), String> {
    let text = |given: &Option<String>| given.as_ref().is_some_and(|text| text.trim().is_empty());
    if text(&line.answer) || text(&line.gold) {
        return Err("the right answer is empty; leave it out where there is none".to_owned());
    }
    if let Some(other) = line.others.iter().find(|other| line.answer.as_ref() == Some(other)) {
        return Err(format!("`others` lists the right answer, `{other}`; list wrong ones"));
    }
    Ok(())
}

/// The task and the subject of a line.
pub(super) fn given(line: TaskLine, file: &str, at: usize) -> Given {
    let stem = Path::new(file).file_stem().map_or_else(|| file.into(), |stem| stem.to_string_lossy());
    let id = line.id.unwrap_or_else(|| format!("{stem}/{at}"));
    // The last move tells what is answered, where nothing else does.
    let answered = match line.gold_moves.last() {
        Some(Move::Answer { text }) => Some(text.clone()),
        _ => None,
    };
    let subject = Subject {
        id: id.clone(),
        prompt: line.prompt,
        gold: line.gold.or_else(|| line.answer.clone()).or(answered),
        gold_moves: line.gold_moves,
        reported: line.reported,
        others: line.others,
        tools: line.tools,
    };
    let task = Task {
        id,
        world: line.world.unwrap_or_else(|| "tasks".to_owned()),
        version: 1,
        split: Split::Train,
        size: line.size.unwrap_or(0),
        payload: if line.payload.is_empty() { Value::Null } else { Value::Object(line.payload) },
        answer: line.answer,
    };
    (Arc::new(task), subject)
}
