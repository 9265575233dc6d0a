//! What a memory holds, as plain data.

use serde::{Deserialize, Serialize};

/// Something that may become an item.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Candidate {
    /// What it is found by. Absent: its text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// What a policy is shown of it.
    pub text: String,
    /// Anything else that belongs to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<serde_json::Value>,
    /// What it is about; items that are about the same are joined.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edges: Vec<Edge>,
    #[serde(default)]
    pub made_by: MadeBy,
    /// Its worth when it was made, e.g. the reward of its episode.
    #[serde(default)]
    pub value: f64,
}

impl Candidate {
    /// An item that is found by its own words.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// What it is found by.
    pub fn found_by(&self) -> &str {
        self.key.as_deref().unwrap_or(&self.text)
    }
}

/// A typed edge from an item to what it is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edge {
    /// How they belong together, e.g. `head`, `tail`, `source`.
    pub relation: String,
    /// The name of the other end.
    pub to: String,
}

/// Where an item comes from.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MadeBy {
    /// A run, a file, or the name of the program or person that added it.
    pub run: String,
    /// The version of the policy in that run.
    #[serde(default)]
    pub policy_version: u64,
    /// What tells the task it was formed from; an item is not shown with its own task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
}

/// An item of a memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Item {
    /// Its number; never given twice.
    pub id: i64,
    pub key: String,
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<serde_json::Value>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edges: Vec<Edge>,
    pub made_by: MadeBy,
    /// The version of the memory in which it was last changed.
    pub version: u64,
    /// How often the same was offered again.
    pub repeats: u64,
    /// How often it was shown, and how often what followed was better or worse than usual.
    pub uses: u64,
    pub wins: u64,
    pub losses: u64,
    pub value: f64,
}

impl From<Item> for Candidate {
    /// As it would be offered to another memory.
    fn from(item: Item) -> Self {
        Self {
            key: (item.key != item.text).then_some(item.key),
            text: item.text,
            payload: item.payload,
            edges: item.edges,
            made_by: item.made_by,
            value: item.value,
        }
    }
}
