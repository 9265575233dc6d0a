//! The seam between the turn loop and a world.
//!
//! An [`Env`] is registered: it makes tasks and opens them. An open task is a [`World`]: the rollout engine shows its
//! `opening` to the policy, parses what the policy says with the world's own `parse`, runs the tool calls in it, and hands
//! the action with their results to `act`. Worlds are deterministic functions of task, seed and action log, and can be snapshotted.

use merit_core::{About, Action, CallRecord, Message, Seed, Split, Task};
use merit_tools::Tool;
use serde_json::Value;
use std::sync::Arc;

/// A registered kind of world.
pub trait Env: Send + Sync {
    /// Name, one line of help, paper.
    fn about(&self) -> About;

    /// The `index`-th task of a split. The same arguments always give the same task; splits never share a task.
    fn task(&self, split: Split, index: u64, seed: &Seed) -> Result<Task, EnvError>;

    /// Opens a task; `state` is a snapshot to continue from.
    fn open(&self, task: &Arc<Task>, seed: &Seed, state: Option<&Value>) -> Result<Box<dyn World>, EnvError>;

    /// A demonstration for warm starts: what an agent would say, turn by turn. Absent: the world has no demonstrator.
    fn demonstrator(&self) -> Option<&dyn Demonstrator> {
        None
    }
}

/// Plays a task as a person or program might, well or badly; used for warm starts and as an oracle.
pub trait Demonstrator: Send + Sync {
    /// What to say next, given the turns so far. `skill` 1 is the exact oracle; below it the demonstrator errs, and `seed`
    /// decides how. The seed is that of the episode, so that one demonstration keeps its manner through all its turns.
    fn say(&self, task: &Task, turns: &[DemoTurn], skill: f64, seed: &Seed) -> Result<String, EnvError>;
}

/// A turn of a demonstration so far.
#[derive(Debug, Clone, PartialEq)]
pub struct DemoTurn {
    /// What was said.
    pub said: String,
    /// What the tools and the world answered, in order.
    pub observed: Vec<Message>,
}

/// An open task.
pub trait World: Send {
    /// What the policy is shown first.
    fn opening(&self) -> Vec<Message>;

    /// The tools of this world, opened by the engine for this episode.
    fn tools(&self) -> Vec<Arc<dyn Tool>>;

    /// Strings that end a turn of the policy.
    fn stops(&self) -> Vec<String>;

    /// What the policy's text means. Never fails: what cannot be understood is `Action::Malformed`.
    fn parse(&self, text: &str) -> Action;

    /// Takes an action, with the results of its tool calls if it made any.
    fn act(&mut self, action: &Action, calls: &[CallRecord]) -> Result<Reaction, EnvError>;

    /// The state to fork from or to restore.
    fn snapshot(&self) -> Value;
}

/// What the world does about an action.
#[derive(Debug, Clone, PartialEq)]
pub struct Reaction {
    /// What the policy is shown; tool answers are among them, worded by the world.
    pub observations: Vec<Message>,
    /// Whether it is over.
    pub end: WorldEnd,
}

/// Whether the world goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorldEnd {
    /// It does.
    Open,
    /// The policy gave its final answer.
    Answered,
    /// The world ended by itself.
    Done,
}

/// Why a world cannot go on. Always an infrastructure failure: a wrong action is not an error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EnvError {
    /// A task of another world, or damaged.
    #[error("world `{world}` cannot open task {task}: {why}")]
    Task {
        /// The world.
        world: &'static str,
        /// The task's id.
        task: String,
        /// What is wrong.
        why: String,
    },
    /// A snapshot of another world or version.
    #[error("world `{world}` cannot continue from this snapshot: {why}")]
    Snapshot {
        /// The world.
        world: &'static str,
        /// What is wrong.
        why: String,
    },
    /// The world itself broke.
    #[error("world `{world}` broke: {why}")]
    Broken {
        /// The world.
        world: &'static str,
        /// What happened.
        why: String,
    },
    /// A setting that cannot be.
    #[error("world `{world}`: {why}")]
    Setting {
        /// The world.
        world: &'static str,
        /// What is wrong and what to do.
        why: String,
    },
}
