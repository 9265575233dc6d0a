//! An open task: shows the prompt, hands on what the tools say in the format's wording, and is over with the first answer.

use super::cut::CutConfig;
use super::speech::Speech;
use super::{ABOUT, file};
use crate::{EnvError, Reaction, World, WorldEnd};
use merit_core::{Action, CallRecord, Message, Role, Task};
use merit_tools::{Tool, ToolCard};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;

pub(super) struct Room {
    prompt: String,
    tools: Vec<Arc<dyn Tool>>,
    cards: Vec<ToolCard>,
    speech: Arc<Speech>,
    cut: CutConfig,
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

/// What this world reads of a payload; the rest is for tools and rewards.
#[derive(Deserialize)]
struct Own {
    prompt: String,
    #[serde(default)]
    tools: Vec<String>,
}

impl Room {
    pub(super) fn open(
        task: &Task,
        tools: &[Arc<dyn Tool>],
        speech: &Arc<Speech>,
        cut: &CutConfig,
        state: Option<&Value>,
    ) -> Result<Self, EnvError> {
        file::check(task)?;
        let bad = |why: String| EnvError::Task { world: ABOUT.name, task: task.id.clone(), why };
        let own = Own::deserialize(&task.payload).map_err(|error| bad(format!("payload: {error}")))?;
        let named = |name: &String| {
            let found = tools.iter().find(|tool| tool.card().name == *name).cloned();
            found.ok_or_else(|| bad(format!("it needs the tool `{name}`, which the recipe does not have")))
        };
        let tools = if own.tools.is_empty() {
            tools.to_vec()
        } else {
            own.tools.iter().map(named).collect::<Result<_, _>>()?
        };
        let cards = tools.iter().map(|tool| tool.card().clone()).collect();
        Ok(Self {
            prompt: own.prompt,
            tools,
            cards,
            speech: Arc::clone(speech),
            cut: cut.clone(),
            state: continued(task, state)?,
        })
    }

    fn observe(&self, record: &CallRecord) -> Message {
        let output = self.cut.cut(&record.output);
        Message::new(Role::Tool, self.speech.format.answer(&record.call.tool, &output))
    }
}

fn continued(task: &Task, state: Option<&Value>) -> Result<State, EnvError> {
    let bad = |why: String| EnvError::Snapshot { world: ABOUT.name, why };
    let state = match state {
        None => State { task: task.id.clone(), steps: 0, over: false },
        Some(state) => State::deserialize(state).map_err(|error| bad(error.to_string()))?,
    };
    if state.task != task.id {
        return Err(bad(format!("it is of task {}, not {}", state.task, task.id)));
    }
    Ok(state)
}

impl World for Room {
    fn opening(&self) -> Vec<Message> {
        let system = self.speech.system(&self.cards).map(|text| Message::new(Role::System, text));
        system.into_iter().chain([Message::new(Role::User, self.prompt.clone())]).collect()
    }

    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        self.tools.clone()
    }

    fn stops(&self) -> Vec<String> {
        self.speech.format.stops()
    }

    fn parse(&self, text: &str) -> Action {
        self.speech.parse(text, &self.cards)
    }

    fn act(&mut self, action: &Action, calls: &[CallRecord]) -> Result<Reaction, EnvError> {
        let broken = |why: String| Err(EnvError::Broken { world: ABOUT.name, why });
        if self.state.over {
            return broken("it was given an action after the answer".to_owned());
        }
        let told = |text: String| vec![Message::new(Role::Environment, text)];
        let (observations, end) = match action {
            Action::Answer { .. } => (Vec::new(), WorldEnd::Answered),
            Action::Calls { calls: asked } if asked.len() != calls.len() => {
                return broken(format!("{} calls came with {} results", asked.len(), calls.len()));
            }
            Action::Calls { .. } => {
                (calls.iter().map(|record| self.observe(record)).collect(), WorldEnd::Open)
            }
            Action::Malformed { why } => (told(why.clone()), WorldEnd::Open),
            Action::Say { .. } => (told(self.speech.hint()), WorldEnd::Open),
        };
        self.state.steps += 1;
        self.state.over = end != WorldEnd::Open;
        Ok(Reaction { observations, end })
    }

    fn snapshot(&self) -> Value {
        json!(self.state)
    }
}
