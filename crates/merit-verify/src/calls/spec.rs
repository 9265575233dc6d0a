//! What tools there are, and what was called: plain data.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A tool, as chat interfaces describe it: bare, or wrapped as `{"type": "function", "function": {…}}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Value")]
pub struct ToolSchema {
    pub name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// JSON Schema of its arguments; `{}` takes any.
    pub parameters: Value,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Function {
    name: String,
    #[serde(default)]
    description: String,
    #[serde(default = "no_arguments")]
    parameters: Value,
    /// Whether a decoder was held to the schema; says nothing about a call.
    #[serde(default, rename = "strict")]
    _strict: Option<bool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wrapped {
    #[serde(rename = "type")]
    _type: FunctionTag,
    function: Function,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum FunctionTag {
    Function,
}

fn no_arguments() -> Value {
    serde_json::json!({"type": "object", "properties": {}, "additionalProperties": false})
}

impl TryFrom<Value> for ToolSchema {
    type Error = serde_json::Error;

    fn try_from(value: Value) -> Result<Self, serde_json::Error> {
        let is_wrapped = value.get("function").is_some();
        let function: Function = if is_wrapped {
            serde_json::from_value::<Wrapped>(value)?.function
        } else {
            serde_json::from_value(value)?
        };
        Ok(Self { name: function.name, description: function.description, parameters: function.parameters })
    }
}

/// A call as the policy wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// The tool's name; it may not exist.
    pub tool: String,
    /// The raw JSON of the arguments; it may be broken.
    pub arguments: String,
}

/// One step of a trace, in the order of time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Step {
    /// Something the agent was shown: a task, a user's words, a tool's answer.
    Observation { text: String },
    Call {
        tool: String,
        /// The raw JSON of the arguments.
        arguments: String,
    },
}
