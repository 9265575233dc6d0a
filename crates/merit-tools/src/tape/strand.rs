//! The calls of one episode to one source of tools: each ends on the tape exactly once, answered, given up or overtaken.
//!
//! Tools of one source may share a state, so they share their past here. The first answer to a call with a given past
//! stands: an episode that does what another did before is told the same, as it will be in a replay. A tool that keeps
//! state and answered otherwise this time is not where the tape says it is; from then on only what is on the tape is
//! repeated, and what is not there is broken rather than made up.

use super::key::{self, Fingerprint};
use super::store::held;
use super::{CallEntry, Tape};
use crate::{ToolAnswer, ToolError};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// An answer later than this share of the limit counts as timed out: the waiting engine has clocks of its own, and what is
/// recorded must be what it saw.
const IN_TIME: f64 = 0.95;
/// A call that is given up before this share of the limit was not given up for its time, and is not recorded.
const LEFT_EARLY: f64 = 0.5;

/// The calls of one episode to one source.
pub(super) struct Strand {
    tape: Arc<Tape>,
    /// Seconds after which the caller stops waiting for a call. Absent: unknown.
    limit_s: Option<f64>,
    state: Mutex<State>,
}

struct State {
    past: Past,
    under_way: Option<Asked>,
    /// Why the state of the tools is not the one on the tape. Absent: it is.
    lost: Option<String>,
}

/// A call without its answer.
struct Asked {
    ticket: u64,
    /// How it is recorded if its caller stopped waiting.
    call: CallEntry,
    stateful: bool,
    begun: Instant,
}

impl Strand {
    pub(super) fn new(tape: Arc<Tape>, limit_s: Option<f64>, past: Past) -> Self {
        Self { tape, limit_s, state: Mutex::new(State { past, under_way: None, lost: None }) }
    }

    pub(super) fn past(&self) -> Past {
        held(&self.state).past
    }

    /// Begins a call, which `describe` lays out after the past: its ticket, or the answer where the tape alone can tell.
    /// Calls of an episode come one after the other, so one that is still under way was given up.
    pub(super) fn begin(
        self: &Arc<Self>,
        stateful: bool,
        describe: impl FnOnce(&Past) -> CallEntry,
    ) -> Result<u64, ToolAnswer> {
        let mut state = held(&self.state);
        if let Some(overtaken) = state.under_way.take() {
            self.end(&mut state, overtaken, timed_out());
        }
        let call = describe(&state.past);
        if let Some(why) = state.lost.clone() {
            return Err(self.keep(&mut state, CallEntry { answer: ToolAnswer::Broken(why), ..call }));
        }
        let ticket = self.tape.ticket(self);
        state.under_way = Some(Asked { ticket, call, stateful, begun: Instant::now() });
        self.tape.live.fetch_add(1, Ordering::Relaxed);
        Ok(ticket)
    }

    /// Ends the call with this ticket and says what stands. A call that is no longer waited for stays as it was ended.
    pub(super) fn answered(&self, ticket: u64, answer: ToolAnswer) -> ToolAnswer {
        let mut state = held(&self.state);
        let Some(asked) = state.under_way.take_if(|asked| asked.ticket == ticket) else {
            return timed_out();
        };
        let seconds = asked.begun.elapsed().as_secs_f64();
        let late = self.limit_s.is_some_and(|limit| seconds > limit * IN_TIME);
        self.end(&mut state, asked, if late { timed_out() } else { answer })
    }

    /// Ends the call whose caller stopped waiting: the one with this ticket, or whichever is under way.
    pub(super) fn give_up(&self, ticket: Option<u64>) {
        let mut state = held(&self.state);
        let which = |asked: &mut Asked| ticket.is_none_or(|ticket| asked.ticket == ticket);
        let Some(asked) = state.under_way.take_if(which) else { return };
        let seconds = asked.begun.elapsed().as_secs_f64();
        if self.limit_s.is_some_and(|limit| seconds < limit * LEFT_EARLY) {
            self.tape.tear(asked.ticket);
            state.lost = Some("an earlier call was given up before it answered".to_owned());
        } else {
            self.end(&mut state, asked, timed_out());
        }
    }

    fn end(&self, state: &mut State, asked: Asked, answer: ToolAnswer) -> ToolAnswer {
        self.tape.tear(asked.ticket);
        let number = asked.call.number.saturating_add(1);
        let seconds = asked.begun.elapsed().as_secs_f64();
        let standing = self.keep(state, CallEntry { answer: answer.clone(), seconds, ..asked.call });
        if standing != answer {
            self.tape.differing.fetch_add(1, Ordering::Relaxed);
            if asked.stateful {
                state.lost = Some(format!(
                    "call {number} was answered otherwise than on the tape {}, so the tool's state is another",
                    self.tape.path().display()
                ));
            }
        }
        standing
    }

    /// Writes a call and goes on from what stands.
    fn keep(&self, state: &mut State, call: CallEntry) -> ToolAnswer {
        match self.tape.keep(&call) {
            Ok(standing) => {
                state.past.add(&call.tool, &call.input, &standing);
                standing
            }
            Err(error) => self.tape.broken(error),
        }
    }
}

/// What an episode has behind it with one source of tools, in one number and one hash: the part of a strict key that tells two
/// episodes of a task apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Past {
    pub(super) calls: u64,
    /// Hash chain of their tools, inputs and answers.
    chain: Fingerprint,
}

/// A past as it stands in a snapshot, beside the state of the tool itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeptPast {
    calls: u64,
    chain: String,
    /// Null when no tool runs: in a replay.
    inner: Value,
}

impl Past {
    pub(super) fn none() -> Self {
        Self { calls: 0, chain: Fingerprint::of("past", &[]) }
    }

    /// Adds a call and its answer.
    pub(super) fn add(&mut self, tool: &str, input: &str, answer: &ToolAnswer) {
        let (kind, text) = key::parts(answer);
        let parts = [&self.chain.0[..], tool.as_bytes(), input.as_bytes(), kind.as_bytes(), text.as_bytes()];
        *self = Self { calls: self.calls + 1, chain: Fingerprint::of("past", &parts) };
    }

    /// The strict key of the next call.
    pub(super) fn next(&self, tool: &str, digest: Fingerprint, task: &str, input: &str) -> Fingerprint {
        let number = self.calls.to_le_bytes();
        let parts = [tool.as_bytes(), &digest.0, task.as_bytes(), &self.chain.0, &number, input.as_bytes()];
        Fingerprint::of("strict", &parts)
    }

    /// As it stands in a snapshot.
    pub(super) fn kept(&self, inner: Value) -> Value {
        json!(KeptPast { calls: self.calls, chain: self.chain.to_string(), inner })
    }

    /// Reads a snapshot back.
    pub(super) fn restore(tool: &str, state: &Value) -> Result<(Self, Value), ToolError> {
        let bad = |why: String| ToolError::Snapshot { tool: tool.to_owned(), why };
        let kept = KeptPast::deserialize(state).map_err(|error| bad(error.to_string()))?;
        let chain =
            Fingerprint::parse(&kept.chain).ok_or_else(|| bad("its `chain` is no hash".to_owned()))?;
        Ok((Self { calls: kept.calls, chain }, kept.inner))
    }
}

/// The answer to a call whose caller stopped waiting; the caller shows the agent words of its own.
pub(super) fn timed_out() -> ToolAnswer {
    ToolAnswer::TimedOut(String::new())
}

/// Unix time in milliseconds, for people: nothing depends on it.
pub(super) fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}
