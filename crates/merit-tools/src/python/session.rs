//! One episode's interpreter. Its state is the programs it has run: a fork runs them again in a fresh interpreter and checks
//! that each says what it said before.

use super::{ABOUT, PythonConfig, words};
use crate::tape::digest;
use crate::{ToolAnswer, ToolError, ToolFuture, ToolSession};
use merit_sandbox::{Cancel, Job, MAX_CODE, Sandbox, SandboxError, Session};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError};

/// What every call of an episode needs.
pub(super) struct Bench {
    pub(super) sandbox: Sandbox,
    pub(super) config: PythonConfig,
    pub(super) seed: u64,
}

/// A fresh interpreter for every call.
pub(super) struct Once(pub(super) Arc<Bench>);

/// An interpreter that keeps its variables.
pub(super) struct Kept(Arc<Room>);

struct Room {
    bench: Bench,
    state: Mutex<State>,
}

/// The programs that made the interpreter what it is, and the interpreter once it is needed.
struct State {
    cells: Vec<Cell>,
    /// Whether the last interpreter was lost with its variables, so that the next answer says so.
    lost: bool,
    /// Whether it stands in the middle of a recorded episode and has not gone on from there: then it must be what it was.
    forked: bool,
    live: Option<Session>,
}

/// Why an interpreter could not be made what it was.
enum NotRestored {
    /// A program says something else when it is run again.
    Differs(String),
    /// The sandbox failed, or the call was given up.
    Failed(String),
}

impl NotRestored {
    fn why(self) -> String {
        match self {
            Self::Differs(why) | Self::Failed(why) => why,
        }
    }
}

/// A program that was run, and what was answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cell {
    code: String,
    /// Hash of the answer, by which a repetition is checked.
    answer: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Snapshot {
    cells: Vec<Cell>,
    lost: bool,
}

impl Kept {
    pub(super) fn open(bench: Bench, state: Option<&Value>) -> Result<Self, ToolError> {
        let Snapshot { cells, lost } = match state {
            None => Snapshot { cells: Vec::new(), lost: false },
            Some(state) => Snapshot::deserialize(state).map_err(|error| ToolError::Snapshot {
                tool: ABOUT.name.to_owned(),
                why: error.to_string(),
            })?,
        };
        let forked = !cells.is_empty();
        let state = Mutex::new(State { cells, lost, forked, live: None });
        Ok(Self(Arc::new(Room { bench, state })))
    }
}

impl ToolSession for Once {
    fn call(self: Arc<Self>, code: String) -> ToolFuture {
        let bench = Arc::clone(&self.0);
        off_thread(move |cancel| bench.run(code, cancel))
    }
}

impl ToolSession for Kept {
    fn call(self: Arc<Self>, code: String) -> ToolFuture {
        let room = Arc::clone(&self.0);
        off_thread(move |cancel| room.run(code, cancel))
    }

    fn snapshot(&self) -> Value {
        let state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        json!({ "cells": state.cells, "lost": state.lost })
    }
}

const EMPTY: &str = "write a program, as in print(6 * 7)";
const LOST: &str = "(a fresh interpreter: the last one was stopped, and its variables are gone)\n";

/// A refusal where there is nothing to run, or too much.
fn unusable(code: &str) -> Option<ToolAnswer> {
    if code.trim().is_empty() {
        return Some(ToolAnswer::Refused(EMPTY.to_owned()));
    }
    (code.len() > MAX_CODE)
        .then(|| ToolAnswer::Refused(format!("a program of {} bytes; at most {MAX_CODE}", code.len())))
}

impl Bench {
    fn run(&self, code: String, cancel: &Cancel) -> ToolAnswer {
        if let Some(refusal) = unusable(&code) {
            return refusal;
        }
        let limits = self.config.sandbox.limits;
        let job = Job { seed: self.seed, ..Job::new(code.clone(), limits) };
        match self.sandbox.run(job, Some(cancel)) {
            Ok(report) => words::answer(&code, &report, &limits, self.config.shown_chars),
            Err(error) => ToolAnswer::Broken(error.to_string()),
        }
    }
}

