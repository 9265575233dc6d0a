//! Tools to record: one that keeps state, one that never says the same twice, one that waits, one that panics.

use merit_core::Task;
use merit_tools::{
    ExecKind, Tape, Tool, ToolAnswer, ToolError, ToolFuture, ToolSession, ToolSpec, Toolbox, call_blocking,
    conformance::example_task,
};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Far more than anything here takes.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) fn task(id: &str) -> Task {
    Task { id: id.to_owned(), ..example_task() }
}

pub(crate) fn ask(session: &Arc<dyn ToolSession>, input: &str) -> ToolAnswer {
    call_blocking(session, input, PATIENCE).unwrap()
}

pub(crate) fn ok(text: &str) -> ToolAnswer {
    ToolAnswer::Ok(text.to_owned())
}

pub(crate) fn timed_out() -> ToolAnswer {
    ToolAnswer::TimedOut(String::new())
}

/// The text of a broken answer.
pub(crate) fn broken(answer: ToolAnswer) -> String {
    match answer {
        ToolAnswer::Broken(text) => text,
        other => panic!("{other:?} is not broken"),
    }
}

/// A place for one tape.
pub(crate) struct Shelf {
    _folder: tempfile::TempDir,
    pub(crate) path: PathBuf,
}

impl Shelf {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { path: folder.path().join("calls.tape"), _folder: folder }
    }

    pub(crate) fn record(&self) -> Toolbox {
        Toolbox::record(Tape::create(&self.path).unwrap())
    }

    pub(crate) fn replay(&self) -> Toolbox {
        self.matched(merit_tools::Match::Strict)
    }

    pub(crate) fn matched(&self, matching: merit_tools::Match) -> Toolbox {
        Toolbox::replay(Tape::open(&self.path).unwrap(), matching, merit_tools::Timing::Fast).unwrap()
    }
}

/// What a [`Bench`] tool does with a call; it is told how many calls were made of it in all, and in this session.
type Answer = dyn Fn(&str, u64, &mut i64) -> ToolFuture + Send + Sync;

/// A tool made of a function.
pub(crate) struct Bench {
    card: ToolSpec,
    stateful: bool,
    pub(crate) calls: Arc<AtomicU64>,
    answer: Arc<Answer>,
}

struct Open {
    stateful: bool,
    calls: Arc<AtomicU64>,
    sum: Mutex<i64>,
    answer: Arc<Answer>,
}

impl Bench {
    pub(crate) fn new(
        stateful: bool,
        answer: impl Fn(&str, u64, &mut i64) -> ToolFuture + Send + Sync + 'static,
    ) -> Arc<Self> {
        let card = ToolSpec::text("bench", "A tool under test.", "text", "anything", "1");
        Arc::new(Self { card, stateful, calls: Arc::default(), answer: Arc::new(answer) })
    }

    /// Adds what it is given to a running sum and says the sum; refuses what is no number.
    pub(crate) fn adder() -> Arc<Self> {
        Self::new(true, |input, _, sum| {
            let answer = match input.trim().parse::<i64>() {
                Ok(number) => {
                    *sum = sum.wrapping_add(number);
                    ToolAnswer::Ok(sum.to_string())
                }
                Err(_) => ToolAnswer::Refused("give a number".to_owned()),
            };
            Box::pin(std::future::ready(answer))
        })
    }

    /// Says how often it was called in all: never the same twice.
    pub(crate) fn fickle(stateful: bool) -> Arc<Self> {
        Self::new(stateful, |_, count, _| {
            let answer = ToolAnswer::Ok(format!("call {count}"));
            Box::pin(std::future::ready(answer))
        })
    }

    /// Never answers.
    pub(crate) fn stuck() -> Arc<Self> {
        Self::new(false, |_, _, _| Box::pin(std::future::pending()))
    }
}

impl Tool for Bench {
    fn spec(&self) -> &ToolSpec {
        &self.card
    }

    fn exec_kind(&self) -> ExecKind {
        ExecKind::Waiting
    }

    fn open(&self, task: &Task, state: Option<&Value>) -> Result<Arc<dyn ToolSession>, ToolError> {
        if task.id == "closed" {
            let why = "it is closed".to_owned();
            return Err(ToolError::Task { tool: "bench".to_owned(), task: task.id.clone(), why });
        }
        let sum = match state {
            None | Some(Value::Null) => 0,
            Some(state) => state["sum"].as_i64().ok_or_else(|| ToolError::Snapshot {
                tool: "bench".to_owned(),
                why: "it has no `sum`".to_owned(),
            })?,
        };
        let (calls, answer) = (Arc::clone(&self.calls), Arc::clone(&self.answer));
        Ok(Arc::new(Open { stateful: self.stateful, calls, sum: Mutex::new(sum), answer }))
    }
}

impl ToolSession for Open {
    fn call(self: Arc<Self>, input: String) -> ToolFuture {
        let count = self.calls.fetch_add(1, Ordering::Relaxed);
        (self.answer)(&input, count, &mut self.sum.lock().unwrap())
    }

    fn snapshot(&self) -> Value {
        if self.stateful { json!({ "sum": *self.sum.lock().unwrap() }) } else { Value::Null }
    }
}
