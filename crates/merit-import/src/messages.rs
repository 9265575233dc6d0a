//! OpenAI-style messages, typed: who speaks, what is said, which calls are made, which call is answered.
//!
//! Content is a string, null, or an array of text parts; calls are `tool_calls` or the older `function_call`. A part that is
//! not text refuses the entry rather than dropping what was seen or said.

use crate::ItemError;
use crate::fields::{array, kind, object, optional_text, required, wrong};
use merit_core::{Role, ToolCall};
use serde_json::{Map, Value};

#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) role: Role,
    pub(crate) text: String,
    /// The calls of an assistant.
    pub(crate) calls: Vec<Asked>,
    /// What an answer of a tool says of the call it answers.
    pub(crate) answers: Answers,
    /// Why the model stopped, in the recorder's word.
    pub(crate) finish: Option<String>,
    /// Fields that have no place in the record.
    pub(crate) left_out: Vec<String>,
}

/// A call as it was asked for.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) id: Option<String>,
    /// Absent: the call names no tool.
    pub(crate) call: Option<ToolCall>,
}

/// Which call an answer belongs to.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    pub(crate) id: Option<String>,
    pub(crate) tool: Option<String>,
    /// Whether the recorder marks it as an error.
    pub(crate) error: bool,
}

/// The messages of a conversation.
pub(crate) fn messages(value: &Value, field: &str) -> Result<Vec<Said>, ItemError> {
    let each = array(value, field)?.iter().enumerate();
    each.map(|(at, message)| said(message, &format!("{field}[{at}]"))).collect()
}

/// The fields that have a place in the record, by role.
fn known(role: Role) -> &'static [&'static str] {
    match role {
        Role::Policy => &["role", "content", "refusal", "tool_calls", "function_call", "finish_reason"],
        Role::Tool => &["role", "content", "tool_call_id", "name", "is_error"],
        _ => &["role", "content"],
    }
}

fn said(value: &Value, field: &str) -> Result<Said, ItemError> {
    let map = object(value, field)?;
    let at = |key: &str| format!("{field}.{key}");
    let role = role(required(map, "role", &at("role"))?, &at("role"))?;
    let mut text = content(map.get("content").unwrap_or(&Value::Null), &at("content"))?;
    let mut calls = Vec::new();
    let mut finish = None;
    if role == Role::Policy {
        calls = self::calls(map, field)?;
        text.push_str(optional_text(map, "refusal", &at("refusal"))?.unwrap_or_default());
        finish = optional_text(map, "finish_reason", &at("finish_reason"))?.map(str::to_owned);
    }
    let answers = match role {
        Role::Tool => Answers {
            id: optional_text(map, "tool_call_id", &at("tool_call_id"))?.map(str::to_owned),
            tool: optional_text(map, "name", &at("name"))?.map(str::to_owned),
            error: map.get("is_error") == Some(&Value::Bool(true)),
        },
        _ => Answers::default(),
    };
    let others = map.iter().filter(|(key, value)| !known(role).contains(&key.as_str()) && !value.is_null());
    let left_out = others.map(|(key, _)| format!("messages[].{key}")).collect();
    Ok(Said { role, text, calls, answers, finish, left_out })
}

fn role(value: &Value, field: &str) -> Result<Role, ItemError> {
    let name = value.as_str().ok_or_else(|| wrong(field, "a string", value))?;
    match name {
        "system" | "developer" => Ok(Role::System),
        "user" => Ok(Role::User),
        "assistant" => Ok(Role::Policy),
        "tool" | "function" => Ok(Role::Tool),
        other => Err(ItemError::Role { field: field.to_owned(), role: other.chars().take(80).collect() }),
    }
}

fn content(value: &Value, field: &str) -> Result<String, ItemError> {
    match value {
        Value::Null => Ok(String::new()),
        Value::String(text) => Ok(text.clone()),
        Value::Array(parts) => {
            let each = parts.iter().enumerate();
            each.map(|(at, part)| content_part(part, &format!("{field}[{at}]"))).collect()
        }
        other => Err(wrong(field, "a string, null or an array of parts", other)),
    }
}

fn content_part(part: &Value, field: &str) -> Result<String, ItemError> {
    if let Value::String(text) = part {
        return Ok(text.clone());
    }
    let map = object(part, field)?;
    let kind = map.get("type").and_then(Value::as_str).unwrap_or("text");
    let key = match kind {
        "text" | "input_text" | "output_text" => "text",
        "refusal" => "refusal",
        other => {
            let kind = other.chars().take(80).collect();
            return Err(ItemError::Part { field: field.to_owned(), kind });
        }
    };
    let path = format!("{field}.{key}");
    match required(map, key, &path)? {
        Value::String(text) => Ok(text.clone()),
        other => Err(wrong(&path, "a string", other)),
    }
}

fn calls(map: &Map<String, Value>, field: &str) -> Result<Vec<Asked>, ItemError> {
    let mut calls = Vec::new();
    match map.get("tool_calls") {
        None | Some(Value::Null) => {}
        Some(list) => {
            let field = format!("{field}.tool_calls");
            for (at, call) in array(list, &field)?.iter().enumerate() {
                calls.push(tool_call(call, &format!("{field}[{at}]"))?);
            }
        }
    }
    match map.get("function_call") {
        None | Some(Value::Null) => {}
        Some(call) => {
            let field = format!("{field}.function_call");
            calls.push(Asked { id: None, call: function(object(call, &field)?, &field)? });
        }
    }
    Ok(calls)
}

fn tool_call(value: &Value, field: &str) -> Result<Asked, ItemError> {
    let map = object(value, field)?;
    let id = optional_text(map, "id", &format!("{field}.id"))?.map(str::to_owned);
    // Some recorders put name and arguments beside the id.
    let call = match map.get("function") {
        Some(inner) => {
            let field = format!("{field}.function");
            function(object(inner, &field)?, &field)?
        }
        None => function(map, field)?,
    };
    Ok(Asked { id, call })
}

fn function(map: &Map<String, Value>, field: &str) -> Result<Option<ToolCall>, ItemError> {
    let name = optional_text(map, "name", &format!("{field}.name"))?.filter(|name| !name.is_empty());
    let input = match map.get("arguments") {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(value @ Value::Object(_)) => value.to_string(),
        Some(other) => {
            let field = format!("{field}.arguments");
            return Err(ItemError::Type { field, want: "a string or an object", got: kind(other) });
        }
    };
    Ok(name.map(|name| ToolCall { tool: name.to_owned(), input }))
}
