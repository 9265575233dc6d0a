//! One episode's use of a Python tool.

use super::Served;
use crate::excerpt::{middle_cut, refused};
use crate::tape::digest;
use crate::{Arguments, ToolAnswer, ToolError, ToolFuture, ToolSession};
use merit_command::{Channel, CommandError};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::sync::{Arc, Mutex, PoisonError};

/// A function: any worker serves any call.
pub(super) struct Function(pub(super) Arc<Served>);

/// An object that lives as long as the episode.
pub(super) struct Object(Arc<Room>);

struct Room {
    tool: Arc<Served>,
    task: Value,
    seed: u64,
    state: Mutex<State>,
}

struct State {
    calls: Vec<Call>,
    /// The worker in which the object is what the calls made it. Absent: it has to be made.
    live: Option<Channel>,
}

/// A call that reached the object, and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    arguments: Map<String, Value>,
    /// Hash of the answer, by which a repetition is checked.
    answer: String,
}

/// The snapshot: the calls, which a restored object is given again.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Snapshot {
    calls: Vec<Call>,
}

/// Why a call has no answer of the tool.
enum Lost {
    /// It ran past its limit, of so many seconds; the worker was killed.
    Late(f64),
    Broken(String),
}

impl From<CommandError> for Lost {
    fn from(error: CommandError) -> Self {
        match error {
            CommandError::Deadline { seconds, .. } => Self::Late(seconds),
            other => Self::Broken(other.to_string()),
        }
    }
}

impl Served {
    /// The arguments that an input stands for, or what to answer instead.
    fn arguments(&self, input: &str) -> Result<Map<String, Value>, ToolAnswer> {
        let json = match &self.card.arguments {
            Arguments::Text { property, .. } => json!({ property: input }).to_string(),
            Arguments::Json { .. } if input.trim().is_empty() => "{}".to_owned(),
            Arguments::Json { .. } => input.to_owned(),
        };
        match self.declared.arguments(&json)? {
            Value::Object(arguments) => Ok(arguments),
            _ => Err(refused("the arguments must be a JSON object")),
        }
    }

    /// A worker that has started, so that a call has its own deadline and not that of the start.
    fn worker(&self) -> Result<Channel, Lost> {
        let mut channel = self.pool.take();
        if !channel.is_running() {
            // Starting is ours, so a worker that does not come is no call that took too long.
            let started = channel.request(json!({ "op": "describe" }));
            started.map_err(|error| Lost::Broken(error.to_string()))?;
        }
        Ok(channel)
    }

    fn call(&self, channel: &mut Channel, arguments: &Map<String, Value>) -> Result<ToolAnswer, Lost> {
        let answer = channel.request(json!({ "op": "call", "arguments": arguments }))?;
        let text = |key: &str| answer.get(key).and_then(Value::as_str);
        match (text("output"), text("refused"), text("error")) {
            (Some(output), ..) => Ok(ToolAnswer::Ok(middle_cut(output, self.shown_chars))),
            (_, Some(why), _) => Ok(refused(why)),
            (.., Some(error)) => Err(Lost::Broken(error.to_owned())),
            _ => Err(Lost::Broken("the worker's answer has neither `output` nor `refused`".to_owned())),
        }
    }

    fn lost(&self, lost: Lost) -> ToolAnswer {
        match lost {
            Lost::Late(seconds) => {
                ToolAnswer::TimedOut(format!("{} gave no answer in {seconds} s", self.card.name))
            }
            Lost::Broken(why) => ToolAnswer::Broken(why),
        }
    }
}

impl ToolSession for Function {
    fn call(self: Arc<Self>, input: String) -> ToolFuture {
        let tool = Arc::clone(&self.0);
        off_thread(move || {
            let arguments = match tool.arguments(&input) {
                Ok(arguments) => arguments,
                Err(answer) => return answer,
            };
            let answer = tool.worker().and_then(|mut channel| {
                let answer = tool.call(&mut channel, &arguments);
                tool.pool.give_back(channel);
                answer
            });
            answer.unwrap_or_else(|lost| tool.lost(lost))
        })
    }
}

impl Object {
    pub(super) fn open(
        tool: &Arc<Served>,
        task: Value,
        seed: u64,
        state: Option<&Value>,
    ) -> Result<Self, ToolError> {
        let Snapshot { calls } = match state {
            None => Snapshot { calls: Vec::new() },
            Some(state) => Snapshot::deserialize(state).map_err(|error| ToolError::Snapshot {
                tool: tool.card.name.clone(),
                why: error.to_string(),
            })?,
        };
        let state = Mutex::new(State { calls, live: None });
        Ok(Self(Arc::new(Room { tool: Arc::clone(tool), task, seed, state })))
    }
}

impl ToolSession for Object {
    fn call(self: Arc<Self>, input: String) -> ToolFuture {
        let room = Arc::clone(&self.0);
        off_thread(move || room.answer(&input))
    }

    fn snapshot(&self) -> Value {
        let state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        json!({ "calls": state.calls })
    }
}

impl Room {
    fn answer(&self, input: &str) -> ToolAnswer {
        let arguments = match self.tool.arguments(input) {
            Ok(arguments) => arguments,
            Err(answer) => return answer,
        };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let live = state.live.take().map_or_else(|| self.restored(&state.calls), Ok);
        let mut live = match live {
            Ok(live) => live,
            // The agent asked for none of this, so it is no call that took too long.
            Err(Lost::Late(seconds)) => {
                return ToolAnswer::Broken(format!("its object could not be made in {seconds} s"));
            }
            Err(lost) => return self.tool.lost(lost),
        };
        match self.tool.call(&mut live, &arguments) {
            Ok(answer) => {
                state.calls.push(Call { arguments, answer: digest(&answer) });
                state.live = Some(live);
                answer
            }
            // The state of the object is unknown, so the next call makes a new one.
            Err(lost) => {
                self.tool.pool.give_back(live);
                self.tool.lost(lost)
            }
        }
    }

    /// An object to which these calls were made, each with the answer that it had before.
    fn restored(&self, calls: &[Call]) -> Result<Channel, Lost> {
        let mut channel = self.tool.worker()?;
        let opened = channel.request(json!({ "op": "open", "task": self.task, "seed": self.seed }))?;
        if let Some(error) = opened.get("error") {
            return Err(Lost::Broken(error.as_str().unwrap_or_default().to_owned()));
        }
        for (number, call) in calls.iter().enumerate() {
            if digest(&self.tool.call(&mut channel, &call.arguments)?) != call.answer {
                return Err(Lost::Broken(format!(
                    "it cannot be made what it was: call {} of {} is answered otherwise when it is repeated",
                    number + 1,
                    calls.len()
                )));
            }
        }
        Ok(channel)
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(live) = state.live.take() {
            self.tool.pool.give_back(live);
        }
    }
}

/// Runs `work` on a thread that may wait. Dropping the future ends the wait; the work ends by its own deadline.
fn off_thread(work: impl FnOnce() -> ToolAnswer + Send + 'static) -> ToolFuture {
    Box::pin(async move {
        let done = tokio::task::spawn_blocking(work).await;
        done.unwrap_or_else(|error| ToolAnswer::Broken(format!("the call's thread was lost: {error}")))
    })
}
