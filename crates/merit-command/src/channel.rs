//! Requests and answers over one process.

use crate::process::{Failure, Process};
use serde_json::{Map, Value};
use std::fmt;
use std::time::Duration;

/// How long a program is waited for, and how much it may say.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Time for the first answer after a start: the time to start is part of it.
    pub start: Duration,
    /// Time for every later answer.
    pub answer: Duration,
    /// Bytes of one line; more is a failure.
    pub line_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { start: Duration::from_secs(120), answer: Duration::from_secs(10), line_bytes: 16 << 20 }
    }
}

/// Why a request has no answer. The program was killed; the next request starts it anew.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CommandError {
    #[error("`{command}`: {why}")]
    Start {
        /// The program and its arguments.
        command: String,
        why: String,
    },
    #[error("`{command}` gave no answer in {seconds} s")]
    Deadline {
        /// The program and its arguments.
        command: String,
        /// How long it was waited for.
        seconds: f64,
    },
    /// It ended or closed its output.
    #[error("`{command}`: {why}")]
    Gone {
        /// The program and its arguments.
        command: String,
        /// How it ended, and the end of what it wrote to standard error.
        why: String,
    },
    /// Its line is no JSON object, or the answer to something else.
    #[error("`{command}`: {why}: {line}")]
    Unreadable {
        /// The program and its arguments.
        command: String,
        why: String,
        /// The beginning of the line.
        line: String,
    },
}

/// A program that answers requests. Nothing runs before the first request; dropping the channel kills the program.
///
/// ```
/// use merit_command::{Channel, Limits};
/// use serde_json::json;
/// // `cat` answers every line with itself.
/// let mut channel = Channel::new(vec!["cat".into()], Limits::default());
/// let answer = channel.request(json!({ "say": "hello" }))?;
/// assert_eq!(answer, json!({ "id": 1, "say": "hello" }).as_object().cloned().unwrap());
/// assert_eq!(channel.starts(), 1);
/// # Ok::<(), merit_command::CommandError>(())
/// ```
pub struct Channel {
    command: Vec<String>,
    /// What errors call it.
    name: String,
    limits: Limits,
    /// Absent: not started yet, or killed after a failure.
    process: Option<Process>,
    starts: u64,
    requests: u64,
}

impl fmt::Debug for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, starts, requests, .. } = self;
        write!(f, "Channel({name:?}, {starts} starts, {requests} requests)")
    }
}

impl Channel {
    /// A channel to `command`, a program and its arguments. Starts nothing.
    pub fn new(command: Vec<String>, limits: Limits) -> Self {
        let name = command.join(" ");
        Self { command, name, limits, process: None, starts: 0, requests: 0 }
    }

    /// The same, called `name` in errors: for a program whose arguments would be too long there.
    #[must_use]
    pub fn called(self, name: impl Into<String>) -> Self {
        Self { name: name.into(), ..self }
    }

    /// Whether the program was started and has not failed since.
    pub fn is_running(&self) -> bool {
        self.process.is_some()
    }

    /// Lets go of a program that ended since its last answer, so that the next request starts it anew. Not for a caller that counts
    /// on what the program remembers: then its end is a failure, and the next request says so.
    pub fn forget_the_dead(&mut self) {
        self.process.take_if(|process| process.has_ended());
    }

    /// How often the program was started.
    pub fn starts(&self) -> u64 {
        self.starts
    }

    /// Sends `request`, a JSON object, and waits for the answer.
    pub fn request(&mut self, request: Value) -> Result<Map<String, Value>, CommandError> {
        self.requests += 1;
        let id = self.requests;
        let line = numbered(id, request);
        let (mut process, deadline) = match self.process.take() {
            Some(process) => (process, self.limits.answer),
            None => (self.start()?, self.limits.start),
        };
        let answer = match process.ask(line, deadline) {
            Ok(line) => self.read(id, &line)?,
            Err(Failure::Deadline) => {
                let (command, seconds) = (self.name(), deadline.as_secs_f64());
                return Err(CommandError::Deadline { command, seconds });
            }
            Err(Failure::Gone(why)) => return Err(CommandError::Gone { command: self.name(), why }),
        };
        // Only after a whole exchange is it known that the next line belongs to the next request.
        self.process = Some(process);
        Ok(answer)
    }

    fn start(&mut self) -> Result<Process, CommandError> {
        self.starts += 1;
        let started = Process::start(&self.command, self.limits.line_bytes);
        started.map_err(|why| CommandError::Start { command: self.name(), why })
    }

    fn read(&self, id: u64, line: &str) -> Result<Map<String, Value>, CommandError> {
        let odd = |why: String| CommandError::Unreadable { command: self.name(), why, line: beginning(line) };
        let answer: Map<String, Value> = serde_json::from_str(line)
            .map_err(|error| odd(format!("its answer is no JSON object ({error})")))?;
        if answer.get("id").and_then(Value::as_u64) == Some(id) {
            Ok(answer)
        } else {
            Err(odd("its answer has another `id` than the request".to_owned()))
        }
    }

    fn name(&self) -> String {
        self.name.clone()
    }
}

/// The request as a line, with its number first.
fn numbered(id: u64, request: Value) -> String {
    let mut numbered = Map::new();
    numbered.insert("id".to_owned(), Value::from(id));
    match request {
        Value::Object(keys) => numbered.extend(keys),
        other => {
            numbered.insert("request".to_owned(), other);
        }
    }
    format!("{}\n", Value::Object(numbered))
}

fn beginning(line: &str) -> String {
    const CHARS: usize = 200;
    let line = line.trim_end();
    match line.char_indices().nth(CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}
