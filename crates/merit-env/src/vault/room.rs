//! An open vault task: which box is open, whether the key is held, whether the agent is out.

use super::{ABOUT, Boxes};
use crate::{EnvError, Reaction, World, WorldEnd};
use merit_core::{Action, CallRecord, Message, Role, Task};
use merit_tools::Tool;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;

const HINT: &str = "say open NUMBER, take or go";

pub(super) struct Room {
    boxes: Boxes,
    state: State,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    /// The task the snapshot belongs to.
    task: String,
    /// The open box; 0 while all are closed. Opening one closes the other.
    open: u32,
    /// Whether the agent holds the key.
    key: bool,
    /// Whether the agent is out.
    over: bool,
}

enum Command {
    Open(u32),
    Take,
    Go,
}

impl Command {
    fn read(text: &str) -> Option<Self> {
        match text {
            "take" => Some(Self::Take),
            "go" => Some(Self::Go),
            _ => {
                let number = text.strip_prefix("open ")?;
                let plain = (1..=2).contains(&number.len()) && number.bytes().all(|b| b.is_ascii_digit());
                number.parse().ok().filter(|_| plain).map(Self::Open)
            }
        }
    }
}

impl Room {
    pub(super) fn open(task: &Task, state: Option<&Value>) -> Result<Self, EnvError> {
        let boxes = Boxes::of(task)?;
        let bad = |why: String| EnvError::Snapshot { world: ABOUT.name, why };
        let state = match state {
            None => State { task: task.id.clone(), open: 0, key: false, over: false },
            Some(state) => State::deserialize(state).map_err(|error| bad(error.to_string()))?,
        };
        if state.task != task.id {
            return Err(bad(format!("it is of task {}, not {}", state.task, task.id)));
        }
        if state.open as usize > boxes.notes.len() {
            return Err(bad(format!("box {} is open, but there are {}", state.open, boxes.notes.len())));
        }
        Ok(Self { boxes, state })
    }

    /// Changes the state and says what is to be seen.
    fn obey(&mut self, command: Command) -> String {
        match command {
            Command::Open(number) => match self.boxes.note(number) {
                None => return format!("boxes are 1 to {}", self.boxes.notes.len()),
                Some(note) => {
                    self.state.open = number;
                    match note {
                        0 if self.state.key => "empty",
                        0 => "key",
                        next => return format!("note {next}"),
                    }
                }
            },
            Command::Take if !self.state.key && self.boxes.note(self.state.open) == Some(0) => {
                self.state.key = true;
                "taken"
            }
            Command::Take => "nothing to take",
            Command::Go if self.state.key => {
                self.state.over = true;
                "out"
            }
            Command::Go => "locked",
        }
        .to_owned()
    }
}

impl World for Room {
    fn opening(&self) -> Vec<Message> {
        let text = format!("{} boxes. note {}. get out.", self.boxes.notes.len(), self.boxes.start);
        vec![Message::new(Role::User, text)]
    }

    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        Vec::new()
    }

    fn stops(&self) -> Vec<String> {
        vec!["\n".to_owned()]
    }

    fn parse(&self, text: &str) -> Action {
        let line = text.strip_suffix('\n').unwrap_or(text).trim_matches(' ');
        match Command::read(line) {
            Some(_) => Action::Say { text: line.to_owned() },
            None => Action::Malformed { why: HINT.to_owned() },
        }
    }

    fn act(&mut self, action: &Action, _calls: &[CallRecord]) -> Result<Reaction, EnvError> {
        if self.state.over {
            let why = "it was given an action after its end".to_owned();
            return Err(EnvError::Broken { world: ABOUT.name, why });
        }
        let command = match action {
            Action::Say { text } => Command::read(text),
            Action::Answer { .. } | Action::Calls { .. } | Action::Malformed { .. } => None,
        };
        let text = command.map_or_else(|| HINT.to_owned(), |command| self.obey(command));
        let end = if self.state.over { WorldEnd::Done } else { WorldEnd::Open };
        Ok(Reaction { observations: vec![Message::new(Role::Environment, text)], end })
    }

    fn snapshot(&self) -> Value {
        json!(self.state)
    }
}
