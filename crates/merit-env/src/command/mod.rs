//! A world in any language: a program that answers JSON lines.
//!
//! The program holds one environment. It reads one request per line and answers each with one line that carries the same `id`:
//!
//! | request | answer |
//! |---|---|
//! | `{"op": "task", "seed": 7}` | `{"task": …}`, and `size`, `answer`, `identity` where it knows them |
//! | `{"op": "reset", "task": …, "seed": 7}` | `{"observations": ["…"]}` |
//! | `{"op": "step", "action": "…"}` | `{"observations": ["…"], "terminated": false}`, and `reward`, `truncated`, `info`, `state` |
//! | `{"op": "expert", "task": …, "turns": […], "p_correct": 1.0, "seed": 7}` | `{"say": "…"}`, only where `expert = true` |
//!
//! An observation is a text, or `{"role": "system", "text": "…"}`. An action that is a final answer also carries `answer`.
//! Programs must be deterministic: a task depends on its seed alone, and an episode on task, seed and actions. Which split a
//! task belongs to is decided here, by its content. An environment is restored by repeating its actions.
//!
//! Nothing is started before the first request. As many copies of the program run as episodes do; a copy is used again for the
//! next episode. A program that crashes, hangs or talks nonsense is an infrastructure failure of that episode, never a reward.

mod env;
mod expert;
mod protocol;

use crate::{Env, EnvError, Expert, ToolBuilder, World, WorldSettings, fingerprint, split_of};
use env::CommandEnv;
use merit_command::{Channel, Limits};
use merit_core::registry::{About, Component, Refusal};
use merit_core::{Seed, Split, Task, canonical};
use protocol::{Request, TaskReply};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

const ABOUT: About =
    About { name: "command", summary: "A program in any language that answers JSON lines.", paper: "" };
/// Raised when the protocol changes.
const VERSION: u32 = 1;
/// Half of all contents fall into a split, so this many in vain mean that the tasks do not depend on the seed.
const MAX_DRAWS: u64 = 64;

/// The settings of `command`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Command {
    /// The program and its arguments. No shell expands them.
    pub command: Vec<String>,
    /// Seconds for the first answer of a program, its start among it.
    #[serde(default = "start_s")]
    pub start_s: f64,
    /// Seconds for every later answer.
    #[serde(default = "answer_s")]
    pub answer_s: f64,
    /// Strings that end a turn of the policy.
    #[serde(default = "stops")]
    pub stops: Vec<String>,
    /// What the final answer follows, as in `answer `. Empty: the program alone says when a task is over.
    #[serde(default)]
    pub answer_mark: String,
    /// Whether the program answers `expert` requests.
    #[serde(default)]
    pub expert: bool,
}

fn start_s() -> f64 {
    60.0
}

fn answer_s() -> f64 {
    10.0
}

fn stops() -> Vec<String> {
    vec!["\n".to_owned()]
}

impl Component for Command {
    const ABOUT: About = ABOUT;
    const EXAMPLE: &'static str = "command = [\"python3\", \"environment.py\"]";

    fn check(&self) -> Result<(), Refusal> {
        if self.command.first().is_none_or(|program| program.trim().is_empty()) {
            return Err(Refusal::new("`command` names no program; as in [\"python3\", \"environment.py\"]"));
        }
        for (key, seconds) in [("start_s", self.start_s), ("answer_s", self.answer_s)] {
            Refusal::unless((0.001..=3600.0).contains(&seconds), key, seconds, "0.001 to 3600")?;
        }
        if self.stops.iter().any(String::is_empty) {
            return Err(Refusal::new("`stops` lists an empty text, which would end every turn at once"));
        }
        Ok(())
    }
}

impl WorldSettings for Command {
    fn build(&self, _tools: &dyn ToolBuilder) -> Result<Box<dyn World>, EnvError> {
        self.check().map_err(|refusal| EnvError::refused(ABOUT.name, refusal))?;
        let programs = Arc::new(Programs { settings: self.clone(), idle: Mutex::default() });
        Ok(Box::new(CommandWorld { programs }))
    }
}

/// The world of a program.
struct CommandWorld {
    programs: Arc<Programs>,
}

/// The copies of a program that nobody uses now.
struct Programs {
    settings: Command,
    idle: Mutex<Vec<Channel>>,
}

impl Programs {
    fn take(&self) -> Channel {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.unwrap_or_else(|| {
            let seconds = Duration::from_secs_f64;
            let (start, answer) = (seconds(self.settings.start_s), seconds(self.settings.answer_s));
            Channel::new(self.settings.command.clone(), Limits { start, answer, ..Limits::default() })
        })
    }

    fn give_back(&self, channel: Channel) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(channel);
    }

    /// One request to whichever copy is free.
    fn ask<R: serde::de::DeserializeOwned>(&self, request: &Request<'_>) -> Result<R, EnvError> {
        let mut channel = self.take();
        let answer = protocol::ask(&mut channel, request);
        self.give_back(channel);
        answer.map_err(broken)
    }
}

fn broken(why: String) -> EnvError {
    EnvError::Broken { world: ABOUT.name, why }
}

/// A number that every language can hold.
fn plain(seed: &Seed) -> u64 {
    seed.as_u64() >> 11
}

impl World for CommandWorld {
    fn about(&self) -> About {
        ABOUT
    }

    fn task(&self, split: Split, index: u64, seed: &Seed) -> Result<Task, EnvError> {
        let seed = seed.child(split.name(), index);
        for draw in 0..MAX_DRAWS {
            let request = Request::Task { seed: plain(&seed.child("draw", draw)) };
            let drawn: TaskReply = self.programs.ask(&request)?;
            let content = canonical(&drawn.task);
            if split_of(drawn.identity.as_deref().unwrap_or(&content)) != split {
                continue;
            }
            let id = format!("{}/{}/{index:05}-{}", ABOUT.name, split.name(), fingerprint(&content));
            let task = Task::new(ABOUT.name, id).with_split(split).with_size(drawn.size);
            let payload = serde_json::json!({ "task": drawn.task });
            return Ok(Task { version: VERSION, answer: drawn.answer, ..task.with_payload(payload) });
        }
        Err(broken(format!("{MAX_DRAWS} seeds gave no {} task; tasks must depend on the seed", split.name())))
    }

    fn open(&self, task: &Arc<Task>, seed: &Seed, state: Option<&Value>) -> Result<Box<dyn Env>, EnvError> {
        let task_of = task_of(task)?;
        let mut env = CommandEnv::new(&self.programs, &task.id, task_of, plain(seed));
        if let Some(state) = state {
            env.restore(state)?;
        }
        Ok(Box::new(env))
    }

    fn expert(&self) -> Option<&dyn Expert> {
        self.programs.settings.expert.then_some(self)
    }
}

/// What the program made of a task, checked: tasks travel through files.
fn task_of(task: &Task) -> Result<Value, EnvError> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Payload {
        task: Value,
    }
    let bad = |why: String| EnvError::Task { world: ABOUT.name, task: task.id.clone(), why };
    if task.world != ABOUT.name || task.version != VERSION {
        let (world, version) = (&task.world, task.version);
        return Err(bad(format!("it is of world `{world}` version {version}, wanted version {VERSION}")));
    }
    let payload = Payload::deserialize(&task.payload).map_err(|error| bad(format!("payload: {error}")))?;
    let name = task.id.rsplit('-').next().unwrap_or_default();
    if name != fingerprint(&canonical(&payload.task)) {
        return Err(bad("its payload is not the one that it is named after".to_owned()));
    }
    Ok(payload.task)
}
