//! A tool that is not there: its card, its openings and its answers come from a tape.

use super::finding::Wanted;
use super::record::{error_from_json, unusable};
use super::store::held;
use super::strand::Past;
use super::{Fingerprint, Match, Tape, TapeError, key};
use crate::{
    EpisodeShared, ExecKind, Tool, ToolAnswer, ToolError, ToolFuture, ToolSession, ToolSpec, no_state,
};
use merit_core::Task;
use serde_json::Value;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How long replayed calls take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Timing {
    /// An answer comes at once.
    #[default]
    Fast,
    /// As long as when they were recorded.
    Recorded,
}

/// No replayed call takes longer, whatever the tape says.
const LONGEST: Duration = Duration::from_secs(3600);

/// Answers from a tape alone.
pub(super) struct Replayed {
    pub(super) tape: Arc<Tape>,
    pub(super) digest: Fingerprint,
    pub(super) card: ToolSpec,
    pub(super) matching: Match,
    pub(super) timing: Timing,
}

struct Session {
    tool: Arc<Replayed>,
    task: String,
    stateful: bool,
    /// Shared by the tools of one source in one episode.
    past: Arc<Mutex<Past>>,
}

/// What the registry of a world holds: sessions outlive it.
pub(super) struct Replay(pub(super) Arc<Replayed>);

impl Tool for Replay {
    fn spec(&self) -> &ToolSpec {
        &self.0.card
    }

    fn exec_kind(&self) -> ExecKind {
        match self.0.timing {
            Timing::Fast => ExecKind::Instant,
            Timing::Recorded => ExecKind::Waiting,
        }
    }

    fn open(&self, task: &Task, state: Option<&Value>) -> Result<Arc<dyn ToolSession>, ToolError> {
        self.open_beside(&EpisodeShared::default(), task, state)
    }

    /// A tool that was never opened for this task is opened all the same: its first call says what is missing.
    fn open_beside(
        &self,
        shared: &EpisodeShared,
        task: &Task,
        state: Option<&Value>,
    ) -> Result<Arc<dyn ToolSession>, ToolError> {
        let Replayed { tape, digest, card, .. } = &*self.0;
        let opening = tape.opening(*digest, &card.name, &task.id);
        let opening = opening.map_err(|error| unusable(tape, &card.name, error))?;
        if let Some(error) = opening.as_ref().and_then(|opening| opening.error.as_ref()) {
            return Err(error_from_json(&card.name, error));
        }
        let stateful = opening.is_some_and(|opening| opening.stateful);
        let past = match state.filter(|state| stateful && !state.is_null()) {
            Some(state) => Past::restore(&card.name, state)?.0,
            None => no_state(&card.name, state).map(|()| Past::none())?,
        };
        let past = shared.get_or(&format!("replay {digest}"), || Mutex::new(past));
        Ok(Arc::new(Session { tool: Arc::clone(&self.0), task: task.id.clone(), stateful, past }))
    }
}

impl Session {
    fn answer(&self, input: &str) -> Result<(ToolAnswer, f64), TapeError> {
        let Replayed { tape, digest, card, matching, .. } = &*self.tool;
        let mut past = held(&self.past);
        let wanted =
            Wanted { tool: &card.name, digest: *digest, task: &self.task, number: past.calls, input };
        let strict = past.next(&card.name, *digest, &self.task, input);
        let call = tape.answer_to(&wanted, strict, key::loose(card, input), *matching)?;
        past.add(&card.name, input, &call.answer);
        tape.hits.fetch_add(1, Ordering::Relaxed);
        Ok((call.answer, call.seconds))
    }
}

impl ToolSession for Session {
    fn call(self: Arc<Self>, input: String) -> ToolFuture {
        let (answer, seconds) = match self.answer(&input) {
            Ok(found) => found,
            Err(error) => (self.tool.tape.broken(error), 0.0),
        };
        match self.tool.timing {
            Timing::Fast => Box::pin(std::future::ready(answer)),
            Timing::Recorded => Box::pin(async move {
                tokio::time::sleep(Duration::try_from_secs_f64(seconds).unwrap_or_default().min(LONGEST))
                    .await;
                answer
            }),
        }
    }

    fn snapshot(&self) -> Value {
        if self.stateful { held(&self.past).kept(Value::Null) } else { Value::Null }
    }
}
