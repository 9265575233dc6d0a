//! What a connection notes for its error reports: output that is no message.

use crate::lines::MAX_MESSAGE;
use merit_net::text::glimpse;
use std::sync::{Mutex, PoisonError};

/// Lines that are no messages: how many, and the last of them.
#[derive(Debug, Default)]
pub(crate) struct Noise(Mutex<Noted>);

#[derive(Debug, Default)]
struct Noted {
    lines: u64,
    last: String,
}

impl Noise {
    pub(crate) fn note(&self, line: &[u8], error: &str) {
        let text = String::from_utf8_lossy(line.get(..400).unwrap_or(line));
        self.push(format!("{error}: {:?}", glimpse(&text, 200)));
    }

    pub(crate) fn note_dropped(&self) {
        self.push(format!("a message of more than {MAX_MESSAGE} bytes that answers no request"));
    }

    fn push(&self, last: String) {
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        noted.lines = noted.lines.saturating_add(1);
        noted.last = last;
    }

    /// For the end of an error message; empty when there was none.
    pub(crate) fn in_words(&self) -> String {
        let noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match noted.lines {
            0 => String::new(),
            1 => format!("; one line of its output is no MCP message ({})", noted.last),
            lines => {
                format!("; {lines} lines of its output are no MCP messages, the last of them: {}", noted.last)
            }
        }
    }
}
