//! One line of a task file, in the names that the files of rewards use.

use merit_core::Split;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A task in a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskLine {
    /// Its name. Absent: the number of its line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What the agent is asked.
    pub prompt: String,
    /// The right final answer. Absent: the task has no single one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// What tools and rewards look up in the task. `prompt` and `tools` are names of this world.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub payload: Map<String, Value>,
    /// Which split it belongs to. Absent: its content decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<Split>,
    /// The tools that the agent has in this task, of those in the recipe. Empty: all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// How long the shortest solution is. Absent: the turns that are shown, or 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u32>,
    /// What an agent does, move by move, whatever the format of calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gold_moves: Vec<GoldMove>,
    /// What an agent says, turn by turn, word for word. Not beside `gold_moves`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub demonstration: Vec<String>,
    /// A right answer as an agent would write it, for the audit of rewards; this world does not read it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gold: Option<String>,
    /// Plausible wrong answers, for the audit of rewards; this world does not read them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<String>,
    /// Whether somebody outside reports success, for the audit of rewards; this world does not read it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reported: bool,
}

/// One move of a solution.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum GoldMove {
    /// The final answer.
    Answer {
        /// What is answered.
        text: String,
    },
    /// Something said before the next move, in the same turn.
    Say {
        /// What is said.
        text: String,
    },
    /// A tool call.
    Call {
        /// The tool.
        tool: String,
        /// Its input.
        input: String,
        /// What it answers, for readers without the tool; here the tool itself answers.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        output: String,
    },
    /// A turn word for word.
    Raw {
        /// What is written.
        text: String,
    },
}

/// Names in the payload of a task that this world fills.
const OWN: [&str; 2] = ["prompt", "tools"];

impl TaskLine {
    /// Refuses what cannot be a task.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.prompt.trim().is_empty() {
            return Err("`prompt` is empty".to_owned());
        }
        if self.answer.as_ref().is_some_and(|answer| answer.trim().is_empty()) {
            return Err("`answer` is empty; leave it out where there is none".to_owned());
        }
        if let Some(name) = OWN.iter().find(|name| self.payload.contains_key(**name)) {
            return Err(format!("`payload` has `{name}`, a name of this world; call it otherwise"));
        }
        if self.size == Some(0) {
            return Err("`size` is 0; leave it out, or give 1 or more".to_owned());
        }
        let is_name =
            |id: &String| !id.is_empty() && !id.contains(|c: char| c.is_whitespace() || c.is_control());
        if let Some(id) = self.id.as_ref().filter(|id| !is_name(id)) {
            return Err(format!("`id` is {id:?}; give a name without blanks"));
        }
        if !self.gold_moves.is_empty() && !self.demonstration.is_empty() {
            return Err("both `gold_moves` and `demonstration` are given; keep one".to_owned());
        }
        Ok(())
    }

    /// The payload of its task: what the line gives, and what this world needs.
    pub(super) fn task_payload(&self) -> Value {
        let mut payload = self.payload.clone();
        payload.insert("prompt".to_owned(), Value::String(self.prompt.clone()));
        if !self.tools.is_empty() {
            payload.insert("tools".to_owned(), serde_json::json!(self.tools));
        }
        Value::Object(payload)
    }
}

/// The error without its place in the line's JSON where that says nothing: every line is line 1 to the parser.
pub(super) fn plain(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rsplit_once(" at line 1 column ") {
        Some((what, "0")) => what.to_owned(),
        Some((what, column)) => format!("{what} (column {column})"),
        None => text,
    }
}
