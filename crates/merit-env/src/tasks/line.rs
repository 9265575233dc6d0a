//! What this world asks of a line of a task file, and the payload it makes of it.

use merit_core::TaskLine;
use serde_json::Value;

/// Names in the payload of a task that this world fills.
const OWN: [&str; 2] = ["prompt", "tools"];

/// Refuses what cannot be a task.
pub(super) fn check(line: &TaskLine) -> Result<(), String> {
    if line.prompt.trim().is_empty() {
        return Err("`prompt` is empty".to_owned());
    }
    if line.answer.as_ref().is_some_and(|answer| answer.trim().is_empty()) {
        return Err("`answer` is empty; leave it out where there is none".to_owned());
    }
    if let Some(name) = OWN.iter().find(|name| line.payload.contains_key(**name)) {
        return Err(format!("`payload` has `{name}`, a name of this world; call it otherwise"));
    }
    if line.size == Some(0) {
        return Err("`size` is 0; leave it out, or give 1 or more".to_owned());
    }
    let is_name = |id: &String| !id.is_empty() && !id.contains(|c: char| c.is_whitespace() || c.is_control());
    if let Some(id) = line.id.as_ref().filter(|id| !is_name(id)) {
        return Err(format!("`id` is {id:?}; give a name without blanks"));
    }
    if !line.gold_moves.is_empty() && !line.demonstration.is_empty() {
        return Err("both `gold_moves` and `demonstration` are given; keep one".to_owned());
    }
    Ok(())
}

/// The payload of its task: what the line gives, and what this world needs.
pub(super) fn payload(line: &TaskLine) -> Value {
    let mut payload = line.payload.clone();
    payload.insert("prompt".to_owned(), Value::String(line.prompt.clone()));
    if !line.tools.is_empty() {
        payload.insert("tools".to_owned(), serde_json::json!(line.tools));
    }
    Value::Object(payload)
}
