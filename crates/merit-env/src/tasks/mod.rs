//! Tasks from a file, with tools from the recipe: the world for one's own questions.
//!
//! In: JSON lines, one task each, and the tools that a recipe lists. Out: a world that shows the prompt, reads calls in one of
//! the formats that models emit, and is over with the first answer. Lines are read in `line`, files and samples in `file`,
//! a running task is in `env`, what it observes is cut in `cut`, and `demonstrate` plays the moves that a line shows.

mod calls;
mod config;
mod cut;
mod deal;
mod demonstrate;
mod env;
mod file;
mod line;

mod speech;

pub use config::Tasks;
pub use cut::{CutAt, CutConfig};
pub use file::{SAMPLES, Sample};

use crate::{Env, EnvError, Expert, ExpertTurn, World, WorldSettings};
pub(crate) use deal::dealt;
use file::Entry;
use merit_api::{Tool, ToolBuilder, WorldLook, build_tools};
use merit_core::registry::Component as _;
use merit_core::{About, Seed, Split, Task};
use serde_json::Value;
use speech::Speech;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// What the registry says of it.
pub const ABOUT: About = About {
    name: "tasks",
    summary: "Tasks from a file of JSON lines, with the tools of the recipe.",
    paper: "",
};

/// Raised when the meaning of the payload changes.
pub(crate) const VERSION: u32 = 1;

pub(crate) fn setting(why: impl Into<String>) -> EnvError {
    EnvError::Setting { world: ABOUT.name, why: why.into() }
}

/// The world of a task file.
pub struct TaskWorld {
    /// Where the lines come from, for errors.
    source: String,
    entries: Vec<Entry>,
    /// Positions in `entries`, per split.
    train: Vec<usize>,
    /// Each content once: a task that stands twice in the file is measured once.
    held_out: Vec<usize>,
    /// Positions in `entries` by the id of their task.
    by_id: HashMap<String, usize>,
    tools: Vec<Arc<dyn Tool>>,
    speech: Arc<Speech>,
    cut: CutConfig,
}

impl WorldSettings for Tasks {
    fn build(&self, tools: &dyn ToolBuilder) -> Result<Box<dyn World>, EnvError> {
        Ok(Box::new(TaskWorld::new(self, tools)?))
    }

    fn timeout_s(&self) -> Option<f64> {
        self.tools.iter().flatten().filter_map(|tool| tool.timeout_s()).reduce(f64::max)
    }

    fn look(&self) -> Result<WorldLook, EnvError> {
        let settled = self.settled()?;
        file::look(&settled.source, &settled.text, self.held_out, !settled.tools.is_empty())
    }
}

impl TaskWorld {
    /// Reads the file and builds the tools.
    pub fn new(config: &Tasks, tools: &dyn ToolBuilder) -> Result<Self, EnvError> {
        let refused = |refusal| EnvError::refused(ABOUT.name, refusal);
        config.check().map_err(refused)?;
        let settled = config.settled()?;
        let tools = build_tools(&settled.tools, tools).map_err(refused)?;
        let cards: Vec<_> = tools.iter().map(|tool| tool.spec().clone()).collect();
        let format = settled.calls.component();
        format.serves(&cards).map_err(|why| setting(format!("`calls`: {why}")))?;
        let speech = Speech {
            format,
            mark: settled.answer_mark,
            instructions: settled.instructions,
            advertise: config.advertise,
        };
        let entries = file::load(&settled.source, &settled.text, config.held_out, &speech, &cards)?;
        let of = |split: Split| (0..entries.len()).filter(|&at| entries[at].task.split == split).collect();
        let mut held_out: Vec<usize> = of(Split::HeldOut);
        let mut seen = HashSet::new();
        held_out.retain(|&at| seen.insert(file::content_of(&entries[at].task)));
        let by_id = entries.iter().enumerate().map(|(at, entry)| (entry.task.id.clone(), at)).collect();
        Ok(Self {
            train: of(Split::Train),
            held_out,
            by_id,
            source: settled.source,
            entries,
            tools,
            speech: Arc::new(speech),
            cut: config.observations.clone(),
        })
    }

    /// How many tasks a split has; dealing goes round.
    pub fn count(&self, split: Split) -> usize {
        self.of(split).len()
    }

    fn of(&self, split: Split) -> &[usize] {
        match split {
            Split::Train => &self.train,
            Split::HeldOut => &self.held_out,
        }
    }
}

impl World for TaskWorld {
    fn about(&self) -> About {
        ABOUT
    }

    fn task(&self, split: Split, index: u64, seed: &Seed) -> Result<Task, EnvError> {
        let at = deal::dealt(self.of(split), split, index, seed).ok_or_else(|| {
            let split = split.name();
            setting(format!(
                "{} has no {split} task; give lines `\"split\": \"{split}\"`, or set `held_out`",
                self.source
            ))
        })?;
        Ok(self.entries[at].task.clone())
    }

    fn open(&self, task: &Arc<Task>, _seed: &Seed, state: Option<&Value>) -> Result<Box<dyn Env>, EnvError> {
        let env = env::TaskEnv::open(task, &self.tools, &self.speech, &self.cut, state)?;
        Ok(Box::new(env))
    }

    fn expert(&self) -> Option<&dyn Expert> {
        self.entries.iter().any(|entry| !entry.demonstration.is_empty()).then_some(self)
    }
}

impl Expert for TaskWorld {
    fn say(
        &self,
        task: &Task,
        turns: &[ExpertTurn],
        p_correct: f64,
        seed: &Seed,
    ) -> Result<String, EnvError> {
        let demonstrated = |at: &&usize| !self.entries[**at].demonstration.is_empty();
        let own = self.by_id.get(&task.id).filter(demonstrated).ok_or_else(|| EnvError::Task {
            world: ABOUT.name,
            task: task.id.clone(),
            why: format!(
                "{} shows no moves for it; give the line `gold_moves` or `demonstration`",
                self.source
            ),
        })?;
        let others = self.of(task.split).iter().filter(demonstrated);
        let others: Vec<&[String]> = others.map(|&at| self.entries[at].demonstration.as_slice()).collect();
        demonstrate::next(&self.entries[*own].demonstration, &others, turns, p_correct, seed)
    }
}
