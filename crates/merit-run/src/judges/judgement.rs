//! The world `judgement`: a question, tools where the judge has some, and an answer at the latest in the last turn.

use merit_api::{Env, EnvError, StepResult, Tool, ToolSpec, World};
use merit_core::{About, Action, CallRecord, Message, Role, Seed, Split, Task};
use merit_judge::ask::Question;
use merit_tools::formats::CallFormat;
use serde_json::{Value, json};
use std::sync::Arc;

pub(super) const JUDGEMENT: About =
    About { name: "judgement", summary: "a question about what others did", paper: "" };

const LAST: &str = "This is your last turn. Give your verdict now, as one JSON object, and call nothing.";

/// Questions to a judge that has these tools.
pub(super) struct Judgement {
    pub(super) tools: Vec<Arc<dyn Tool>>,
    pub(super) format: Arc<dyn CallFormat>,
    /// Most turns; in the last the judge must answer.
    pub(super) turns: u32,
    /// What an answer has to fit while it is sampled. Absent: anything may be said.
    pub(super) schema: Option<Value>,
}

impl Judgement {
    pub(super) fn task_of(question: &Question, id: String) -> Task {
        Task::new(JUDGEMENT.name, id).with_payload(json!(question))
    }

    fn cards(&self) -> Vec<ToolSpec> {
        self.tools.iter().map(|tool| tool.spec().clone()).collect()
    }
}

impl World for Judgement {
    fn about(&self) -> About {
        JUDGEMENT
    }

    fn task(&self, _: Split, _: u64, _: &Seed) -> Result<Task, EnvError> {
        Err(EnvError::Broken { world: JUDGEMENT.name, why: "its tasks are given".to_owned() })
    }

    fn open(&self, task: &Arc<Task>, _: &Seed, _: Option<&Value>) -> Result<Box<dyn Env>, EnvError> {
        let bad = |error: serde_json::Error| EnvError::Task {
            world: JUDGEMENT.name,
            task: task.id.clone(),
            why: format!("payload: {error}"),
        };
        let question: Question = serde_json::from_value(task.payload.clone()).map_err(bad)?;
        let (tools, cards, format) = (self.tools.clone(), self.cards(), Arc::clone(&self.format));
        let schema = self.schema.clone();
        Ok(Box::new(OpenQuestion { question, tools, cards, format, turns: self.turns, taken: 0, schema }))
    }
}

struct OpenQuestion {
    question: Question,
    tools: Vec<Arc<dyn Tool>>,
    cards: Vec<ToolSpec>,
    format: Arc<dyn CallFormat>,
    turns: u32,
    taken: u32,
    schema: Option<Value>,
}

impl Env for OpenQuestion {
    fn reset(&mut self) -> Result<Vec<Message>, EnvError> {
        self.taken = 0;
        let system = match self.cards.is_empty() {
            true => self.question.system.clone(),
            false => format!("{}\n\n{}", self.question.system, self.format.advertise(&self.cards)),
        };
        Ok(vec![Message::new(Role::System, system), Message::new(Role::User, self.question.user.clone())])
    }

    fn step(&mut self, action: &Action, calls: &[CallRecord]) -> Result<StepResult, EnvError> {
        self.taken += 1;
        let mut seen: Vec<Message> = match action {
            Action::Answer { .. } | Action::Say { .. } => return Ok(StepResult::default().answered()),
            Action::Malformed { why } => vec![Message::new(Role::Environment, why.clone())],
            Action::Calls { .. } => {
                let answer = |record: &CallRecord| self.format.answer(&record.call.tool, &record.output);
                calls.iter().map(|record| Message::new(Role::Tool, answer(record))).collect()
            }
        };
        if self.taken + 1 == self.turns {
            seen.push(Message::new(Role::Environment, LAST));
        }
        Ok(StepResult::observing(seen))
    }

    fn snapshot(&self) -> Value {
        Value::Null
    }

    fn parse(&self, text: &str) -> Action {
        let answer = || Action::Answer { text: text.trim().to_owned() };
        if self.cards.is_empty() {
            return answer();
        }
        match self.format.parse(text, &self.cards) {
            Ok(turn) if turn.calls.is_empty() => answer(),
            Ok(turn) => Action::Calls { calls: turn.calls },
            Err(malformed) => Action::Malformed { why: malformed.why },
        }
    }

    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        self.tools.clone()
    }

    fn schema(&self) -> Option<Value> {
        self.schema.clone()
    }

    fn stops(&self) -> Vec<String> {
        if self.cards.is_empty() { Vec::new() } else { self.format.stops() }
    }
}
