//! A world in Python: a class with `reset` and `step`, Gymnasium's or a plain one.
//!
//! `module` names the class, or a function that gives an object of one, such as `gymnasium:make`; `settings` are its keyword
//! arguments. merit brings the worker that serves it, in a process of its own, with the protocol of [`command`](crate::command) and
//! the same failures. The worker turns observations into text and the policy's text into actions:
//!
//! - An observation that is no text is written compactly, numbers to four digits.
//! - Where the object has an `action_space`, the text is read as its element: a whole number (`Discrete`), numbers (`Box`,
//!   `MultiDiscrete`, `MultiBinary`), a text (`Text`). A method `parse(text)` does that instead where there is one. Without either,
//!   `step` gets the text. What is no action is answered in words, and nothing happens: that is the policy's doing.
//! - Tasks are the seeds of `reset`, or what the method `tasks()` lists; then `reset` is given one as `task`, or in `options`.
//! - Methods that may be there besides: `expert(task, turns, p_correct, seed)` gives the next right line; `state_to_record()` is
//!   recorded with the episode.

use crate::command::{
    Listed, ProgramWorld, Programs, TaskReply, TaskSource, check_exchange, limits, start_s, stops, timeout_s,
};
use crate::{EnvError, ToolBuilder, World, WorldSettings};
use merit_command::{Pool, PythonPart, PythonRole};
use merit_core::registry::{About, Component, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The settings of `python`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Python {
    /// The class and where it is: `mine:Env`, looked for from the current directory, in `PYTHONPATH` and among what is
    /// installed, or `folder/mine.py:Env`. `gymnasium:make` with `settings.id` is any environment of Gymnasium.
    pub module: String,
    /// What it is made with: its keyword arguments.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub settings: Map<String, Value>,
    /// The interpreter: a name in the path or a file, such as that of a virtual environment.
    #[serde(default = "python3")]
    pub python: String,
    /// How many seeds there are, from 0 on, where the class lists no `tasks`. Each seed is a task of one split.
    #[serde(default = "seeds")]
    pub seeds: u64,
    /// What the policy is told before the first observation.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub instructions: String,
    /// Seconds for the first answer of a worker: it starts, imports and makes the object meanwhile.
    #[serde(default = "start_s")]
    pub start_s: f64,
    /// Seconds for every later answer.
    #[serde(default = "timeout_s", alias = "answer_s")]
    pub timeout_s: f64,
    /// Strings that end a turn of the policy.
    #[serde(default = "stops")]
    pub stops: Vec<String>,
    /// What the final answer follows, as in `answer `. Empty: the environment alone says when a task is over.
    #[serde(default)]
    pub answer_mark: String,
}

fn python3() -> String {
    "python3".to_owned()
}

fn seeds() -> u64 {
    1_000_000
}

impl Python {
    fn part(&self) -> PythonPart {
        let Self { python, module, settings, .. } = self.clone();
        PythonPart { python, module, settings }
    }
}

impl Component for Python {
    const ABOUT: About = About {
        name: "python",
        summary: "A Python class with `reset` and `step`, Gymnasium's or a plain one, in a process of its own.",
        paper: "Gymnasium: A Standard Interface for Reinforcement Learning Environments (2024)",
    };
    const EXAMPLE: &'static str =
        "module = \"gymnasium:make\"\nsettings = { id = \"CartPole-v1\" }\npython = \".venv/bin/python\"";

    fn check(&self) -> Result<(), Refusal> {
        self.part().check().map_err(Refusal::new)?;
        Refusal::unless(self.seeds >= 16, "seeds", self.seeds, "at least 16, so that both splits have some")?;
        check_exchange(self.start_s, self.timeout_s, &self.stops)
    }
}

/// What a worker says of the class.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Described {
    /// What it lists as its tasks. Absent: they are seeds.
    tasks: Option<Vec<Value>>,
    expert: bool,
}

impl WorldSettings for Python {
    /// Starts a worker, which imports the class and makes an object of it, so that what is missing is known now.
    fn build(&self, _tools: &dyn ToolBuilder) -> Result<Box<dyn World>, EnvError> {
        let about = Self::ABOUT;
        let refused = |why: String| EnvError::Setting { world: about.name, why };
        self.check().map_err(|refusal| EnvError::refused(about.name, refusal))?;
        let (part, limits) = (self.part(), limits(self.start_s, self.timeout_s));
        let pool = Pool::new({
            let part = part.clone();
            move || part.channel(PythonRole::World, limits)
        });
        let mut channel = pool.take();
        let described = part.describe(&mut channel).map_err(refused)?;
        pool.give_back(channel);
        let Described { tasks, expert } = Described::deserialize(Value::Object(described))
            .map_err(|error| refused(format!("the worker of `{}` cannot be read: {error}", self.module)))?;
        let tasks = match tasks {
            None => TaskSource::Seeds(self.seeds),
            Some(tasks) => Listed::new(tasks.into_iter().map(TaskReply::told).collect())
                .map(TaskSource::Listed)
                .map_err(|why| refused(format!("`{}`: {why}", self.module)))?,
        };
        Ok(Box::new(ProgramWorld::new(Programs {
            about,
            pool,
            stops: self.stops.clone(),
            answer_mark: self.answer_mark.clone(),
            instructions: self.instructions.clone(),
            tasks,
            expert,
        })))
    }
}
