//! SQLite for agents: one statement in, a small table of text out.
//!
//! The database is a file, a script of the settings, or a script of the task. Agents only read it, unless `writable` gives
//! each episode a copy in memory; its snapshot is that copy. What a statement may do and use is guarded by
//! [`merit_verify::sql`]: no files, no other databases, no clock, no chance, bounded steps, rows and bytes.

mod config;
mod session;
mod source;
mod table;

use crate::registry::{ToolEntry, ToolSettings};
use crate::{Pace, Tool, ToolCard, ToolError, ToolSession};
use merit_core::{About, Task};
use serde_json::Value;
use source::Source;
use std::sync::{Arc, LazyLock};

pub use config::SqlToolConfig;

/// What the registry says of it.
const ABOUT: About =
    About { name: "sql", summary: "SQLite: one statement, its rows as a small table.", paper: "" };

/// In the registry.
pub(crate) const ENTRY: ToolEntry = ToolEntry {
    about: ABOUT,
    example: "script = \"CREATE TABLE goods (name, price); INSERT INTO goods VALUES ('mug', 47), ('pen', 12);\"",
    needs: "",
};

/// Names and definitions of the tables, which every database has.
const EXAMPLE: &str = "SELECT name, sql FROM sqlite_schema";

static READ_CARD: LazyLock<ToolCard> = LazyLock::new(|| {
    let summary = "Runs one SQLite query (SELECT, WITH or VALUES), read-only. \
        Tables and columns: SELECT name, sql FROM sqlite_schema.";
    ToolCard::text(ABOUT.name, summary, "query", "one SQLite query", EXAMPLE)
});
static WRITE_CARD: LazyLock<ToolCard> = LazyLock::new(|| {
    let summary = "Runs one SQLite statement; changes are kept, each statement whole or not at all, without \
        transactions. Tables and columns: SELECT name, sql FROM sqlite_schema.";
    ToolCard::text(ABOUT.name, summary, "query", "one SQLite statement", EXAMPLE)
});

/// SQLite as a tool.
#[derive(Debug)]
pub struct Sql {
    config: SqlToolConfig,
    source: Source,
}

impl Sql {
    /// Checks the settings and opens the database where they name one.
    pub fn new(config: SqlToolConfig) -> Result<Self, ToolError> {
        config.check()?;
        let source = Source::new(&config)?;
        Ok(Self { config, source })
    }
}

impl ToolSettings for SqlToolConfig {
    fn build(&self) -> Result<Vec<Arc<dyn Tool>>, ToolError> {
        Ok(vec![Arc::new(Sql::new(self.clone())?)])
    }
}

impl Tool for Sql {
    fn card(&self) -> &ToolCard {
        if self.config.writable { &WRITE_CARD } else { &READ_CARD }
    }

    fn pace(&self) -> Pace {
        Pace::Computing
    }

    fn open(&self, task: &Task, state: Option<&Value>) -> Result<Arc<dyn ToolSession>, ToolError> {
        let database = self.source.database(task)?;
        session::open(&self.config, database, task, state)
    }
}
