//! An open ledger task: shows the question, hands on what the tools say, and is over with the first answer.

use super::{ABOUT, INSTRUCTIONS, Purchase, dialect};
use crate::{EnvError, Reaction, World, WorldEnd};
use merit_core::{Action, CallRecord, Message, Role, Task};
use merit_tools::Tool;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;

/// What every call is answered in the world without tools.
const NO_TOOLS: &str = "no tools here";

pub(super) struct Room {
    question: String,
    tools: Vec<Arc<dyn Tool>>,
    instructions: bool,
    state: State,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    /// The task the snapshot belongs to.
    task: String,
    /// Actions taken so far.
    steps: u64,
    /// Whether the answer was given.
    over: bool,
}

impl Room {
    pub(super) fn open(
        task: &Task,
        tools: Vec<Arc<dyn Tool>>,
        instructions: bool,
        state: Option<&Value>,
    ) -> Result<Self, EnvError> {
        let question = Purchase::of(task)?.question();
        let bad = |why: String| EnvError::Snapshot { world: ABOUT.name, why };
        let state = match state {
            None => State { task: task.id.clone(), steps: 0, over: false },
            Some(state) => State::deserialize(state).map_err(|error| bad(error.to_string()))?,
        };
        if state.task != task.id {
            return Err(bad(format!("it is of task {}, not {}", state.task, task.id)));
        }
        Ok(Self { question, tools, instructions, state })
    }

    fn observe(&self, calls: &[CallRecord]) -> Vec<Message> {
        let text = |record: &CallRecord| {
            if self.tools.is_empty() { NO_TOOLS.to_owned() } else { record.output.clone() }
        };
        calls.iter().map(|record| Message::new(Role::Tool, text(record))).collect()
    }
}

impl World for Room {
    fn opening(&self) -> Vec<Message> {
        let system = self.instructions.then(|| Message::new(Role::System, INSTRUCTIONS));
        system.into_iter().chain([Message::new(Role::User, self.question.clone())]).collect()
    }

    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        self.tools.clone()
    }

    fn stops(&self) -> Vec<String> {
        vec!["\n".to_owned()]
    }

    fn parse(&self, text: &str) -> Action {
        dialect::parse(text)
    }

    fn act(&mut self, action: &Action, calls: &[CallRecord]) -> Result<Reaction, EnvError> {
        let broken = |why: String| Err(EnvError::Broken { world: ABOUT.name, why });
        if self.state.over {
            return broken("it was given an action after the answer".to_owned());
        }
        let (observations, end) = match action {
            Action::Answer { .. } => (Vec::new(), WorldEnd::Answered),
            Action::Calls { calls: asked } if asked.len() != calls.len() => {
                return broken(format!("{} calls came with {} results", asked.len(), calls.len()));
            }
            Action::Calls { .. } => (self.observe(calls), WorldEnd::Open),
            Action::Malformed { why } => (vec![Message::new(Role::Environment, why.clone())], WorldEnd::Open),
            Action::Say { .. } => (vec![Message::new(Role::Environment, dialect::HINT)], WorldEnd::Open),
        };
        self.state.steps += 1;
        self.state.over = end != WorldEnd::Open;
        Ok(Reaction { observations, end })
    }

    fn snapshot(&self) -> Value {
        json!(self.state)
    }
}
