//! One entry in memory, before a format reads it.

use serde_json::{Value, json};

/// An entry that is in memory. Anything that is JSON is one: `Row::from(value)`.
#[derive(Debug, Clone, PartialEq)]
pub enum Row {
    /// A prompt, a response and perhaps the right answer, all texts. The same as an entry with these fields, without a table to look
    /// them up in.
    Plain { prompt: String, response: String, answer: Option<String> },
    /// An entry of any shape.
    Entry(Value),
}

impl From<Value> for Row {
    fn from(value: Value) -> Self {
        Self::Entry(value)
    }
}

impl Row {
    pub(crate) fn into_value(self) -> Value {
        match self {
            Self::Plain { prompt, response, answer: Some(answer) } => {
                json!({"prompt": prompt, "response": response, "answer": answer})
            }
            Self::Plain { prompt, response, answer: None } => {
                json!({"prompt": prompt, "response": response})
            }
            Self::Entry(value) => value,
        }
    }
}
