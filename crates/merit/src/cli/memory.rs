//! `merit memory`.

use clap::{ArgGroup, Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum Memory {
    /// Put items into a memory, from lines or from a run; makes the memory where there is none.
    Add(MemoryAdd),
    /// What is in a memory: its settings, its newest changes, its items.
    Look {
        /// The memory's folder.
        folder: PathBuf,
        /// One item by its number, with everything that is known of it.
        #[arg(long, value_name = "NUMBER")]
        id: Option<i64>,
        /// Items that are shown, the newest.
        #[arg(long, default_value_t = 10)]
        limit: usize,
        /// JSON instead of words.
        #[arg(long)]
        json: bool,
    },
    /// Find items for a query.
    Search {
        /// The memory's folder.
        folder: PathBuf,
        /// What is looked for.
        query: String,
        /// Items at most.
        #[arg(short, long, default_value_t = 5)]
        k: usize,
        /// Words of all items together, at most.
        #[arg(long)]
        words: Option<usize>,
        /// Another way than the memory's own: exact, words, dense, hybrid or graph.
        #[arg(long, value_name = "WAY", value_parser = setting::<merit_memory::Retrieval>)]
        by: Option<merit_memory::Retrieval>,
        /// JSON instead of words.
        #[arg(long)]
        json: bool,
    },
    /// Forget items: down to a number, those that lose, or one.
    #[command(group = ArgGroup::new("which").required(true).args(["to", "losing", "id"]))]
    Prune {
        /// The memory's folder.
        folder: PathBuf,
        /// Forget down to so many items, by the memory's own rule.
        #[arg(long, value_name = "ITEMS")]
        to: Option<usize>,
        /// Forget items that lost more often than they won, and at least so often.
        #[arg(long, value_name = "LOSSES")]
        losing: Option<u64>,
        /// Forget one item.
        #[arg(long, value_name = "NUMBER")]
        id: Option<i64>,
        /// JSON instead of words.
        #[arg(long)]
        json: bool,
    },
    /// Write every item as a JSON line, as `merit memory add` reads it.
    Export {
        /// The memory's folder.
        folder: PathBuf,
    },
}

#[derive(Debug, Args)]
pub(crate) struct MemoryAdd {
    /// The memory's folder.
    pub(crate) folder: PathBuf,
    /// Lines, each plain text or a JSON object with `text` and, if wanted, `key`, `payload`, `about`, `edges`, `made_by` and `value`; or the folder of a run, whose
    /// episodes are learned from and whose hints say which items won.
    pub(crate) from: PathBuf,
    /// What an item is, where a memory is made: facts, experiences, reflections or profile [default: facts].
    #[arg(long, value_parser = setting::<merit_memory::Kind>)]
    pub(crate) kind: Option<merit_memory::Kind>,
    /// How items are found, where a memory is made: exact, words, dense, hybrid or graph [default: words].
    #[arg(long, value_parser = setting::<merit_memory::Retrieval>)]
    pub(crate) retrieval: Option<merit_memory::Retrieval>,
    /// Most items, where a memory is made [default: 1000000].
    #[arg(long)]
    pub(crate) capacity: Option<usize>,
    /// Which items go first, where a memory is made: oldest, least-used or least-worth [default: oldest].
    #[arg(long, value_parser = setting::<merit_memory::Forgetting>)]
    pub(crate) forgetting: Option<merit_memory::Forgetting>,
    /// Questions that an item must not make worse, one JSON object with `query` and `expect` a line.
    #[arg(long, value_name = "FILE")]
    pub(crate) questions: Option<PathBuf>,
    /// How much of the mean rank of answers an item may cost.
    #[arg(long, default_value_t = 0.0, requires = "questions", allow_negative_numbers = true)]
    pub(crate) margin: f64,
    /// The reward of an episode of a run from which on it is learned from [default: 0.7].
    #[arg(long, allow_negative_numbers = true)]
    pub(crate) stored_at: Option<f64>,
    /// JSON instead of words.
    #[arg(long)]
    pub(crate) json: bool,
}

/// A word as settings have it.
fn setting<T: serde::de::DeserializeOwned>(word: &str) -> Result<T, String> {
    serde_json::from_value(serde_json::Value::String(word.to_owned())).map_err(|why| why.to_string())
}
