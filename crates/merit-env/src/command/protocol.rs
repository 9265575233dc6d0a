//! Requests and answers of a program, as plain data.

use merit_command::Channel;
use merit_core::printable::beginning;
use merit_core::{Info, Message, Role, canonical};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a program is asked.
#[derive(Debug, Serialize)]
#[serde(tag = "op", rename_all = "kebab-case")]
pub(super) enum Request<'a> {
    Task {
        seed: u64,
    },
    Reset {
        task: &'a Value,
        seed: u64,
    },
    Step {
        action: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        answer: Option<&'a str>,
    },
    Expert {
        task: &'a Value,
        turns: Vec<SaidTurn<'a>>,
        p_correct: f64,
        seed: u64,
    },
}

/// A turn of a demonstration so far.
#[derive(Debug, Serialize)]
pub(super) struct SaidTurn<'a> {
    pub(super) said: &'a str,
    pub(super) observed: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TaskReply {
    pub(super) task: Value,
    #[serde(default = "one")]
    pub(super) size: u32,
    #[serde(default)]
    pub(super) answer: Option<String>,
    #[serde(default)]
    pub(super) identity: Option<String>,
}

impl TaskReply {
    /// A task of which nothing else is known.
    pub(crate) fn of(task: Value) -> Self {
        Self { task, size: one(), answer: None, identity: None }
    }

    /// A task that tells its `answer` and `size` itself, where it has them.
    pub(crate) fn told(task: Value) -> Self {
        let answer = task.get("answer").and_then(Value::as_str).map(str::to_owned);
        let size = task.get("size").and_then(Value::as_u64).and_then(|size| u32::try_from(size).ok());
        Self { answer, size: size.unwrap_or_else(one).max(1), ..Self::of(task) }
    }

    /// What decides its split.
    pub(super) fn content(&self) -> String {
        self.identity.clone().unwrap_or_else(|| canonical(&self.task))
    }
}

fn one() -> u32 {
    1
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ResetReply {
    pub(super) observations: Vec<Observation>,
    #[serde(default)]
    pub(super) state: Option<Value>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StepReply {
    #[serde(default)]
    pub(super) observations: Vec<Observation>,
    #[serde(default)]
    pub(super) reward: Option<f64>,
    #[serde(default)]
    pub(super) terminated: bool,
    #[serde(default)]
    pub(super) truncated: bool,
    #[serde(default)]
    pub(super) info: Info,
    #[serde(default)]
    pub(super) state: Option<Value>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExpertReply {
    pub(super) say: String,
}

/// Something to show: a text, or one with its role.
#[derive(Debug, Deserialize)]
#[serde(try_from = "Value")]
pub(super) enum Observation {
    Text(String),
    Message(Message),
}

impl TryFrom<Value> for Observation {
    type Error = String;

    fn try_from(value: Value) -> Result<Self, String> {
        let why = match value {
            Value::String(text) => return Ok(Self::Text(text)),
            Value::Object(_) => match serde_json::from_value(value) {
                Ok(message) => return Ok(Self::Message(message)),
                Err(error) => error.to_string(),
            },
            other => format!("this is {}", beginning(&other.to_string(), 60)),
        };
        let roles = Role::ALL.map(|role| format!("`{}`", role.name())).join(", ");
        Err(format!("an observation is a text, or an object with `role`, one of {roles}, and `text`: {why}"))
    }
}

impl Observation {
    /// The message; a text without a role is said by `role`.
    pub(super) fn message(self, role: Role) -> Message {
        match self {
            Self::Text(text) => Message::new(role, text),
            Self::Message(message) => message,
        }
    }
}

/// Asks and reads the answer. The error says what broke, in words.
pub(super) fn ask<R: DeserializeOwned>(channel: &mut Channel, request: &Request<'_>) -> Result<R, String> {
    let request = serde_json::to_value(request).map_err(|error| error.to_string())?;
    let mut answer = channel.request(request.clone()).map_err(|error| error.to_string())?;
    answer.remove("id");
    // One that is null is none.
    if let Some(error) = answer.remove("error").filter(|error| !error.is_null()) {
        let error = error.as_str().map_or_else(|| error.to_string(), str::to_owned);
        return Err(format!("the program says: {error}"));
    }
    R::deserialize(Value::Object(answer)).map_err(|error| {
        let op = request.get("op").and_then(Value::as_str).unwrap_or_default().to_owned();
        format!("the answer to `{op}` cannot be read: {error}")
    })
}
