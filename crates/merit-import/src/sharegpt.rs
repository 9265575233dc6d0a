//! Conversations as ShareGPT writes them: a list of `from` and `value`, a call as its JSON.

use crate::ItemError;
use crate::examples::ExampleMessage;
use crate::fields::{array, object, required, wrong};
use merit_core::{Role, ToolCall};
use serde_json::Value;

/// The messages of `conversations`, after what `system` says.
pub fn messages(list: &Value, system: Option<&Value>) -> Result<Vec<ExampleMessage>, ItemError> {
    let mut messages = Vec::new();
    match system {
        None => {}
        Some(Value::String(text)) if text.is_empty() => {}
        Some(Value::String(text)) => messages.push(ExampleMessage::new(Role::System, text)),
        Some(other) => return Err(wrong("system", "a string", other)),
    }
    for (at, message) in array(list, "conversations")?.iter().enumerate() {
        messages.push(said(message, &format!("conversations[{at}]"))?);
    }
    Ok(messages)
}

fn said(message: &Value, field: &str) -> Result<ExampleMessage, ItemError> {
    let map = object(message, field)?;
    let text = |key: &str| {
        let path = format!("{field}.{key}");
        let value = required(map, key, &path)?;
        value.as_str().ok_or_else(|| wrong(&path, "a string", value))
    };
    let (from, value) = (text("from")?, text("value")?);
    let role = match from {
        "system" => Role::System,
        "human" | "user" => Role::User,
        "gpt" | "assistant" | "model" => Role::Policy,
        "observation" | "tool" | "function_response" => Role::Tool,
        "function_call" => return call(value, &format!("{field}.value")),
        other => {
            let known = "system, human, user, gpt, assistant, function_call, observation, tool";
            let other: String = other.chars().take(80).collect();
            return Err(ItemError::Example(format!("`{field}.from` is `{other}`; known: {known}")));
        }
    };
    Ok(ExampleMessage::new(role, value))
}

/// A call, or a list of calls.
fn call(text: &str, field: &str) -> Result<ExampleMessage, ItemError> {
    let read: Value = serde_json::from_str(text).map_err(|error| {
        ItemError::Example(format!("`{field}` of a `function_call` is not JSON: {error}"))
    })?;
    let calls = match &read {
        Value::Array(calls) => calls.as_slice(),
        one => std::slice::from_ref(one),
    };
    let mut message = ExampleMessage::new(Role::Policy, "");
    for call in calls {
        let map = object(call, field)?;
        let name = required(map, "name", &format!("{field}.name"))?;
        let tool = name.as_str().ok_or_else(|| wrong(&format!("{field}.name"), "a string", name))?.to_owned();
        let input = match map.get("arguments").filter(|arguments| !arguments.is_null()) {
            None => "{}".to_owned(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        };
        message.calls.push((None, ToolCall { tool, input }));
    }
    Ok(message)
}
