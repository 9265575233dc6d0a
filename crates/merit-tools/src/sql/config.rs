//! The settings of `sql`.

use super::ABOUT;
use crate::ToolError;
use merit_core::registry::Refusal;
use merit_verify::sql::SqlLimits;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Most bytes of an episode's own copy, where nothing else is said.
const COPY_BYTES: u64 = 4 << 20;

/// `sql`. With neither `database` nor `script`, each task brings a script as `database` in its payload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SqlToolConfig {
    /// A SQLite file, which is never written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub database: Option<PathBuf>,
    /// Statements that make the database.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub script: Option<String>,
    /// Each episode has a copy in memory that it may change.
    pub writable: bool,
    /// Most bytes of such a copy; 4 MiB where absent. Only with `writable`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copy_bytes: Option<u64>,
    /// Rows that are shown; the others are counted.
    pub shown_rows: usize,
    /// Bytes of a table that are shown.
    pub shown_bytes: usize,
    /// What one statement may use.
    pub limits: SqlLimits,
}

impl Default for SqlToolConfig {
    fn default() -> Self {
        // An agent waits for its answer, so a statement ends sooner than one that is judged.
        let limits = SqlLimits { wall_ms: 5_000, ..SqlLimits::default() };
        Self {
            database: None,
            script: None,
            writable: false,
            copy_bytes: None,
            shown_rows: 50,
            shown_bytes: 4_000,
            limits,
        }
    }
}

impl SqlToolConfig {
    /// Most bytes of an episode's copy.
    pub(super) fn copy_bytes(&self) -> u64 {
        self.copy_bytes.unwrap_or(COPY_BYTES)
    }

    /// Whether the settings can work; opens nothing.
    pub(super) fn possible(&self) -> Result<(), Refusal> {
        self.limits.check().map_err(|error| Refusal::new(error.to_string()))?;
        if self.database.is_some() && self.script.is_some() {
            return Err(Refusal::new("`database` and `script` are both given; keep one"));
        }
        if self.copy_bytes.is_some() && !self.writable {
            let why = "`copy_bytes` bounds a copy that may be changed; set `writable = true` or leave it out";
            return Err(Refusal::new(why));
        }
        let ranges = [
            ("shown_rows", self.shown_rows as u64, 1, 10_000),
            ("shown_bytes", self.shown_bytes as u64, 200, 1 << 20),
            ("copy_bytes", self.copy_bytes(), 1 << 16, 1 << 30),
        ];
        for (key, got, least, most) in ranges {
            Refusal::unless((least..=most).contains(&got), key, got, &format!("{least} to {most}"))?;
        }
        Ok(())
    }
}

/// A setting that cannot be.
pub(super) fn setting(why: String) -> ToolError {
    ToolError::Setting { tool: ABOUT.name.to_owned(), why }
}
