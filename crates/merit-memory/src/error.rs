//! What can go wrong, and whose fault it is: the caller's settings or lines, or the disk.

use merit_core::gate::GateError;
use merit_search::SearchError;
use std::path::Path;

/// Why a memory could not be made, opened, changed or asked.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// There is no memory here.
    #[error("{folder} is no memory: it has no `memory.toml`; `merit memory add {folder} FILE` makes one")]
    NotAMemory { folder: String },
    /// A memory is here already.
    #[error("{folder} is a memory already; add to it, or name another folder")]
    Exists { folder: String },
    /// A setting that cannot work.
    #[error("memory: {0}")]
    Setting(String),
    /// A line that is no item.
    #[error("{source_name}, line {line}: {why}")]
    Line { source_name: String, line: usize, why: String },
    /// Another program wrote this, or a newer one.
    #[error("{folder} has memory format {found}; this program reads format {known}")]
    Format { folder: String, found: String, known: u32 },
    /// The gate had nothing to decide by.
    #[error("the gate of a memory cannot decide: {0}")]
    Gate(#[from] GateError),
    #[error("memory: {0}")]
    Search(#[from] SearchError),
    #[error("memory: the database failed: {0}")]
    Database(#[from] rusqlite::Error),
    #[error("memory: cannot use {path}: {why}")]
    Io { path: String, why: String },
}

impl MemoryError {
    pub(crate) fn io(path: &Path, why: impl std::fmt::Display) -> Self {
        Self::Io { path: path.display().to_string(), why: why.to_string() }
    }

    /// Whether the caller can mend it: other input, not another disk.
    pub fn wrong_input(&self) -> bool {
        matches!(
            self,
            Self::NotAMemory { .. }
                | Self::Exists { .. }
                | Self::Setting(_)
                | Self::Line { .. }
                | Self::Format { .. }
                | Self::Gate(_)
        )
    }
}
