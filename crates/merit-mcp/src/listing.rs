//! The tools of a server: all pages, each tool checked.

use crate::fault::Fault;
use crate::peer::Peer;
use merit_net::text::glimpse;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::HashSet;

/// The most tools a server may list.
pub const MAX_TOOLS: usize = 16_384;
/// The longest name of a tool, in bytes.
pub const MAX_NAME: usize = 128;
/// The longest description of a tool, in bytes.
pub const MAX_DESCRIPTION: usize = 64 << 10;
/// The largest schema of a tool's arguments, as JSON text in bytes.
pub const MAX_SCHEMA: usize = 256 << 10;
/// The most memory that all descriptions and schemas may take together, in bytes.
const MAX_LISTING: usize = 64 << 20;

/// A tool that a server offers.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolInfo {
    /// What it is called by; unique within its server.
    pub name: String,
    /// What it does, in the server's words; empty when the server says nothing.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub input_schema: Value,
}

/// Why there is no list.
pub(crate) enum NoList {
    Fault(Fault),
    Protocol(String),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page {
    tools: Vec<Listed>,
    next_cursor: Option<String>,
}

/// A tool as it is listed; what else a server says of it is not used.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Listed {
    name: String,
    description: Option<String>,
    input_schema: Map<String, Value>,
}

/// All tools, in the server's order.
pub(crate) async fn all_tools(peer: &Peer) -> Result<Vec<ToolInfo>, NoList> {
    let mut listing = Listing::default();
    let mut cursor: Option<String> = None;
    loop {
        let params = cursor.take().map_or(json!({}), |cursor| json!({"cursor": cursor}));
        let answer = peer.ask("tools/list", params).await.map_err(NoList::Fault)?;
        let page = Page::deserialize(&answer).map_err(|_| NoList::Protocol(diagnosis(&answer)))?;
        for tool in page.tools {
            listing.add(tool).map_err(NoList::Protocol)?;
        }
        let Some(next) = page.next_cursor else { return Ok(listing.tools) };
        listing.turn(&next).map_err(NoList::Protocol)?;
        cursor = Some(next);
    }
}

#[derive(Default)]
struct Listing {
    tools: Vec<ToolInfo>,
    names: HashSet<String>,
    /// The pages seen, so that a list that goes round in a circle ends.
    cursors: HashSet<String>,
    bytes: usize,
}

impl Listing {
    fn turn(&mut self, next: &str) -> Result<(), String> {
        if !self.cursors.insert(next.to_owned()) || self.cursors.len() > MAX_TOOLS {
            return Err("its list of tools does not end: a page points back to an earlier one".to_owned());
        }
        Ok(())
    }

    fn add(&mut self, tool: Listed) -> Result<(), String> {
        let name = tool.name;
        check_name(&name)?;
        let description = tool.description.unwrap_or_default();
        if description.len() > MAX_DESCRIPTION {
            return Err(format!(
                "tool `{name}`: its description has {} bytes (at most {MAX_DESCRIPTION})",
                description.len()
            ));
        }
        let input_schema = Value::Object(tool.input_schema);
        let size = check_schema(&name, &input_schema)?;
        self.bytes += description.len() + size;
        if self.tools.len() == MAX_TOOLS || self.bytes > MAX_LISTING {
            return Err(format!("it lists more than {MAX_TOOLS} tools or {MAX_LISTING} bytes of them"));
        }
        if !self.names.insert(name.clone()) {
            return Err(format!("it lists the tool `{name}` twice"));
        }
        self.tools.push(ToolInfo { name, description, input_schema });
        Ok(())
    }
}

/// Names that models can write and logs can show.
pub(crate) fn check_name(name: &str) -> Result<(), String> {
    if name.is_empty() || name.len() > MAX_NAME {
        return Err(format!(
            "a tool's name has {} bytes (1 to {MAX_NAME}): {:?}",
            name.len(),
            glimpse(name, 60)
        ));
    }
    match name.chars().find(|c| c.is_whitespace() || c.is_control()) {
        Some(bad) => Err(format!("the tool's name {name:?} holds {bad:?}; no spaces or control characters")),
        None => Ok(()),
    }
}

/// The size of the schema as text, when it describes an object and is not too large.
pub(crate) fn check_schema(name: &str, schema: &Value) -> Result<usize, String> {
    match schema.get("type") {
        Some(Value::String(kind)) if kind == "object" => {}
        Some(other) => {
            return Err(format!("tool `{name}`: its arguments must be an object, its schema says {other}"));
        }
        None if schema.is_object() => {}
        None => return Err(format!("tool `{name}`: its schema is no JSON object")),
    }
    let size = schema.to_string().len();
    if size > MAX_SCHEMA {
        return Err(format!("tool `{name}`: its schema has {size} bytes (at most {MAX_SCHEMA})"));
    }
    Ok(size)
}

/// What is wrong with an answer to tools/list that could not be read, naming the tool where it can.
fn diagnosis(answer: &Value) -> String {
    let Some(tools) = answer.get("tools").and_then(Value::as_array) else {
        return format!("its answer to tools/list has no `tools`: {}", glimpse(&answer.to_string(), 200));
    };
    for (index, tool) in tools.iter().enumerate() {
        if let Err(error) = Listed::deserialize(tool) {
            let named = match tool.get("name").and_then(Value::as_str) {
                Some(name) => format!("tool `{}`", glimpse(name, MAX_NAME)),
                None => format!("tool number {}", index + 1),
            };
            return format!("{named} is malformed: {error}");
        }
    }
    "its answer to tools/list is malformed".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(tools: Value, expected: &str) {
        let mut listing = Listing::default();
        let tools: Vec<Listed> = serde_json::from_value(tools).unwrap();
        let error = tools.into_iter().find_map(|tool| listing.add(tool).err()).unwrap();
        assert!(error.contains(expected), "{error}");
    }

    #[test]
    fn a_tool_that_cannot_be_offered_is_named() {
        check(json!([{"name": "", "inputSchema": {}}]), "has 0 bytes");
        check(json!([{"name": "x".repeat(200), "inputSchema": {}}]), "has 200 bytes");
        check(json!([{"name": "a b", "inputSchema": {}}]), "\"a b\"");
        check(json!([{"name": "a", "inputSchema": {"type": "string"}}]), "tool `a`: its arguments");
        check(
            json!([{"name": "a", "inputSchema": {"x": "y".repeat(MAX_SCHEMA)}}]),
            "tool `a`: its schema has",
        );
        check(json!([{"name": "a", "inputSchema": {}}, {"name": "a", "inputSchema": {}}]), "`a` twice");
        check(
            json!([{"name": "a", "inputSchema": {}, "description": "d".repeat(MAX_DESCRIPTION + 1)}]),
            "description",
        );
    }

    #[test]
    fn an_unreadable_list_names_the_tool() {
        let answer = json!({"tools": [{"name": "good", "inputSchema": {}}, {"name": "bad"}]});
        assert!(diagnosis(&answer).starts_with("tool `bad` is malformed: missing field `inputSchema`"));
        assert!(diagnosis(&json!({"tools": [{}]})).starts_with("tool number 1"));
        assert!(diagnosis(&json!({"toools": []})).contains("no `tools`"));
    }
}
