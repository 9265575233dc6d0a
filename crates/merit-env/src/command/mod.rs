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
//!
//! [`python`](crate::python) speaks the same protocol with a worker that merit brings.

mod env;
mod expert;
mod protocol;
mod world;

pub(crate) use protocol::TaskReply;
pub(crate) use world::{Listed, ProgramWorld, Programs, TaskSource};

use crate::{EnvError, ToolBuilder, World, WorldSettings};
use merit_command::{Channel, Limits, Pool};
use merit_core::registry::{About, Component, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

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
    #[serde(default = "timeout_s", alias = "answer_s")]
    pub timeout_s: f64,
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

pub(crate) fn start_s() -> f64 {
    60.0
}

pub(crate) fn timeout_s() -> f64 {
    10.0
}

pub(crate) fn stops() -> Vec<String> {
    vec!["\n".to_owned()]
}

/// Refuses deadlines and ends of turns that cannot work.
pub(crate) fn check_exchange(start_s: f64, timeout_s: f64, stops: &[String]) -> Result<(), Refusal> {
    for (key, seconds) in [("start_s", start_s), ("timeout_s", timeout_s)] {
        Refusal::unless((0.001..=3600.0).contains(&seconds), key, seconds, "0.001 to 3600")?;
    }
    if stops.iter().any(String::is_empty) {
        return Err(Refusal::new("`stops` lists an empty text, which would end every turn at once"));
    }
    Ok(())
}

pub(crate) fn limits(start_s: f64, timeout_s: f64) -> Limits {
    let seconds = Duration::from_secs_f64;
    Limits { start: seconds(start_s), answer: seconds(timeout_s), ..Limits::default() }
}

impl Component for Command {
    const ABOUT: About =
        About { name: "command", summary: "A program in any language that answers JSON lines.", paper: "" };
    const EXAMPLE: &'static str = "command = [\"python3\", \"environment.py\"]";

    fn check(&self) -> Result<(), Refusal> {
        if self.command.first().is_none_or(|program| program.trim().is_empty()) {
            return Err(Refusal::new("`command` names no program; as in [\"python3\", \"environment.py\"]"));
        }
        check_exchange(self.start_s, self.timeout_s, &self.stops)
    }
}

impl WorldSettings for Command {
    fn build(&self, _tools: &dyn ToolBuilder) -> Result<Box<dyn World>, EnvError> {
        self.check().map_err(|refusal| EnvError::refused(Self::ABOUT.name, refusal))?;
        let (command, limits) = (self.command.clone(), limits(self.start_s, self.timeout_s));
        Ok(Box::new(ProgramWorld::new(Programs {
            about: Self::ABOUT,
            pool: Pool::new(move || Channel::new(command.clone(), limits)),
            stops: self.stops.clone(),
            answer_mark: self.answer_mark.clone(),
            instructions: String::new(),
            tasks: TaskSource::Program,
            expert: self.expert,
        })))
    }
}
