//! Search over a corpus: the documents that speak of a query, and, when asked for, a second tool that opens one of them whole.
//!
//! In: plain words. Out: the best documents with their id, title and the passage that fits. The corpus is a file shared by all
//! episodes, or comes with the task. A query that finds nothing is a refusal: the agent should ask otherwise.

mod corpora;
mod meaning;
mod sessions;

use crate::{ExecKind, Tool, ToolError, ToolSession, ToolSettings, ToolSpec, no_state};
use corpora::Corpora;
pub use meaning::EmbeddingConfig;
use merit_core::registry::{Component, Refusal};
use merit_core::{About, Task};
use merit_search::IndexConfig;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;

const ABOUT: About = About {
    name: "search",
    summary: "Finds the documents that speak of a query; ranks by words (BM25), by vectors, or both.",
    paper: "Search-R1: Training LLMs to Reason and Leverage Search Engines with Reinforcement Learning (2025)",
};

/// The name of the second tool.
const OPEN: &str = "open";

/// `search`: the documents, and how they are ranked and shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SearchConfig {
    /// JSON lines with `text`, and `id` and `title` if there are any. Absent: the task brings `corpus`, a list of such objects.
    pub corpus: Option<PathBuf>,
    /// Documents shown for a query.
    pub hits: usize,
    /// Also offer `open`, which shows a whole document by its id.
    pub open: bool,
    /// Longest part of a document that `open` shows, in characters.
    pub opened_chars: usize,
    /// How the corpus is indexed.
    pub index: IndexConfig,
    /// Vectors by a model that reads for meaning, beside the words. Absent: what `index.dense` says, or words only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub embedding: Option<EmbeddingConfig>,
}

impl Default for SearchConfig {
    fn default() -> Self {
        Self {
            corpus: None,
            hits: 3,
            open: false,
            opened_chars: 4_000,
            index: IndexConfig::default(),
            embedding: None,
        }
    }
}

impl Component for SearchConfig {
    const ABOUT: About = ABOUT;

    fn check(&self) -> Result<(), Refusal> {
        Refusal::unless((1..=50).contains(&self.hits), "hits", self.hits, "1 to 50")?;
        let chars = self.opened_chars;
        Refusal::unless((100..=1_000_000).contains(&chars), "opened_chars", chars, "100 to 1000000")
    }
}

impl ToolSettings for SearchConfig {
    fn build(&self) -> Result<Vec<Arc<dyn Tool>>, ToolError> {
        let setting = |why: String| ToolError::Setting { tool: ABOUT.name.to_owned(), why };
        self.check().map_err(|refusal| ToolError::refused(ABOUT.name, refusal))?;
        let corpora = Arc::new(Corpora::new(self).map_err(setting)?);
        let kinds = if self.open { vec![Kind::Search, Kind::Open] } else { vec![Kind::Search] };
        let make = |kind| Arc::new(Search::new(kind, self, Arc::clone(&corpora))) as Arc<dyn Tool>;
        Ok(kinds.into_iter().map(make).collect())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Search,
    Open,
}

/// One of the two tools over a corpus.
pub struct Search {
    kind: Kind,
    card: ToolSpec,
    corpora: Arc<Corpora>,
    hits: usize,
    opened_chars: usize,
}

impl Search {
    fn new(kind: Kind, config: &SearchConfig, corpora: Arc<Corpora>) -> Self {
        let card = match kind {
            Kind::Search => ToolSpec::text(ABOUT.name, ABOUT.summary, "query", "plain words", "blue mug"),
            Kind::Open => ToolSpec::text(
                OPEN,
                "Shows a whole document.",
                "id",
                "the id of a document that was found",
                "mug",
            ),
        };
        Self { kind, card, corpora, hits: config.hits, opened_chars: config.opened_chars }
    }
}

impl Tool for Search {
    fn spec(&self) -> &ToolSpec {
        &self.card
    }

    fn exec_kind(&self) -> ExecKind {
        ExecKind::Computing
    }

    fn open(&self, task: &Task, state: Option<&Value>) -> Result<Arc<dyn ToolSession>, ToolError> {
        no_state(&self.card.name, state)?;
        let why = |why: String| ToolError::Task { tool: self.card.name.clone(), task: task.id.clone(), why };
        let index = self.corpora.of(task).map_err(why)?;
        Ok(match self.kind {
            Kind::Search => Arc::new(sessions::Searching { index, hits: self.hits }),
            Kind::Open => Arc::new(sessions::Opening { index, most: self.opened_chars }),
        })
    }
}
