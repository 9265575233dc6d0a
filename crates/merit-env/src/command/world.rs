//! The world of a program: where its tasks come from, and the copies that play them.

use super::env::CommandEnv;
use super::protocol::{self, Request, TaskReply};
use crate::tasks::dealt;
use crate::{Env, EnvError, Expert, World, fingerprint, split_of};
use merit_command::Pool;
use merit_core::{About, Seed, Split, Task, canonical};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::sync::Arc;

/// Raised when the protocol changes.
const VERSION: u32 = 1;
/// Half of all contents fall into a split, so this many in vain mean that the tasks do not depend on the seed.
const MAX_DRAWS: u64 = 64;

/// The world of a program.
pub(crate) struct ProgramWorld {
    pub(super) programs: Arc<Programs>,
}

/// A program, its copies that are not in use, and what is settled about it.
pub(crate) struct Programs {
    pub(crate) about: About,
    pub(crate) pool: Pool,
    /// Strings that end a turn of the policy.
    pub(crate) stops: Vec<String>,
    /// What the final answer follows. Empty: there is none.
    pub(crate) answer_mark: String,
    /// What the policy is told before the first observation. Empty: nothing.
    pub(crate) instructions: String,
    pub(crate) tasks: TaskSource,
    /// Whether it answers `expert` requests.
    pub(crate) expert: bool,
}

/// Where the tasks of a program come from.
pub(crate) enum TaskSource {
    /// It is asked for each.
    Program,
    /// Each is a seed below this number.
    Seeds(u64),
    /// The world has listed them all.
    Listed(Listed),
}

/// Known tasks, by split.
pub(crate) struct Listed {
    tasks: Vec<TaskReply>,
    train: Vec<usize>,
    held_out: Vec<usize>,
}

impl Listed {
    /// Parts the tasks by their content, each content once. The error says that a split has none.
    pub(crate) fn new(mut tasks: Vec<TaskReply>) -> Result<Self, String> {
        let mut seen = HashSet::new();
        tasks.retain(|task| seen.insert(task.content()));
        let (train, held_out): (Vec<_>, Vec<_>) =
            (0..tasks.len()).partition(|at| split_of(&tasks[*at].content()) == Split::Train);
        for (split, its) in [(Split::Train, &train), (Split::HeldOut, &held_out)] {
            if its.is_empty() {
                return Err(format!(
                    "none of its {} tasks is a {} task; a task's content decides the split, half of all contents each, so list \
                     more tasks",
                    tasks.len(),
                    split.name()
                ));
            }
        }
        Ok(Self { tasks, train, held_out })
    }

    fn task(&self, split: Split, index: u64, seed: &Seed) -> Option<(u64, TaskReply)> {
        let of_split = if split == Split::Train { &self.train } else { &self.held_out };
        let at = dealt(of_split, split, index, seed)?;
        self.tasks.get(at).map(|task| (at as u64, task.clone()))
    }
}

impl Programs {
    /// One request to whichever copy is free.
    pub(super) fn ask<R: serde::de::DeserializeOwned>(&self, request: &Request<'_>) -> Result<R, EnvError> {
        let mut channel = self.pool.take();
        let answer = protocol::ask(&mut channel, request);
        self.pool.give_back(channel);
        answer.map_err(|why| self.broken(why))
    }

    pub(super) fn broken(&self, why: String) -> EnvError {
        EnvError::Broken { world: self.about.name, why }
    }

    /// What the program made of a task, checked: tasks travel through files.
    pub(super) fn task_of(&self, task: &Task) -> Result<Value, EnvError> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Payload {
            task: Value,
        }
        let own = self.about.name;
        let bad = |why: String| EnvError::Task { world: own, task: task.id.clone(), why };
        if task.world != own || task.version != VERSION {
            let (world, version) = (&task.world, task.version);
            return Err(bad(format!("it is of world `{world}` version {version}, wanted version {VERSION}")));
        }
        let payload =
            Payload::deserialize(&task.payload).map_err(|error| bad(format!("payload: {error}")))?;
        let name = task.id.rsplit('-').next().unwrap_or_default();
        if name != fingerprint(&canonical(&payload.task)) {
            return Err(bad("its payload is not the one that it is named after".to_owned()));
        }
        Ok(payload.task)
    }

    /// The `index`-th task of a split, with its number: a task that comes again has the same.
    fn draw(&self, split: Split, index: u64, seed: &Seed) -> Result<(u64, TaskReply), EnvError> {
        if let TaskSource::Listed(listed) = &self.tasks {
            let none = || self.broken(format!("it has no {} task", split.name()));
            return listed.task(split, index, seed).ok_or_else(none);
        }
        let seed = seed.child(split.name(), index);
        for draw in 0..MAX_DRAWS {
            let seed = plain(&seed.child("draw", draw));
            let drawn = match &self.tasks {
                TaskSource::Seeds(count) => (seed % count, TaskReply::of(json!({ "seed": seed % count }))),
                _ => (index, self.ask(&Request::Task { seed })?),
            };
            if split_of(&drawn.1.content()) == split {
                return Ok(drawn);
            }
        }
        let why = format!("{MAX_DRAWS} seeds gave no {} task; tasks must depend on the seed", split.name());
        Err(self.broken(why))
    }
}

/// A number that every language can hold.
pub(super) fn plain(seed: &Seed) -> u64 {
    seed.as_u64() >> 11
}

impl ProgramWorld {
    pub(crate) fn new(programs: Programs) -> Self {
        Self { programs: Arc::new(programs) }
    }
}

impl World for ProgramWorld {
    fn about(&self) -> About {
        self.programs.about
    }

    fn task(&self, split: Split, index: u64, seed: &Seed) -> Result<Task, EnvError> {
        let (number, drawn) = self.programs.draw(split, index, seed)?;
        let name = self.programs.about.name;
        let id = format!("{name}/{}/{number:05}-{}", split.name(), fingerprint(&canonical(&drawn.task)));
        let task = Task::new(name, id).with_split(split).with_size(drawn.size);
        let payload = json!({ "task": drawn.task });
        Ok(Task { version: VERSION, answer: drawn.answer, ..task.with_payload(payload) })
    }

    fn open(&self, task: &Arc<Task>, seed: &Seed, state: Option<&Value>) -> Result<Box<dyn Env>, EnvError> {
        let task_of = self.programs.task_of(task)?;
        let mut env = CommandEnv::new(&self.programs, &task.id, task_of, plain(seed));
        if let Some(state) = state {
            env.restore(state)?;
        }
        Ok(Box::new(env))
    }

    fn expert(&self) -> Option<&dyn Expert> {
        self.programs.expert.then_some(self)
    }
}
