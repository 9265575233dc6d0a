//! What a connection notes for its error reports: output that is no message, and messages that were too large.

use crate::lines::MAX_MESSAGE;
use crate::text::glimpse;
use rmcp::model::{ErrorCode, ErrorData, RequestId, ServerJsonRpcMessage};
use serde_json::json;
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
    pub(crate) fn note(&self, line: &[u8], error: &serde_json::Error) {
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

/// The code of our own error in place of an answer that was not read: from the range that JSON-RPC leaves to implementations.
const CODE: ErrorCode = ErrorCode(-32_097);
const MARK: &str = "merit/too-large";

/// What the waiting call gets in place of an answer over the limit.
pub(crate) fn too_large(id: RequestId) -> ServerJsonRpcMessage {
    let data = Some(json!(MARK));
    ServerJsonRpcMessage::error(ErrorData::new(CODE, "the answer is too large", data), Some(id))
}

/// Whether an error is [`too_large`].
pub(crate) fn is_too_large(error: &ErrorData) -> bool {
    error.code == CODE && error.data.as_ref().is_some_and(|data| data == MARK)
}
