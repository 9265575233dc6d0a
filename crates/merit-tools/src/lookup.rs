//! Facts that only asking reveals: answers a name from the table of the open task.
//!
//! In: `task.payload["table"]`, an object from names to numbers or strings. Out: the value, or a refusal that names the
//! nearest entry. The policy never sees the table itself.

use crate::{Tool, ToolAnswer, ToolError, ToolFuture, ToolSession, ToolSettings, ToolSpec, no_state};
use merit_core::registry::Component;
use merit_core::{About, Task, registry};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

/// Longest name that is looked for, in bytes.
pub const MAX_KEY_LENGTH: usize = 64;

/// What the registry says of it.
const ABOUT: About = About { name: "lookup", summary: "The value of a name in the task's table.", paper: "" };

/// `lookup`: it has no settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LookupConfig {}

impl Component for LookupConfig {
    const ABOUT: About = ABOUT;
}

impl ToolSettings for LookupConfig {
    fn build(&self) -> Result<Vec<Arc<dyn Tool>>, ToolError> {
        Ok(vec![Arc::new(Lookup)])
    }
}

static CARD: LazyLock<ToolSpec> =
    LazyLock::new(|| ToolSpec::text(ABOUT.name, ABOUT.summary, "name", "a name in the table", "mug"));

/// The table of the open task.
#[derive(Debug, Clone, Copy, Default)]
pub struct Lookup;

struct Session {
    table: BTreeMap<String, String>,
}

impl Tool for Lookup {
    fn spec(&self) -> &ToolSpec {
        &CARD
    }

    fn open(&self, task: &Task, state: Option<&Value>) -> Result<Arc<dyn ToolSession>, ToolError> {
        no_state(ABOUT.name, state)?;
        let table = read_table(&task.payload).map_err(|why| ToolError::Task {
            tool: ABOUT.name.to_owned(),
            task: task.id.clone(),
            why,
        })?;
        Ok(Arc::new(Session { table }))
    }
}

impl ToolSession for Session {
    fn call(self: Arc<Self>, input: String) -> ToolFuture {
        Box::pin(std::future::ready(self.answer(input.trim())))
    }
}

impl Session {
    fn answer(&self, key: &str) -> ToolAnswer {
        if key.is_empty() || key.len() > MAX_KEY_LENGTH {
            return ToolAnswer::Refused("look up one name".to_owned());
        }
        if let Some(value) = self.table.get(key) {
            return ToolAnswer::Ok(value.clone());
        }
        let shown: String = key.chars().filter(|c| !c.is_control()).collect();
        ToolAnswer::Refused(match registry::nearest(key, self.table.keys().map(String::as_str)) {
            Some(nearest) => format!("no entry `{shown}`; nearest: {nearest}"),
            None => format!("no entry `{shown}`"),
        })
    }
}

fn read_table(payload: &Value) -> Result<BTreeMap<String, String>, String> {
    let table = payload.get("table").ok_or("its payload has no `table`")?;
    let table = table.as_object().ok_or("its `table` is not an object")?;
    let read = |(name, value): (&String, &Value)| match value {
        Value::Number(number) => Ok((name.clone(), number.to_string())),
        Value::String(text) => Ok((name.clone(), text.clone())),
        _ => Err(format!("entry `{name}` of its `table` is neither a number nor a string")),
    };
    table.iter().map(read).collect()
}
