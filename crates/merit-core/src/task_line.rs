//! One line of a task file: the same file feeds a world and the audit of a reward.

use crate::Split;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A task in a file of JSON lines.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskLine {
    /// Its name. Absent: the number of its line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What the agent is asked.
    pub prompt: String,
    /// The right final answer, which rewards hold answers against. Absent: the task has no single one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// What tools and rewards look up in the task.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub payload: Map<String, Value>,
    /// Which split it belongs to. Absent: its content decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<Split>,
    /// The tools that the agent has in this task. Empty: all that there are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// How long the shortest solution is. Absent: the turns that are shown, or 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u32>,
    /// What an agent does which solves the task, move by move, whatever the format of calls. Empty: in an audit, giving the right
    /// answer is enough.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gold_moves: Vec<Move>,
    /// What an agent says, turn by turn, word for word. Not beside `gold_moves`; audits do not read it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub demonstration: Vec<String>,
    /// A right answer as an agent would write it; only audits read it. Absent: `answer` itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gold: Option<String>,
    /// Plausible wrong answers; only audits read them. Empty: the right answers of the other tasks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<String>,
    /// Whether somebody outside reports if the task was done; only audits read it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reported: bool,
    /// Name of the world, for rewards that go by it; only audits read it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub world: Option<String>,
}

impl TaskLine {
    /// Reads one line; the error names the column, since every line is line 1 to the parser.
    ///
    /// ```
    /// let line = merit_core::TaskLine::read(r#"{"prompt": "2 + 2?", "answer": "4"}"#)?;
    /// assert_eq!(line.answer.as_deref(), Some("4"));
    /// assert!(merit_core::TaskLine::read(r#"{"promt": "2 + 2?"}"#).unwrap_err().starts_with("unknown field `promt`"));
    /// # Ok::<(), String>(())
    /// ```
    pub fn read(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| crate::expected::of_line(&error))
    }

    /// Whether it shows how it is done.
    pub fn shows_solution(&self) -> bool {
        !self.gold_moves.is_empty() || !self.demonstration.is_empty()
    }
}

/// One move of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Move {
    /// The final answer.
    Answer {
        /// What is answered.
        text: String,
    },
    /// Something said that is no answer.
    Say {
        /// The line, without the world's format.
        text: String,
    },
    /// A tool call.
    Call {
        /// Name of the tool that is called.
        tool: String,
        /// The input in the form that the tool reads.
        input: String,
        /// What it answers, where no tool is there to answer.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        output: String,
    },
    /// A turn word for word, not wrapped in the world's format.
    Raw {
        /// The turn as it is sent.
        text: String,
    },
}

impl Move {
    /// A call whose answer does not matter.
    pub fn call(tool: &str, input: &str) -> Self {
        Self::Call { tool: tool.to_owned(), input: input.to_owned(), output: String::new() }
    }

    /// What is written, with what it is in brackets.
    pub fn text(&self) -> String {
        match self {
            Self::Answer { text } | Self::Raw { text } => text.clone(),
            Self::Say { text } => format!("(says) {text}"),
            Self::Call { tool, input, .. } => format!("(calls {tool}) {input}"),
        }
    }
}
