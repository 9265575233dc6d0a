//! A Python class or function as a program that answers requests.
//!
//! The interpreter is given a worker on its command line (`python/worker.py` and the file of the role) and imports what the settings
//! name. What that prints goes to standard error, and it reads nothing from standard input, so that it cannot disturb the requests.
//! Answers are those of the roles: `world.py`, `reward.py`, `tool.py`. An exception is an answer too, `{"error": "…"}`.

use crate::{Channel, Limits};
use serde_json::{Map, Value, json};

const WORKER: &str = include_str!("python/worker.py");
/// Arguments of a program are bounded by the kernel, at 128 KiB each.
const MOST_SETTINGS: usize = 100_000;

/// What a class or function is served as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PythonRole {
    /// `reset` and `step`.
    World,
    /// A function of an episode.
    Reward,
    /// A function that an agent calls.
    Tool,
}

impl PythonRole {
    fn source(self) -> &'static str {
        match self {
            Self::World => include_str!("python/world.py"),
            Self::Reward => include_str!("python/reward.py"),
            Self::Tool => include_str!("python/tool.py"),
        }
    }
}

/// A Python class or function, named.
///
/// ```
/// use merit_command::{Limits, PythonPart, PythonRole};
/// // What is not there is named, with the nearest that is.
/// let part = PythonPart { python: "python3".into(), module: "math:hypo".into(), settings: Default::default() };
/// let mut channel = part.channel(PythonRole::Reward, Limits::default());
/// let why = part.describe(&mut channel).unwrap_err();
/// assert!(why.starts_with("`math` has no `hypo` (did you mean `hypot`?)"), "{why}");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct PythonPart {
    /// The interpreter: a name in the path, or a file.
    pub python: String,
    /// `mine:Env`, found from the current directory, `PYTHONPATH` and what is installed; or `folder/mine.py:Env`.
    pub module: String,
    /// Its keyword arguments.
    pub settings: Map<String, Value>,
}

impl PythonPart {
    /// Refuses what no interpreter could find. Starts nothing.
    pub fn check(&self) -> Result<(), String> {
        if self.python.trim().is_empty() {
            return Err("`python` is empty; give an interpreter, as in \"python3\"".to_owned());
        }
        let (module, name) = self.module.rsplit_once(':').unwrap_or_default();
        if module.trim().is_empty() || name.trim().is_empty() {
            let given = &self.module;
            return Err(format!(
                "`module` is \"{given}\"; give a module and a name in it, as in \"mine:Env\" or \"folder/mine.py:Env\""
            ));
        }
        let size = json!(self.settings).to_string().len();
        if size > MOST_SETTINGS {
            return Err(format!(
                "`settings` has {size} bytes, more than {MOST_SETTINGS}; put so much into a file, and name the file"
            ));
        }
        Ok(())
    }

    /// A channel to a worker that serves it. Starts nothing.
    pub fn channel(&self, role: PythonRole, limits: Limits) -> Channel {
        let Self { python, module, settings } = self;
        let source = format!("{WORKER}\n\n{}", role.source());
        let start = json!({ "python": python, "module": module, "settings": settings }).to_string();
        Channel::new(vec![python.clone(), "-c".to_owned(), source, start], limits)
            .called(format!("{python} {module}"))
    }

    /// Starts the worker and asks what it serves. The error says what is wrong, where, and what to do.
    pub fn describe(&self, channel: &mut Channel) -> Result<Map<String, Value>, String> {
        let mut answer = channel.request(json!({ "op": "describe" })).map_err(|error| error.to_string())?;
        answer.remove("id");
        match answer.remove("error") {
            Some(error) => Err(error.as_str().map_or_else(|| error.to_string(), str::to_owned)),
            None => Ok(answer),
        }
    }
}
