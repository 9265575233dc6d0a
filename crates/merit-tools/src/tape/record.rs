//! A tool whose calls are recorded: it answers as it always does, and the tape has it before the agent. In a session the tool
//! answers, and the strand of its episode records.

use super::book::Opening;
use super::strand::{Past, Strand, now_ms, timed_out};
use super::{CallEntry, Fingerprint, Tape, TapeError, key};
use crate::{EpisodeShared, ExecKind, Tool, ToolAnswer, ToolError, ToolFuture, ToolSession, ToolSpec};
use merit_core::Task;
use serde_json::{Value, json};
use std::any::Any;
use std::future::{poll_fn, ready};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::Poll;

/// Records the calls of a tool.
pub(super) struct Recorder {
    pub(super) inner: Arc<dyn Tool>,
    pub(super) tape: Arc<Tape>,
    pub(super) digest: Fingerprint,
    /// Seconds after which the caller stops waiting for a call. Absent: unknown.
    pub(super) limit_s: Option<f64>,
}

impl Tool for Recorder {
    fn spec(&self) -> &ToolSpec {
        self.inner.spec()
    }

    fn exec_kind(&self) -> ExecKind {
        self.inner.exec_kind()
    }

    fn open(&self, task: &Task, state: Option<&Value>) -> Result<Arc<dyn ToolSession>, ToolError> {
        self.open_beside(&EpisodeShared::default(), task, state)
    }

    fn open_beside(
        &self,
        shared: &EpisodeShared,
        task: &Task,
        state: Option<&Value>,
    ) -> Result<Arc<dyn ToolSession>, ToolError> {
        let strand = |past: Past| {
            let make = || Strand::new(Arc::clone(&self.tape), self.limit_s, past);
            shared.get_or(&format!("recording {}", self.digest), make)
        };
        let Some(state) = state.filter(|state| !state.is_null()) else {
            let (inner, stateful) = self.open_afresh(shared, task)?;
            return Ok(Arc::new(Session::new(self, inner, stateful, task, strand(Past::none()))));
        };
        let name = &self.spec().name;
        let (past, inner_state) = Past::restore(name, state)?;
        if inner_state.is_null() {
            let why = "it has no state of the tool: it was made in a replay".to_owned();
            return Err(ToolError::Snapshot { tool: name.clone(), why });
        }
        let inner = self.inner.open_beside(shared, task, Some(&inner_state))?;
        Ok(Arc::new(Session::new(self, inner, true, task, strand(past))))
    }
}

impl Recorder {
    /// Opens the tool for an episode; what came of it is on the tape too, because a replay must know.
    fn open_afresh(
        &self,
        shared: &EpisodeShared,
        task: &Task,
    ) -> Result<(Arc<dyn ToolSession>, bool), ToolError> {
        let name = &self.spec().name;
        let opened = self.inner.open_beside(shared, task, None).map(|session| {
            let stateful = !session.snapshot().is_null();
            (session, stateful)
        });
        let opening = match &opened {
            Ok((_, stateful)) => Opening { stateful: *stateful, error: None },
            Err(error) => Opening { stateful: false, error: Some(error_to_json(error).to_string()) },
        };
        let standing = self.tape.note_opening(self.digest, name, &task.id, &opening);
        match standing.map_err(|error| unusable(&self.tape, name, error))?.error {
            Some(error) => Err(error_from_json(name, &error)),
            None => opened,
        }
    }
}

/// A session whose calls are recorded.
struct Session {
    inner: Arc<dyn ToolSession>,
    stateful: bool,
    strand: Arc<Strand>,
    card: ToolSpec,
    digest: Fingerprint,
    task: String,
}

/// Gives the call up when it is dropped, unless it has ended.
struct Waiting {
    strand: Arc<Strand>,
    ticket: u64,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.strand.give_up(Some(self.ticket));
    }
}

impl Session {
    fn new(
        recorder: &Recorder,
        inner: Arc<dyn ToolSession>,
        stateful: bool,
        task: &Task,
        strand: Arc<Strand>,
    ) -> Self {
        let (card, digest) = (recorder.inner.spec().clone(), recorder.digest);
        Self { inner, stateful, strand, card, digest, task: task.id.clone() }
    }
}

impl ToolSession for Session {
    fn call(self: Arc<Self>, input: String) -> ToolFuture {
        let begun = self.strand.begin(self.stateful, |past| CallEntry {
            strict: past.next(&self.card.name, self.digest, &self.task, &input),
            loose: key::loose(&self.card, &input),
            tool: self.card.name.clone(),
            digest: self.digest,
            task: self.task.clone(),
            number: past.calls,
            input: input.clone(),
            answer: timed_out(),
            seconds: 0.0,
            recorded_ms: now_ms(),
        });
        let ticket = match begun {
            Ok(ticket) => ticket,
            Err(answer) => return Box::pin(ready(answer)),
        };
        let waiting = Waiting { strand: Arc::clone(&self.strand), ticket };
        let answer = unpanicked(Arc::clone(&self.inner), input);
        Box::pin(async move { waiting.strand.answered(ticket, answer.await) })
    }

    fn snapshot(&self) -> Value {
        if self.stateful { self.strand.past().kept(self.inner.snapshot()) } else { Value::Null }
    }
}

/// The call as a future that does not panic: a panic is a broken tool, and is recorded as one.
async fn unpanicked(session: Arc<dyn ToolSession>, input: String) -> ToolAnswer {
    let mut begin = Some((session, input));
    let mut running: Option<ToolFuture> = None;
    poll_fn(move |cx| {
        let polled = catch_unwind(AssertUnwindSafe(|| {
            if let Some((session, input)) = begin.take() {
                running = Some(session.call(input));
            }
            running.as_mut().map_or(Poll::Pending, |future| future.as_mut().poll(cx))
        }));
        polled.unwrap_or_else(|panic| Poll::Ready(ToolAnswer::Broken(panic_text(&*panic))))
    })
    .await
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let said = panic
        .downcast_ref::<&'static str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned());
    said.map_or_else(|| "panicked".to_owned(), |text| format!("panicked: {text}"))
}

/// A tape that cannot be used, as an error of the tool that needed it.
pub(super) fn unusable(tape: &Tape, tool: &str, error: TapeError) -> ToolError {
    let why = error.to_string();
    tape.trouble(error);
    ToolError::Setting { tool: tool.to_owned(), why }
}

fn error_to_json(error: &ToolError) -> Value {
    match error {
        ToolError::Task { tool, task, why } => {
            json!({ "type": "task", "tool": tool, "task": task, "why": why })
        }
        ToolError::Snapshot { tool, why } => json!({ "type": "snapshot", "tool": tool, "why": why }),
        ToolError::Setting { tool, why } => json!({ "type": "setting", "tool": tool, "why": why }),
    }
}

/// Reads what [`error_to_json`] writes, word for word: it is part of the episode.
pub(super) fn error_from_json(name: &str, text: &str) -> ToolError {
    let value: Value = serde_json::from_str(text).unwrap_or_default();
    let field = |field: &str| value.get(field).and_then(Value::as_str).map(str::to_owned);
    let tool = field("tool").unwrap_or_else(|| name.to_owned());
    match (field("type").as_deref(), field("task"), field("why")) {
        (Some("task"), Some(task), Some(why)) => ToolError::Task { tool, task, why },
        (Some("snapshot"), _, Some(why)) => ToolError::Snapshot { tool, why },
        (Some("setting"), _, Some(why)) => ToolError::Setting { tool, why },
        _ => ToolError::Setting { tool, why: format!("the tape says that it could not be opened: {text}") },
    }
}
