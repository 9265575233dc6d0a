//! A tool as it is declared: by merit's own keys, or as chat interfaces list functions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::io::Read as _;
use std::path::Path;

/// Largest file of declarations, in bytes.
const FILE_BYTES: u64 = 16 << 20;

/// A tool, declared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Declaration {
    /// The name that agents call it by.
    pub name: String,
    /// What it does, in one line. `description` says the same.
    #[serde(default, alias = "description")]
    #[schemars(extend("aliases" = ["description"]))]
    pub summary: String,
    /// JSON Schema of its arguments; none where absent.
    #[serde(default = "no_arguments")]
    pub parameters: Value,
    /// JSON Schema of its output. Absent: nothing is known of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub returns: Option<Value>,
    /// Calls whose outputs are known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<Example>,
}

/// A call whose output is known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Example {
    /// The arguments of the call.
    pub arguments: Value,
    /// The output: a text as it is, or JSON.
    pub output: Value,
}

fn no_arguments() -> Value {
    json!({ "type": "object", "properties": {}, "additionalProperties": false })
}

/// The declarations of a file: a JSON array, or an object with the array as `tools`.
pub(super) fn read_file(path: &Path) -> Result<Vec<Declaration>, String> {
    let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
    let mut text = String::new();
    file.take(FILE_BYTES + 1).read_to_string(&mut text).map_err(|error| error.to_string())?;
    if text.len() as u64 > FILE_BYTES {
        return Err(format!("it has more than {FILE_BYTES} bytes"));
    }
    let whole: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let list = match whole {
        Value::Array(list) => list,
        Value::Object(mut map) if map.len() == 1 => match map.remove("tools") {
            Some(Value::Array(list)) => list,
            _ => {
                return Err("it is neither an array of tools nor an object with the array `tools`".to_owned());
            }
        },
        _ => return Err("it is neither an array of tools nor an object with the array `tools`".to_owned()),
    };
    list.into_iter()
        .enumerate()
        .map(|(i, value)| read(value).map_err(|why| format!("tool {i}: {why}")))
        .collect()
}

/// One declaration, bare or wrapped as `{"type": "function", "function": {…}}`.
fn read(value: Value) -> Result<Declaration, String> {
    let mut bare = match value {
        Value::Object(mut map) if map.contains_key("function") => {
            let function = map.remove("function").unwrap_or_default();
            if map.len() != 1 || map.get("type") != Some(&json!("function")) {
                return Err("a function is wrapped as {\"type\": \"function\", \"function\": {…}}".to_owned());
            }
            function
        }
        other => other,
    };
    if let Some(map) = bare.as_object_mut() {
        // Whether a decoder is held to the schema says nothing about the tool.
        map.remove("strict");
    }
    serde_json::from_value(bare).map_err(|error| error.to_string())
}
