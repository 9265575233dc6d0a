//! What a reading of a text gives: the value as far as it goes, and what is wrong with the text.

use super::limits::TooLarge;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A departure from strict JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// Byte position in the text that was read.
    pub at: usize,
    /// What is wrong there.
    pub what: String,
}

/// What could be read of a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    /// The value; absent when nothing could be read or a limit was passed.
    pub value: Option<Value>,
    /// The first departures from strict JSON, at most [`FAULTS_KEPT`].
    pub faults: Vec<Fault>,
    /// Pointers of keys that occur more than once in their object, one entry per repetition, at most [`FAULTS_KEPT`].
    pub duplicates: Vec<String>,
    /// The size limit that was passed, if any.
    pub too_large: Option<TooLarge>,
}

/// How many faults are kept as evidence.
pub const FAULTS_KEPT: usize = 16;

impl Parsed {
    /// Whether the text is strict JSON without repeated keys.
    pub fn is_strict(&self) -> bool {
        self.value.is_some() && self.faults.is_empty() && self.duplicates.is_empty()
    }
}
