//! One line of a task file.

use super::Given;
use crate::subject::{Move, Subject};
use merit_core::{Split, Task};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

/// A task in a task file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskLine {
    /// Its name. Absent: the file's name and its number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What the agent is asked.
    pub prompt: String,
    /// What the reward holds answers against. Absent: the task has no single right answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// A right answer as an agent would write it. Absent: `answer` itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gold: Option<String>,
    /// All that an agent does which does the work. Absent: giving the right answer is enough.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gold_moves: Vec<Move>,
    /// What the reward may look up in the task.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub payload: Value,
    /// Name of the world, for rewards that go by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub world: Option<String>,
    /// Size of the task, for rewards that go by it.
    #[serde(default)]
    pub size: u32,
    /// Whether somebody outside reports if the task was done, for rewards that take it over.
    #[serde(default)]
    pub reported: bool,
    /// Tools the agent has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// Plausible wrong answers. Absent: the right answers of the other tasks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<String>,
}

impl TaskLine {
    /// Refuses what cannot be tried.
    pub(super) fn check(&self) -> Result<(), String> {
        let text = |given: &Option<String>| given.as_ref().is_some_and(|text| text.trim().is_empty());
        if text(&self.answer) || text(&self.gold) {
            return Err("the right answer is empty; leave it out where there is none".to_owned());
        }
        if let Some(other) = self.others.iter().find(|other| self.answer.as_ref() == Some(other)) {
            return Err(format!("`others` lists the right answer, `{other}`; list wrong ones"));
        }
        Ok(())
    }

    pub(super) fn into_given(self, file: &str, at: usize) -> Given {
        let stem = Path::new(file).file_stem().map_or_else(|| file.into(), |stem| stem.to_string_lossy());
        let id = self.id.unwrap_or_else(|| format!("{stem}/{at}"));
        // The last move tells what is answered, where nothing else does.
        let answered = match self.gold_moves.last() {
            Some(Move::Answer { text }) => Some(text.clone()),
            _ => None,
        };
        let subject = Subject {
            id: id.clone(),
            prompt: self.prompt,
            gold: self.gold.or_else(|| self.answer.clone()).or(answered),
            gold_moves: self.gold_moves,
            reported: self.reported,
            others: self.others,
            tools: self.tools,
        };
        let task = Task {
            id,
            world: self.world.unwrap_or_else(|| "tasks".to_owned()),
            version: 1,
            split: Split::Train,
            size: self.size,
            payload: self.payload,
            answer: self.answer,
        };
        (Arc::new(task), subject)
    }
}

/// The error without its place in the line's JSON where that says nothing: every line is line 1 to the parser.
pub(super) fn plain(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rsplit_once(" at line 1 column ") {
        Some((what, "0")) => what.to_owned(),
        Some((what, column)) => format!("{what} (column {column})"),
        None => text,
    }
}
