//! The explanation of a score: while an expression is evaluated, every part leaves what it came to and why.
//!
//! There is one evaluation. A [`Tracer`] that is off keeps nothing and costs nothing; one that is on keeps the tree. So an
//! explanation cannot disagree with the value it explains.

use crate::value::Value;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// A part with what it came to and why.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Trace {
    pub(crate) label: String,
    pub(crate) value: Value,
    pub(crate) notes: Vec<String>,
    pub(crate) parts: Vec<Trace>,
}

impl Trace {
    pub(crate) fn render(&self, depth: usize, out: &mut String) {
        let pad = "  ".repeat(depth);
        let gap = if matches!(self.value, Value::Number(_)) { " " } else { "" };
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{pad}{}{gap}{}", self.label, self.value.text());
        for note in &self.notes {
            let _ = writeln!(out, "{pad}  | {note}");
        }
        self.parts.iter().for_each(|part| part.render(depth + 1, out));
    }
}

#[derive(Debug, Default)]
pub(crate) struct Traced {
    pub(crate) parts: Vec<Trace>,
    /// Terms that were read, by position.
    pub(crate) read: BTreeSet<usize>,
}

/// Collects traces, or nothing.
pub struct Tracer {
    /// The parts under way, outermost first. Absent: off.
    open: Option<Vec<Frame>>,
    /// Terms that were read, by position.
    read: BTreeSet<usize>,
}

#[derive(Default)]
struct Frame {
    role: Option<&'static str>,
    notes: Vec<String>,
    parts: Vec<Trace>,
}

impl Tracer {
    /// A trace that collects nothing, for scoring without an explanation.
    pub fn off() -> Self {
        Self { open: None, read: BTreeSet::new() }
    }

    pub(crate) fn on() -> Self {
        Self { open: Some(vec![Frame::default()]), read: BTreeSet::new() }
    }

    /// Notes that the term at this position was read.
    pub fn reads(&mut self, term: usize) {
        if self.open.is_some() {
            self.read.insert(term);
        }
    }

    /// Leaves a note on the part under way.
    pub fn note(&mut self, note: impl FnOnce() -> String) {
        if let Some(frame) = self.open.as_mut().and_then(|open| open.last_mut()) {
            frame.notes.push(note());
        }
    }

    pub(crate) fn enter(&mut self, role: Option<&'static str>) {
        if let Some(open) = &mut self.open {
            open.push(Frame { role, ..Frame::default() });
        }
    }

    pub(crate) fn leave(&mut self, label: impl FnOnce() -> String, value: &Value) {
        let Some(open) = &mut self.open else { return };
        let Some(frame) = open.pop() else { return };
        let label = match frame.role {
            Some(role) => format!("{role}: {}", label()),
            None => label(),
        };
        let trace = Trace { label, value: value.clone(), notes: frame.notes, parts: frame.parts };
        if let Some(above) = open.last_mut() {
            above.parts.push(trace);
        }
    }

    /// What was collected at the outermost level, and the terms that were read.
    pub(crate) fn finish(self) -> Traced {
        let parts = self.open.and_then(|mut open| open.pop()).map_or_else(Vec::new, |frame| frame.parts);
        Traced { parts, read: self.read }
    }
}
