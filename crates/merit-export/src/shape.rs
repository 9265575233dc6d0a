//! The shapes of rows, as other trainers read them.
//!
//! | shape | read by | a row is |
//! |---|---|---|
//! | `messages` | TRL's SFT, and most others | an episode |
//! | `prompt-completion` | TRL's SFT | an episode, parted where the policy first speaks |
//! | `preference` | TRL's DPO | a pair of one group |
//! | `grpo` | TRL's GRPO | a task: the trainer samples itself |
//! | `verl` | verl's RL data set | a task |

use crate::{Conversation, Taken, conversation};
use merit_core::registry::{UnknownName, nearest};
use merit_core::{Episode, ScoredEpisode};
use serde_json::{Value, json};
use std::collections::HashSet;

/// The data sets that rows can be written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    Messages,
    PromptCompletion,
    Preference,
    Grpo,
    Verl,
}

impl Shape {
    pub const ALL: [Self; 5] =
        [Self::Messages, Self::PromptCompletion, Self::Preference, Self::Grpo, Self::Verl];

    pub fn named(name: &str) -> Result<Self, UnknownName> {
        let names = Self::ALL.map(Self::name);
        let unknown = || UnknownName {
            kind: "shape",
            name: name.to_owned(),
            nearest: nearest(name, names),
            known: names.map(str::to_owned).into(),
        };
        Self::ALL.into_iter().find(|shape| shape.name() == name).ok_or_else(unknown)
    }

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Messages => "messages",
            Self::PromptCompletion => "prompt-completion",
            Self::Preference => "preference",
            Self::Grpo => "grpo",
            Self::Verl => "verl",
        }
    }
}

/// Makes rows of one shape. Remembers the tasks it has seen, so that each is one row.
#[derive(Debug)]
pub struct Rows {
    shape: Shape,
    tasks: HashSet<String>,
}

impl Rows {
    pub fn new(shape: Shape) -> Self {
        Self { shape, tasks: HashSet::new() }
    }

    /// The rows of what was taken: of a pair one where the shape is for pairs, and otherwise one for each of the two.
    pub fn of(&mut self, taken: &Taken<'_>) -> Vec<Value> {
        let each = || [Some(taken.chosen), taken.rejected].into_iter().flatten();
        match (self.shape, taken.rejected) {
            (Shape::Messages, _) => each().map(messages).collect(),
            (Shape::PromptCompletion, _) => each().map(prompt_completion).collect(),
            (Shape::Preference, Some(rejected)) => vec![preference(taken.chosen, rejected)],
            (Shape::Preference, None) => Vec::new(),
            (Shape::Grpo | Shape::Verl, _) => self.task(&taken.chosen.episode).into_iter().collect(),
        }
    }

    fn task(&mut self, episode: &Episode) -> Option<Value> {
        let prompt = conversation(episode).prompt;
        let task = &episode.task;
        let same = json!([task.world, task.version, task.split.name(), task.id, prompt]).to_string();
        let index = self.tasks.len();
        let new = self.tasks.insert(same);
        new.then(|| match self.shape {
            Shape::Verl => verl(episode, prompt, index),
            _ => grpo(episode, prompt),
        })
    }
}

/// The row, with the tools that the agent was told of where the record says so.
fn with_tools(mut row: Value, scored: &ScoredEpisode) -> Value {
    if let Some(tools) = scored.episode.task.payload.get("tools").filter(|tools| tools.is_array()) {
        row["tools"] = tools.clone();
    }
    row
}

fn messages(scored: &ScoredEpisode) -> Value {
    with_tools(json!({ "messages": conversation(&scored.episode).messages() }), scored)
}

fn prompt_completion(scored: &ScoredEpisode) -> Value {
    let Conversation { prompt, completion } = conversation(&scored.episode);
    with_tools(json!({ "prompt": prompt, "completion": completion }), scored)
}

fn preference(chosen: &ScoredEpisode, rejected: &ScoredEpisode) -> Value {
    let Conversation { prompt, completion } = conversation(&chosen.episode);
    let rejected = conversation(&rejected.episode).completion;
    with_tools(json!({ "prompt": prompt, "chosen": completion, "rejected": rejected }), chosen)
}

fn grpo(episode: &Episode, prompt: Vec<Value>) -> Value {
    let task = &episode.task;
    json!({
        "prompt": prompt, "answer": task.answer, "task_id": task.id, "world": task.world,
        "split": task.split.name(), "size": task.size,
    })
}

fn verl(episode: &Episode, prompt: Vec<Value>, index: usize) -> Value {
    let task = &episode.task;
    json!({
        "data_source": task.world,
        "prompt": prompt,
        "ability": task.world,
        "reward_model": { "style": "rule", "ground_truth": task.answer },
        "extra_info": { "split": task.split.name(), "index": index, "task_id": task.id, "size": task.size },
    })
}
