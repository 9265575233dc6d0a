//! One turn being read: a cursor over its text that gathers what is said and what is called.

use super::MalformedCall;
use super::literal::{self, Fault, Grammar};
use merit_core::ToolCall;
use serde_json::Value;

/// Most calls in one turn.
pub const MAX_CALLS: usize = 32;

/// What a turn means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParsedTurn {
    /// The text outside the calls, thoughts included, without white space at its ends.
    pub said: String,
    /// The calls, in the order written. Empty: the turn calls nothing.
    pub calls: Vec<ToolCall>,
}

/// The cursor. Positions are always on character boundaries.
pub(super) struct Reading<'a> {
    text: &'a str,
    at: usize,
    said: String,
    calls: Vec<ToolCall>,
}

const THINK: &str = "<think>";
const THOUGHT: &str = "</think>";

impl<'a> Reading<'a> {
    /// Starts behind a thought at the beginning of `text`; a stop string that ended the turn is no part of it.
    pub(super) fn open(text: &'a str, stops: &[&str]) -> Result<Self, MalformedCall> {
        let text = stops.iter().fold(text.trim_end(), |text, stop| text.strip_suffix(stop).unwrap_or(text));
        let mut reading = Self { text, at: 0, said: String::new(), calls: Vec::new() };
        if text.trim_start().starts_with(THINK) {
            let unclosed = "the `<think>` is not closed; write `</think>` before you call or answer";
            let end = text.find(THOUGHT).ok_or_else(|| MalformedCall::new(unclosed))?;
            reading.say_until(end + THOUGHT.len());
        }
        Ok(reading)
    }

    /// What has not been read yet.
    pub(super) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Where `what` stands next, counted from the cursor.
    pub(super) fn find(&self, what: &str) -> Option<usize> {
        self.rest().find(what)
    }

    /// Takes the next `length` bytes as said.
    pub(super) fn say_until(&mut self, length: usize) {
        self.said.push_str(self.rest().get(..length).unwrap_or_default());
        self.skip(length);
    }

    /// Passes over the next `length` bytes.
    pub(super) fn skip(&mut self, length: usize) {
        self.at = self.at.saturating_add(length).min(self.text.len());
    }

    /// Passes over white space.
    pub(super) fn space(&mut self) {
        self.skip(self.rest().len() - self.rest().trim_start().len());
    }

    /// Passes over `what` if it comes next.
    pub(super) fn pass(&mut self, what: &str) -> bool {
        let is_next = self.rest().starts_with(what);
        if is_next {
            self.skip(what.len());
        }
        is_next
    }

    /// Reads one JSON value that comes next.
    pub(super) fn json(&mut self) -> Result<Value, Fault> {
        let (value, length) = literal::prefix(self.rest(), Grammar::Json)?;
        self.skip(length);
        Ok(value)
    }

    /// Keeps a call; refuses the one after `MAX_CALLS`.
    pub(super) fn call(&mut self, call: ToolCall) -> Result<(), MalformedCall> {
        if self.calls.len() == MAX_CALLS {
            let why = format!(
                "more than {MAX_CALLS} calls in one turn; make fewer and go on when they are answered"
            );
            return Err(MalformedCall::new(&why));
        }
        self.calls.push(call);
        Ok(())
    }

    pub(super) fn finish(mut self) -> ParsedTurn {
        self.say_until(self.rest().len());
        ParsedTurn { said: self.said.trim().to_owned(), calls: self.calls }
    }
}
