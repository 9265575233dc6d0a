//! Why a tape cannot be used. What was recorded before stays recorded.

use super::{Miss, TapeKind};
use std::path::{Path, PathBuf};

/// Why a tape cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TapeError {
    #[error("there is no tape {path}; record one with `--record {path}`")]
    Missing { path: PathBuf },
    /// A new recording was wanted where there is something already.
    #[error("{path} exists already; replay it with `--replay {path}`, or record to another name")]
    Exists { path: PathBuf },
    /// A file that was created, but nothing was recorded.
    #[error(
        "the tape {path} is empty: its recording was stopped before it began; remove it and record again"
    )]
    Empty { path: PathBuf },
    /// A database of somebody else.
    #[error("{path} is a database, but no tape of tool calls; give another file")]
    Foreign { path: PathBuf },
    /// A tape of a later version.
    #[error("the tape {path} has format {found}, this merit reads up to {known}; use a newer merit")]
    Newer {
        path: PathBuf,
        found: i64,
        /// The newest format this program reads.
        known: i64,
    },
    /// What is on disk cannot be what was written.
    #[error("the tape {path} is damaged: {why}; restore it from a copy, or record again")]
    Damaged { path: PathBuf, why: String },
    /// Another process has it open, and one of the two wants to write.
    #[error(
        "the tape {path} is in use by another process, and one that writes wants it alone; wait for it, or give another file"
    )]
    Busy { path: PathBuf },
    /// A recording where a cache was wanted, or the other way round.
    #[error("the tape {path} is {}, not {}; {hint}", .found.phrase(), .wanted.phrase())]
    Kind { path: PathBuf, found: TapeKind, wanted: TapeKind, hint: &'static str },
    /// The file cannot be read or written.
    #[error("the tape {path} cannot be used: {why}")]
    Device {
        path: PathBuf,
        /// What the system said.
        why: String,
    },
    /// A line of an exported tape that cannot be read back.
    #[error("line {line} of an exported tape: {why}")]
    Line { line: usize, why: String },
    /// A tool that cannot be answered from a cache.
    #[error(
        "tool `{tool}` keeps state, so the same input need not have the same answer: it cannot be cached; record and replay it instead"
    )]
    Stateful { tool: String },
    /// A replayed call that was never recorded.
    #[error(transparent)]
    Missed(Box<Miss>),
}

impl TapeError {
    /// The meaning of an SQLite error in the tape at `path`.
    pub(super) fn sqlite(path: &Path, error: &rusqlite::Error) -> Self {
        use rusqlite::ErrorCode;
        let (path, why) = (path.to_owned(), error.to_string());
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy { path },
            // Without a code, a row has another shape than the schema promises: something else changed the file.
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) | None => Self::Damaged { path, why },
            Some(_) => Self::Device { path, why },
        }
    }
}
