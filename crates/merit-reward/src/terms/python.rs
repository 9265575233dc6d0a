//! A reward function in Python: a function of the episode, or a class with `score`.
//!
//! `module` names it, and `settings` are its keyword arguments or those of the class. merit brings the worker that serves it, in a
//! process of its own. It is called with the episode as it is recorded, a dict, and `step` where it takes that, and gives
//!
//! - a number, or a dict with `value` and, where it has them, `turns` and `evidence`;
//! - `None`, where it has nothing to say of the episode, which is not 0;
//! - a dict with `parse_failure` or `not_applicable` and the reason.
//!
//! An exception, anything else, and a worker that dies or hangs are the grader's failure, never a reward; the next episode gets a
//! fresh worker where the last one is gone. As many workers run as threads score, so the function must be one of the episode alone.

use super::command::told;
use crate::prelude::*;
use merit_command::{Limits, Pool, PythonPart, PythonRole};
use serde_json::{Map, json};
use std::time::Duration;

/// A Python function of an episode, or a class with `score`, in a process of its own.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Python {
    /// The function or class and where it is: `mine:reward`, looked for from the current directory, in `PYTHONPATH` and among what
    /// is installed, or `folder/mine.py:reward`.
    pub module: String,
    /// Its keyword arguments.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub settings: Map<String, serde_json::Value>,
    /// The interpreter: a name in the path or a file, such as that of a virtual environment.
    #[serde(default = "python3")]
    pub python: String,
    /// Seconds for the first answer of a worker: it starts and imports meanwhile.
    #[serde(default = "start_s")]
    pub start_s: f64,
    /// Seconds for every later answer.
    #[serde(default = "timeout_s", alias = "answer_s")]
    pub timeout_s: f64,
    /// The least value it gives. Absent: unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// The greatest value it gives. Absent: unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
}

fn python3() -> String {
    "python3".to_owned()
}

fn start_s() -> f64 {
    60.0
}

fn timeout_s() -> f64 {
    10.0
}

impl Component for Python {
    const ABOUT: About = About {
        name: "python",
        summary: "A Python function of the episode, or a class with `score`, in a process of its own.",
        paper: "",
    };
    const EXAMPLE: &'static str = "module = \"mine:reward\"\nlow = 0.0\nhigh = 1.0\n";

    fn check(&self) -> Result<(), Refusal> {
        self.part().check().map_err(Refusal::new)?;
        for (key, seconds) in [("start_s", self.start_s), ("timeout_s", self.timeout_s)] {
            Refusal::unless((0.001..=3600.0).contains(&seconds), key, seconds, "0.001 to 3600")?;
        }
        let Range { low, high } = self.range();
        Refusal::unless(low <= high, "low", low, &format!("at most `high`, {high}"))
    }
}

impl Python {
    fn part(&self) -> PythonPart {
        let Self { python, module, settings, .. } = self.clone();
        PythonPart { python, module, settings }
    }

    fn range(&self) -> Range {
        Range { low: self.low.unwrap_or(f64::NEG_INFINITY), high: self.high.unwrap_or(f64::INFINITY) }
    }
}

impl PreparedTerm for Python {
    type Prepared = Pool;

    fn kind(&self) -> TermKind {
        TermKind { range: self.range(), ..TermKind::PARSED_VERDICT }
    }

    fn prepare(&self) -> Result<Pool, Refusal> {
        let (start, answer) =
            (Duration::from_secs_f64(self.start_s), Duration::from_secs_f64(self.timeout_s));
        let (part, limits) = (self.part(), Limits { start, answer, ..Limits::default() });
        Ok(Pool::new(move || part.channel(PythonRole::Reward, limits)))
    }

    fn open(&self, pool: &Pool) -> Result<(), Refusal> {
        let mut channel = pool.take();
        self.part().describe(&mut channel).map_err(Refusal::new)?;
        pool.give_back(channel);
        Ok(())
    }

    fn evaluate(&self, pool: &Pool, context: &EvalContext<'_>) -> Result<TermResult, TermResult> {
        let request = json!({ "episode": context.episode, "step": context.run.step });
        let answer = pool.request(request).map_err(|error| TermResult::broken(error.to_string()))?;
        told(&answer, self.range())
    }
}
