//! A reward function in any language: a program that is asked about every episode, in JSON lines.
//!
//! The program is started at the first episode and kept. It is sent one line for each episode,
//! `{"id": 1, "episode": {…}, "step": 0}`, with the episode as it is recorded, and answers with one line that has the same `id`
//! and one of
//!
//! - `"value": 0.5`, with `"turns": [0.5, null]` where it is told by turn and `"evidence": "…"` where it has reasons;
//! - `"parse_failure": "why"`: what the policy wrote cannot be read;
//! - `"not_applicable": "why"`: it has nothing to say of this episode;
//! - `"error": "why"`: it could not do its work.
//!
//! A key that is `null` counts as left out. Any other key, or several of these at once, is no answer.
//!
//! A program that ends, hangs past `timeout_s` or writes something else is the grader's failure, never a 0. It is killed and
//! started anew for the next episode, and it is killed when the reward is dropped. One process serves all threads, one episode
//! at a time. The program must be a function of the episode; conformance checks that on its example.

use crate::prelude::*;
use merit_command::{Channel, Limits};
use merit_core::printable::beginning;
use merit_core::registry::nearest;
use serde_json::{Map, json};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// A program of any language that is asked about every episode, in JSON lines.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Command {
    /// The program and its arguments; no shell reads them.
    pub command: Vec<String>,
    /// Seconds for the first answer, in which the program starts.
    #[serde(default = "minutes")]
    pub start_s: f64,
    /// Seconds for every later answer.
    #[serde(default = "seconds")]
    pub timeout_s: f64,
    /// The least value the program gives. Absent: unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// The greatest value the program gives. Absent: unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
}

fn minutes() -> f64 {
    120.0
}

fn seconds() -> f64 {
    10.0
}

impl Component for Command {
    const ABOUT: About = About {
        name: "command",
        summary: "A reward function in any language: a program that is asked about every episode, in JSON lines.",
        paper: "",
    };
    // A program that answers every line with itself has said nothing, which is a failure and not 0.
    const EXAMPLE: &'static str = "command = [\"cat\"]\ntimeout_s = 60.0\nlow = 0.0\nhigh = 1.0\n";

    fn check(&self) -> Result<(), Refusal> {
        if self.command.first().is_none_or(String::is_empty) {
            return Err(Refusal::new(
                "`command` is empty; give a program and its arguments, e.g. [\"python3\", \"reward.py\"]",
            ));
        }
        for (key, seconds) in [("start_s", self.start_s), ("timeout_s", self.timeout_s)] {
            Refusal::unless(
                seconds > 0.0 && seconds <= 86_400.0,
                key,
                seconds,
                "above 0 and at most a day, 86400",
            )?;
        }
        let Range { low, high } = self.range();
        Refusal::unless(low <= high, "low", low, &format!("at most `high`, {high}"))
    }
}

impl Command {
    fn range(&self) -> Range {
        Range { low: self.low.unwrap_or(f64::NEG_INFINITY), high: self.high.unwrap_or(f64::INFINITY) }
    }
}

impl PreparedTerm for Command {
    type Prepared = Mutex<Channel>;

    fn kind(&self) -> TermKind {
        TermKind { range: self.range(), ..TermKind::PARSED_VERDICT }
    }

    /// Starts nothing: the program starts with the first episode.
    fn prepare(&self) -> Result<Mutex<Channel>, Refusal> {
        let limits = Limits {
            start: Duration::from_secs_f64(self.start_s),
            answer: Duration::from_secs_f64(self.timeout_s),
            ..Limits::default()
        };
        Ok(Mutex::new(Channel::new(self.command.clone(), limits)))
    }

    fn evaluate(
        &self,
        channel: &Mutex<Channel>,
        context: &EvalContext<'_>,
    ) -> Result<TermResult, TermResult> {
        let request = json!({ "episode": context.episode, "step": context.run.step });
        let mut channel = channel.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = channel.request(request).map_err(|error| TermResult::broken(error.to_string()))?;
        told(&answer, self.range())
    }
}

/// What a program says of an episode; whatever it may not say is the grader's failure.
pub fn told(
    answer: &Map<String, serde_json::Value>,
    Range { low, high }: Range,
) -> Result<TermResult, TermResult> {
    let result = read(answer).map_err(TermResult::broken)?;
    match result.outcome.value() {
        Some(value) if !(low..=high).contains(&value) => {
            Err(TermResult::broken(format!("it gave {value}, outside of its `low` and `high`")))
        }
        _ => Ok(result),
    }
}

/// What an answer comes to: one of these.
const OUTCOMES: [&str; 4] = ["value", "parse_failure", "not_applicable", "error"];
/// What may stand beside it.
const BESIDE: [&str; 3] = ["id", "turns", "evidence"];

/// Refuses keys that nobody reads, and answers that contradict themselves.
fn check(answer: &Map<String, serde_json::Value>) -> Result<(), String> {
    let known = || OUTCOMES.into_iter().chain(BESIDE);
    if let Some(key) = answer.keys().find(|key| !known().any(|name| name == key.as_str())) {
        let meant =
            nearest(key, known()).map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"));
        return Err(format!("its answer has the unknown key `{}`{meant}", beginning(key, 60)));
    }
    let is_said = |name: &&str| answer.get(*name).is_some_and(|said| !said.is_null());
    let said: Vec<&str> = OUTCOMES.into_iter().filter(is_said).collect();
    match said.as_slice() {
        [first, second, ..] => {
            Err(format!("its answer has both `{first}` and `{second}`; it is to be one of them"))
        }
        _ => Ok(()),
    }
}

fn read(answer: &Map<String, serde_json::Value>) -> Result<TermResult, String> {
    check(answer)?;
    let given = |key: &str| answer.get(key).filter(|said| !said.is_null());
    let text = |key: &str| given(key).map(|why| why.as_str().map_or_else(|| why.to_string(), str::to_owned));
    if let Some(why) = text("error") {
        return Err(why);
    }
    if let Some(why) = text("not_applicable") {
        return Ok(TermResult::not_applicable(why));
    }
    let evidence =
        Evidence::new("asked", text("evidence").unwrap_or_else(|| "the program gave no reason".to_owned()));
    if let Some(why) = text("parse_failure") {
        return Ok(TermResult::parse_failure(why, evidence));
    }
    let odd = || {
        let keys: Vec<String> = answer.keys().map(|key| format!("`{key}`")).collect();
        format!("its answer has no number `value`; its keys are {}", keys.join(", "))
    };
    let value = given("value").and_then(serde_json::Value::as_f64).ok_or_else(odd)?;
    let turns = match given("turns") {
        Some(turns) => {
            Vec::<Option<f64>>::deserialize(turns).map_err(|error| format!("its `turns`: {error}"))?
        }
        None => Vec::new(),
    };
    Ok(TermResult::value(value, evidence).with_turns(turns))
}
