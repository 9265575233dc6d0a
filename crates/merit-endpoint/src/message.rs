//! The parts of a conversation as the protocol knows them: messages, tools and calls.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The sides of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChatRole {
    /// Standing instructions.
    System,
    User,
    /// The model, which answers.
    Assistant,
    /// The answer to a tool call.
    Tool,
}

impl ChatRole {
    /// The word on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }
}

/// A message as chat APIs have it: who speaks, text, calls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChatMessage {
    /// The side that says it.
    pub role: ChatRole,
    #[serde(default)]
    pub content: String,
    /// The calls that the model makes; empty for everybody else.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<FunctionCall>,
    /// Which call a tool answers. Absent for everybody else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
}

/// A call of a tool, as the model wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionCall {
    /// The server's name for the call; empty where it gives none.
    pub id: String,
    pub name: String,
    /// Its arguments as the model wrote them: meant to be JSON, never checked here.
    pub arguments: String,
}

/// A tool that the model may call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FunctionSpec {
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub parameters: Value,
}

impl ChatMessage {
    /// A message of `role` that says `content`.
    pub fn new(role: ChatRole, content: impl Into<String>) -> Self {
        Self { role, content: content.into(), tool_calls: Vec::new(), tool_call_id: None }
    }

    pub fn system(content: impl Into<String>) -> Self {
        Self::new(ChatRole::System, content)
    }

    pub fn user(content: impl Into<String>) -> Self {
        Self::new(ChatRole::User, content)
    }

    pub(crate) fn to_wire(&self) -> Value {
        let mut wire = json!({ "role": self.role.name(), "content": self.content });
        if !self.tool_calls.is_empty() {
            wire["tool_calls"] = self.tool_calls.iter().map(FunctionCall::to_wire).collect();
        }
        if let Some(id) = &self.tool_call_id {
            wire["tool_call_id"] = json!(id);
        }
        wire
    }
}

impl FunctionCall {
    fn to_wire(&self) -> Value {
        let function = json!({ "name": self.name, "arguments": self.arguments });
        json!({ "id": self.id, "type": "function", "function": function })
    }
}

impl FunctionSpec {
    pub(crate) fn to_wire(&self) -> Value {
        let Self { name, description, parameters } = self;
        json!({ "type": "function",
                "function": { "name": name, "description": description, "parameters": parameters } })
    }
}
