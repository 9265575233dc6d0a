//! A conversation as templates see it.
//!
//! Messages carry a role by the template's own word, a text, and for tools what was called and which call is answered.
//! Fields that are absent are not there for the template either.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A message as chat templates read it: role, text, calls.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChatMessage {
    /// `system`, `user`, `assistant`, `tool`, or what else the template knows.
    pub role: String,
    /// What is said; may be empty when tools are called.
    #[serde(default)]
    pub content: String,
    /// What the assistant calls. Empty: nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<CalledFunction>,
    /// The tool that answers, in a message of a tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The call that is answered, in a message of a tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
}

impl ChatMessage {
    /// A message that only says something.
    pub fn new(role: impl Into<String>, content: impl Into<String>) -> Self {
        let (role, content) = (role.into(), content.into());
        Self { role, content, tool_calls: Vec::new(), name: None, tool_call_id: None }
    }
}

/// A call of a tool, as an assistant message carries it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CalledFunction {
    /// The call's own name, for the answer to refer to. Absent: the template is shown none.
    #[serde(default)]
    pub id: Option<String>,
    pub name: String,
    /// Its arguments, usually an object.
    pub arguments: Value,
}

/// A tool that the model may call.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChatTool {
    pub name: String,
    pub description: String,
    /// The JSON Schema of its arguments.
    pub parameters: Value,
}

#[derive(Serialize)]
struct Typed<T> {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    function: T,
}

#[derive(Serialize)]
struct Called<'a> {
    name: &'a str,
    arguments: &'a Value,
}

#[derive(Serialize)]
struct Specified<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
}

impl Serialize for CalledFunction {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let function = Called { name: &self.name, arguments: &self.arguments };
        Typed { kind: "function", id: self.id.clone(), function }.serialize(serializer)
    }
}

impl Serialize for ChatTool {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let function =
            Specified { name: &self.name, description: &self.description, parameters: &self.parameters };
        Typed { kind: "function", id: None, function }.serialize(serializer)
    }
}
