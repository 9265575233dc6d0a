//! Any scorer in any language as a target: a program that speaks JSON lines.
//!
//! The program begins with one line that says what it is:
//! `{"name": "…", "full": 1.0, "tasks": [{"id": "…", "prompt": "…", "answer": "…", "others": ["…"]}]}`,
//! where `full`, `answer` and `others` may be left out. A scorer that says what is `full` has to pay it for the answers it names. `"format": "<answer>{answer}</answer>"` beside `name` says how an answer is
//! written, and `gold` of a task is a right response word for word; so a scorer that wants tags is not blamed for wanting them. Then it answers each line `{"id": 7, "task": 0, "answer": "…"}` with
//! `{"id": 7, "score": 0.5}` or `{"id": 7, "error": "…"}`. `answer` is null where the agent gave none. It ends when its
//! input does. Every answer has a deadline: a program that hangs is killed with the processes it started, begun anew, and
//! the hang is a finding.

mod wire;
mod words;

use crate::error::AttackError;
use crate::subject::{Attempt, Move, Subject};
use crate::target::{Payment, Target};
use merit_command::{Failure, Process};
use std::time::Duration;
use wire::{Greeting, Reply};

pub use words::split_words;

/// How long a scorer is waited for, and how much it may say.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Seconds for the first line: the time to start and to make tasks.
    pub start: Duration,
    /// Time for one answer.
    pub answer: Duration,
    /// Bytes of one line; more is a failure.
    pub line_bytes: usize,
    /// Times the program may hang or die on one probe; what is left of the probe is then not tried.
    pub restarts: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            start: Duration::from_secs(120),
            answer: Duration::from_secs(10),
            line_bytes: 16 << 20,
            restarts: 3,
        }
    }
}

/// A scorer that runs as a program of its own.
pub struct CommandTarget {
    command: Vec<String>,
    limits: Limits,
    greeting: Greeting,
    subjects: Vec<Subject>,
    /// Absent: it hung or died, and must be begun anew.
    child: Option<Process>,
    asked: u64,
}

impl CommandTarget {
    /// Starts `command`, a program and its arguments, and hears what it has to be asked.
    pub fn start(command: Vec<String>, limits: Limits) -> Result<Self, AttackError> {
        let (child, greeting) = begin(&command, &limits)?;
        let subjects = greeting.subjects();
        Ok(Self { command, limits, greeting, subjects, child: Some(child), asked: 0 })
    }

    /// The program, begun anew if it must be. It has to greet with the same tasks as at first.
    fn child(&mut self) -> Result<&mut Process, AttackError> {
        let child = match self.child.take() {
            Some(child) => child,
            None => {
                let (child, greeting) = begin(&self.command, &self.limits)?;
                if greeting != self.greeting {
                    let why =
                        "it names other tasks when it is started again; make it deterministic".to_owned();
                    return Err(AttackError::Greeting { command: self.command.join(" "), why });
                }
                child
            }
        };
        Ok(self.child.insert(child))
    }

    fn ask(&mut self, attempt: &Attempt) -> Result<Payment, AttackError> {
        self.asked += 1;
        let (id, deadline) = (self.asked, self.limits.answer);
        let said = said(attempt, &self.greeting);
        let child = self.child()?;
        let answered = child.ask(wire::question(id, attempt.task, said.as_deref()), deadline);
        let failed = match answered.map(|line| wire::reply(id, &line)) {
            Ok(Ok(Reply::Score(value))) => return Ok(Payment::Reward { value, solved: None }),
            Ok(Ok(Reply::Error(why))) => return Ok(Payment::Broke { why }),
            Ok(Ok(Reply::NotFinite)) => {
                return Ok(Payment::Broke { why: "its score is not a finite number".to_owned() });
            }
            Ok(Err(why)) => Payment::Broke { why },
            Err(Failure::Deadline) => {
                Payment::Hangs { why: format!("no answer in {} s", deadline.as_secs_f64()) }
            }
            Err(Failure::Gone(why)) => Payment::Broke { why },
        };
        // Whatever it says from now on may belong to this question.
        self.child = None;
        Ok(failed)
    }
}

fn begin(command: &[String], limits: &Limits) -> Result<(Process, Greeting), AttackError> {
    let bad = |why: String| AttackError::Greeting { command: command.join(" "), why };
    let mut child = Process::start(command, limits.line_bytes).map_err(bad)?;
    let line = child.hear(limits.start).map_err(|failure| match failure {
        Failure::Deadline => bad(format!("it said nothing in {} s", limits.start.as_secs_f64())),
        Failure::Gone(why) => bad(why),
    })?;
    let greeting = wire::greeting(&line).map_err(bad)?;
    Ok((child, greeting))
}

/// What a scorer that sees only a final text is given of an attempt. Absent: nothing was written.
fn said(attempt: &Attempt, greeting: &Greeting) -> Option<String> {
    attempt.moves.iter().rev().find_map(|done| match done {
        Move::Answer { text } => Some(greeting.written(text)),
        Move::Raw { text } | Move::Say { text } => Some(text.clone()),
        Move::Call { .. } => None,
    })
}

impl Target for CommandTarget {
    fn name(&self) -> String {
        self.greeting.name.clone()
    }

    fn subjects(&self) -> &[Subject] {
        &self.subjects
    }

    fn full(&self) -> Option<f64> {
        self.greeting.full
    }

    fn pay(&mut self, attempts: &[Attempt]) -> Result<Vec<Payment>, AttackError> {
        let mut ends = 0;
        let mut payments = Vec::with_capacity(attempts.len());
        for attempt in attempts {
            if ends >= self.limits.restarts {
                let why = format!("not tried: the program had hung or died {ends} times on this probe");
                payments.push(Payment::Unscorable { why });
                continue;
            }
            payments.push(self.ask(attempt)?);
            ends += usize::from(self.child.is_none());
        }
        Ok(payments)
    }
}
