//! One recorded session: the tool answers, the strand of its episode records.

use super::record::Recorder;
use super::strand::{Strand, now_ms, timed_out};
use super::{CallEntry, Fingerprint, key};
use crate::{ToolAnswer, ToolFuture, ToolSession, ToolSpec};
use merit_core::Task;
use serde_json::Value;
use std::any::Any;
use std::future::{poll_fn, ready};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::Poll;

/// A session whose calls are recorded.
pub(super) struct Session {
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
    pub(super) fn new(
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
