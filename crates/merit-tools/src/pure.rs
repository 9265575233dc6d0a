//! The session of a tool that is a function of its input alone: no state, an answer at once.

use crate::{ToolAnswer, ToolError, ToolFuture, ToolSession, no_state};
use serde_json::Value;
use std::sync::Arc;

struct Pure(fn(&str) -> ToolAnswer);

/// Opens the tool of that name, which keeps no state to continue from.
pub(crate) fn open(
    tool: &str,
    state: Option<&Value>,
    answer: fn(&str) -> ToolAnswer,
) -> Result<Arc<dyn ToolSession>, ToolError> {
    no_state(tool, state)?;
    Ok(Arc::new(Pure(answer)))
}

impl ToolSession for Pure {
    fn call(self: Arc<Self>, input: String) -> ToolFuture {
        Box::pin(std::future::ready((self.0)(&input)))
    }
}
