//! Tools described to a model, in the JSON that function-calling models are trained on.

use crate::ToolSpec;
use merit_core::canonical;
use serde_json::json;

/// A tool as `{"name", "description", "parameters"}`.
pub(super) fn signature(card: &ToolSpec) -> String {
    format!(
        "{{\"name\": {}, \"description\": {}, \"parameters\": {}}}",
        json!(card.name),
        json!(card.summary),
        canonical(&card.arguments.schema())
    )
}

/// A tool in the wrapping that says it is a function.
pub(super) fn function(card: &ToolSpec) -> String {
    format!("{{\"type\": \"function\", \"function\": {}}}", signature(card))
}

/// One line per tool.
pub(super) fn lines(cards: &[ToolSpec], line: impl Fn(&ToolSpec) -> String) -> String {
    cards.iter().map(line).collect::<Vec<_>>().join("\n")
}
