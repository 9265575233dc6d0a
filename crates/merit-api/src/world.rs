//! Worlds: what a recipe names, and what makes tasks and opens them.
//!
//! A recipe holds [`WorldSettings`], which are checked without opening anything. Once per arm they are built, with a
//! [`ToolBuilder`] that says how tool calls are answered, into a [`World`]; it makes tasks and opens each as an [`Env`].

use crate::{Author, Env, EnvError, Expert, Manner, ToolBuilder};
use merit_core::registry::Kind;
use merit_core::{About, Seed, Split, Task};
use serde_json::Value;
use std::sync::Arc;

/// The settings of a world, as a recipe writes them. Implemented by the settings struct, which is also a
/// [`Component`](merit_core::registry::Component).
pub trait WorldSettings: Send + Sync {
    /// Opens what the world needs: files, tools, processes. Called once per arm of a run, never by a check.
    fn build(&self, tools: &dyn ToolBuilder) -> Result<Box<dyn World>, EnvError>;

    /// The longest that a call of one of its tools may take by the tool's own limit, in seconds.
    fn timeout_s(&self) -> Option<f64> {
        None
    }

    /// The manners that its expert knows by name. Empty: it plays only right or wrong.
    fn manners(&self) -> Vec<Manner> {
        Vec::new()
    }

    /// What can be told before a run by reading the files that the settings name. Starts nothing.
    fn look(&self) -> Result<WorldLook, EnvError> {
        Ok(WorldLook::default())
    }
}

/// What is known of a world before it is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WorldLook {
    /// Distinct held-out tasks. Absent: as many as are asked for, or unknown.
    pub held_out: Option<usize>,
    /// Whether it has an expert. Absent: unknown.
    pub expert: Option<bool>,
}

impl Kind for dyn WorldSettings {
    const KIND: &'static str = "world";
}

/// A source of tasks that it can also run.
pub trait World: Send + Sync {
    /// Name, one line of help, paper.
    fn about(&self) -> About;

    /// The `index`-th task of a split. The same arguments always give the same task; splits never share a task.
    fn task(&self, split: Split, index: u64, seed: &Seed) -> Result<Task, EnvError>;

    /// Opens a task at its start, or where a snapshot was taken.
    fn open(&self, task: &Arc<Task>, seed: &Seed, state: Option<&Value>) -> Result<Box<dyn Env>, EnvError>;

    /// The expert that can play this world's tasks right. Absent: there is none, and a warm start needs another teacher.
    fn expert(&self) -> Option<&dyn Expert> {
        None
    }

    /// What writes tasks for practice. Absent: nothing does, and only its own tasks are played.
    fn author(&self) -> Option<&dyn Author> {
        None
    }

    /// The manners that its expert knows by name: those of its settings.
    fn manners(&self) -> Vec<Manner> {
        Vec::new()
    }

    /// Words that are one token each. They need a decoder made on the spot, whose tokenizer is trained with them. Empty: none.
    fn words(&self) -> Vec<Word> {
        Vec::new()
    }
}

/// A word of a world that is one token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// As it stands in what is said.
    pub text: String,
    /// What it stands for: its rows begin as the mean of the rows of this text.
    pub of: String,
}
