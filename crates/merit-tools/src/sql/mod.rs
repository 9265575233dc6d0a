//! SQLite for agents: one statement in, a small table of text out.
//!
//! The database is a file, a script of the settings, or a script of the task. Agents only read it, unless `writable` gives
//! each episode a copy in memory; its snapshot is that copy. What a statement may do and use is guarded by
//! [`merit_verify::sql`]: no files, no other databases, no clock, no chance, bounded steps, rows and bytes.

mod config;
mod session;
mod source;
mod table;

use crate::{ExecKind, Tool, ToolError, ToolSession, ToolSettings, ToolSpec};
use merit_core::registry::{Component, Refusal};
use merit_core::{About, Task};
use serde_json::Value;
use source::Source;
use std::sync::{Arc, LazyLock};

pub use config::SqlToolConfig;

/// What the registry says of it.
const ABOUT: About =
    About { name: "sql", summary: "SQLite: one statement, its rows as a small table.", paper: "" };

/// Names and definitions of the tables, which every database has.
const EXAMPLE: &str = "SELECT name, sql FROM sqlite_schema";

static READ_CARD: LazyLock<ToolSpec> = LazyLock::new(|| {
    let summary = "Runs one SQLite query (SELECT, WITH or VALUES), read-only. \
        Tables and columns: SELECT name, sql FROM sqlite_schema.";
    ToolSpec::text(ABOUT.name, summary, "query", "one SQLite query", EXAMPLE)
});
static WRITE_CARD: LazyLock<ToolSpec> = LazyLock::new(|| {
    let summary = "Runs one SQLite statement; changes are kept, each statement whole or not at all, without \
        transactions. Tables and columns: SELECT name, sql FROM sqlite_schema.";
    ToolSpec::text(ABOUT.name, summary, "query", "one SQLite statement", EXAMPLE)
});

#[derive(Debug)]
pub struct Sql {
    config: SqlToolConfig,
    source: Source,
}

impl Sql {
    /// Checks the settings and opens the database where they name one.
    pub fn new(config: SqlToolConfig) -> Result<Self, ToolError> {
        config.check().map_err(|refusal| ToolError::refused(ABOUT.name, refusal))?;
        let source = Source::new(&config)?;
        Ok(Self { config, source })
    }
}

impl Component for SqlToolConfig {
    const ABOUT: About = ABOUT;
    const EXAMPLE: &'static str =
        "script = \"CREATE TABLE goods (name, price); INSERT INTO goods VALUES ('mug', 47), ('pen', 12);\"";

    fn check(&self) -> Result<(), Refusal> {
        self.possible()
    }
}

impl ToolSettings for SqlToolConfig {
    fn timeout_s(&self) -> Option<f64> {
        Some(self.limits.wall_ms as f64 / 1000.0)
    }

    fn build(&self) -> Result<Vec<Arc<dyn Tool>>, ToolError> {
        Ok(vec![Arc::new(Sql::new(self.clone())?)])
    }
}

impl Tool for Sql {
    fn spec(&self) -> &ToolSpec {
        if self.config.writable { &WRITE_CARD } else { &READ_CARD }
    }

    fn exec_kind(&self) -> ExecKind {
        ExecKind::Computing
    }

    fn open(&self, task: &Task, state: Option<&Value>) -> Result<Arc<dyn ToolSession>, ToolError> {
        let database = self.source.database(task)?;
        session::open(&self.config, database, task, state)
    }
}
