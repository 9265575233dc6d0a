//! What a format makes of one entry, before it has a place among the others.

use crate::play::Play;
use merit_core::{End, Reported, Score};
use serde_json::{Map, Value};

/// An entry, read.
#[derive(Debug)]
pub(crate) enum Draft {
    /// An episode of merit's own, with its score where the file holds one.
    Whole(Box<merit_core::Episode>, Option<Box<Score>>),
    /// An episode of another program's file.
    Foreign(Box<Foreign>),
}

/// An episode that still needs a name and a task.
#[derive(Debug)]
pub(crate) struct Foreign {
    pub(crate) key: Key,
    /// The place within the task's episodes. Absent: the next that is free.
    pub(crate) member: Option<u32>,
    /// What all episodes of the task must agree on.
    pub(crate) task: TaskDraft,
    /// Other fields of the entry: they describe the task where all its episodes agree on them.
    pub(crate) fields: Map<String, Value>,
    pub(crate) play: Play,
    pub(crate) end: End,
    pub(crate) reported: Option<Reported>,
    /// Fields that have no place in the record.
    pub(crate) left_out: Vec<String>,
}

/// What names the task.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    /// The file's own name for it.
    Named(String),
    /// The file has none: a hash of what the agent was given.
    Opening(String),
}

impl Default for Key {
    fn default() -> Self {
        Self::Opening(String::new())
    }
}

impl Key {
    pub(crate) fn text(&self) -> &str {
        let (Self::Named(text) | Self::Opening(text)) = self;
        text
    }
}

/// The task, as far as the entry tells.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct TaskDraft {
    pub(crate) world: String,
    pub(crate) payload: Map<String, Value>,
    pub(crate) answer: Option<String>,
    /// Length of the shortest known solution; 0 where it is not known.
    pub(crate) size: u32,
}
