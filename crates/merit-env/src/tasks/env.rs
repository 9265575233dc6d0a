//! A running task: shows the prompt, hands on what the tools say in the format's wording, and is over with the first answer.

use super::calls::FormatCalls;
use super::cut::CutConfig;
use super::speech::Speech;
use super::{ABOUT, file};
use crate::{Env, EnvError, StepResult};
use merit_api::{CallLanguage, Tool, ToolSpec};
use merit_core::{Action, CallRecord, Message, Role, Task};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;

pub(super) struct TaskEnv {
    prompt: String,
    tools: Vec<Arc<dyn Tool>>,
    cards: Vec<ToolSpec>,
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

impl TaskEnv {
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
            let found = tools.iter().find(|tool| tool.spec().name == *name).cloned();
            found.ok_or_else(|| bad(format!("it needs the tool `{name}`, which the recipe does not have")))
        };
        let tools = if own.tools.is_empty() {
            tools.to_vec()
        } else {
            own.tools.iter().map(named).collect::<Result<_, _>>()?
        };
        let cards = tools.iter().map(|tool| tool.spec().clone()).collect();
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

impl Env for TaskEnv {
    fn reset(&mut self) -> Result<Vec<Message>, EnvError> {
        (self.state.steps, self.state.over) = (0, false);
        let system = self.speech.system(&self.cards).map(|text| Message::new(Role::System, text));
        Ok(system.into_iter().chain([Message::new(Role::User, self.prompt.clone())]).collect())
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

    fn call_language(&self) -> Option<Arc<dyn CallLanguage>> {
        Some(Arc::new(FormatCalls { speech: Arc::clone(&self.speech), cards: self.cards.clone() }))
    }

    fn step(&mut self, action: &Action, calls: &[CallRecord]) -> Result<StepResult, EnvError> {
        let broken = |why: String| Err(EnvError::Broken { world: ABOUT.name, why });
        if self.state.over {
            return broken("it was given an action after its end".to_owned());
        }
        let result = match action {
            Action::Answer { .. } => StepResult::default().answered(),
            Action::Calls { calls: asked } if asked.len() != calls.len() => {
                return broken(format!("{} calls came with {} results", asked.len(), calls.len()));
            }
            Action::Calls { .. } => {
                StepResult::observing(calls.iter().map(|record| self.observe(record)).collect())
            }
            Action::Malformed { why } => StepResult::saying(why.clone()),
            Action::Say { .. } => StepResult::saying(self.speech.hint()),
        };
        self.state.steps += 1;
        self.state.over = result.is_last();
        Ok(result)
    }

    fn snapshot(&self) -> Value {
        json!(self.state)
    }
}