impl Room {
    fn run(&self, code: String, cancel: &Cancel) -> ToolAnswer {
        if let Some(refusal) = unusable(&code) {
            return refusal;
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut live = match state.live.take() {
            Some(live) => live,
            None => match self.revive(&mut state, cancel) {
                Ok(live) => live,
                Err(why) => return ToolAnswer::Broken(why),
            },
        };
        state.forked = false;
        let answer = match self.cell(&mut live, &code, cancel) {
            Ok(answer) => answer,
            Err(error) => return ToolAnswer::Broken(error.to_string()),
        };
        let answer = if std::mem::take(&mut state.lost) { with_note(answer) } else { answer };
        if live.alive() {
            state.cells.push(Cell { code, answer: digest(&answer) });
            state.live = Some(live);
        } else {
            state.cells.clear();
            state.lost = true;
        }
        answer
    }

    fn cell(&self, live: &mut Session, code: &str, cancel: &Cancel) -> Result<ToolAnswer, SandboxError> {
        let limits = self.bench.config.sandbox.limits;
        let report = live.run(code, limits.seconds, Some(cancel))?;
        Ok(words::answer(code, &report, &limits, self.bench.config.shown_chars))
    }

    /// The interpreter of this episode again, after a call that was given up. Where a program that it ran tells the time, it cannot
    /// be had again: the variables are gone, and the next answer says so. A fork has to be what its trunk was, so it fails.
    fn revive(&self, state: &mut State, cancel: &Cancel) -> Result<Session, String> {
        match self.restore(&state.cells, cancel) {
            Ok(live) => Ok(live),
            Err(NotRestored::Differs(_)) if !state.forked => {
                state.cells.clear();
                state.lost = true;
                self.restore(&[], cancel).map_err(NotRestored::why)
            }
            Err(failed) => Err(failed.why()),
        }
    }

    /// A fresh interpreter in which `cells` have been run; an error where one of them says something else now.
    fn restore(&self, cells: &[Cell], cancel: &Cancel) -> Result<Session, NotRestored> {
        let failed = |error: SandboxError| NotRestored::Failed(error.to_string());
        let open = self.bench.sandbox.session(self.bench.seed, &self.bench.config.sandbox.limits);
        let mut live = open.map_err(failed)?;
        for (number, cell) in cells.iter().enumerate() {
            let answer = self.cell(&mut live, &cell.code, cancel).map_err(failed)?;
            // The first answer after a loss carries a note that a repetition has no reason to give.
            if cell.answer != digest(&answer) && !(number == 0 && cell.answer == digest(&with_note(answer))) {
                return Err(NotRestored::Differs(format!(
                    "the interpreter cannot be forked: program {} of {} says something else when it is run again",
                    number + 1,
                    cells.len()
                )));
            }
        }
        Ok(live)
    }
}

fn with_note(answer: ToolAnswer) -> ToolAnswer {
    match answer {
        ToolAnswer::Ok(text) => ToolAnswer::Ok(format!("{LOST}{text}")),
        ToolAnswer::Refused(text) => ToolAnswer::Refused(format!("{LOST}{text}")),
        ToolAnswer::TimedOut(text) => ToolAnswer::TimedOut(format!("{LOST}{text}")),
        broken @ ToolAnswer::Broken(_) => broken,
    }
}

/// Runs `work` on a thread that may wait; giving the future up ends the program at once.
fn off_thread(work: impl FnOnce(&Cancel) -> ToolAnswer + Send + 'static) -> ToolFuture {
    struct GivenUp(Cancel);
    impl Drop for GivenUp {
        fn drop(&mut self) {
            self.0.cancel();
        }
    }
    Box::pin(async move {
        let cancel = match Cancel::new() {
            Ok(cancel) => cancel,
            Err(error) => return ToolAnswer::Broken(error.to_string()),
        };
        let guard = GivenUp(cancel.clone());
        let done = tokio::task::spawn_blocking(move || work(&cancel)).await;
        drop(guard);
        done.unwrap_or_else(|error| ToolAnswer::Broken(format!("the call's thread was lost: {error}")))
    })
}
