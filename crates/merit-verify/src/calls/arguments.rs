//! The calls of a trace with their arguments read once, for every rule to look at.

use super::spec::Step;
use crate::json::canonical::{Numbers, equal, spell};
use crate::json::{Limits, parse};
use serde_json::{Map, Value};

/// A call of a trace.
#[derive(Debug, Clone)]
pub(super) struct ReadCall<'a> {
    pub(super) tool: &'a str,
    /// Position in the trace, observations included.
    pub(super) step: usize,
    /// As they were written.
    written: &'a str,
    /// Absent when they are not strict JSON; such a call fits nothing that is asked of arguments. An integer of more digits than
    /// are compared stands as a text, which no number equals.
    pub(super) arguments: Option<Value>,
}

/// The calls of a trace in order.
pub(super) fn read_calls<'a>(trace: &'a [Step], limits: &Limits) -> Vec<ReadCall<'a>> {
    let read = |(step, entry): (usize, &'a Step)| match entry {
        Step::Observation { .. } => None,
        Step::Call { tool, arguments } => {
            let parsed = parse(arguments, limits);
            let is_read = parsed.faults.is_empty() && parsed.duplicates.is_empty();
            let read = parsed.value.filter(|_| is_read);
            Some(ReadCall { tool, step, written: arguments, arguments: read })
        }
    };
    trace.iter().enumerate().filter_map(read).collect()
}

impl ReadCall<'_> {
    /// Whether the arguments hold all of `wanted`, whatever else they hold.
    pub(super) fn has(&self, wanted: &Map<String, Value>) -> bool {
        wanted.iter().all(|(name, value)| {
            let found = self.arguments.as_ref().and_then(|arguments| arguments.get(name));
            found.is_some_and(|found| equal(found, value))
        })
    }

    /// Whether the arguments are exactly `wanted`, leaving some names aside.
    pub(super) fn is(&self, wanted: &Map<String, Value>, aside: &[String]) -> bool {
        let Some(Value::Object(found)) = &self.arguments else { return false };
        let counts = |name: &&String| !aside.contains(name);
        let agrees = |name: &String| match (wanted.get(name), found.get(name)) {
            (Some(a), Some(b)) => equal(a, b),
            _ => false,
        };
        wanted.keys().filter(counts).all(agrees) && found.keys().filter(counts).all(agrees)
    }

    /// One spelling for equal calls. Of arguments that cannot be read it is what was written.
    pub(super) fn spelling(&self) -> (&str, String) {
        let read = self.arguments.as_ref().map(|arguments| spell(arguments, Numbers::Value));
        (self.tool, read.unwrap_or_else(|| self.written.trim().to_owned()))
    }
}
