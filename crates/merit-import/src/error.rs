//! Why a file, or one episode of it, cannot be imported.

use crate::imported::{Skipped, list};
use merit_core::registry::UnknownName;
use std::path::PathBuf;

/// Why nothing was imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The file cannot be read.
    #[error("cannot read {path}: {why}")]
    Io {
        /// The file; empty for a stream.
        path: PathBuf,
        /// What the system said.
        why: String,
    },
    #[error("the file has more than {limit} bytes; split it, or raise the limit")]
    TooLarge { limit: u64 },
    #[error("the file is neither JSON nor JSON lines: line {line}: {why}")]
    NotJson {
        line: usize,
        /// What the parser said.
        why: String,
    },
    #[error("the file holds no episode")]
    Empty,
    #[error(transparent)]
    Format(#[from] UnknownName),
    #[error(
        "no known format fits line {line}, which has {seen}; known: {known}; name the format to see what it misses"
    )]
    NotDetected {
        /// The first line that is JSON.
        line: usize,
        seen: String,
        known: String,
    },
    /// A setting that cannot be.
    #[error("{what}")]
    Setting {
        /// What is wrong with it.
        what: String,
    },
    /// Some episodes cannot be read, and leaving them out was not allowed.
    #[error(
        "{} of {total} episodes cannot be imported, so nothing was:\n{}\nmend the file, or allow such lines to be skipped",
        .skipped.len(), list(.skipped)
    )]
    Skipped {
        skipped: Vec<Skipped>,
        /// Episodes in the file.
        total: usize,
    },
    #[error(
        "the file is not Parquet that can be read here: {why}; it may be without compression, or with Snappy's"
    )]
    NotParquet {
        /// What the reader said.
        why: String,
    },
    /// Some examples cannot be read.
    #[error("{} of {total} examples cannot be read, so nothing was learned:\n{}\nmend or remove them", .bad.len(), list(.bad))]
    Examples {
        bad: Vec<Skipped>,
        /// Examples in the file.
        total: usize,
    },
    /// The folder cannot be written.
    #[error(transparent)]
    Store(#[from] merit_store::StoreError),
}

/// Why one episode of a file cannot be imported.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ItemError {
    #[error("not JSON: {0}")]
    NotJson(String),
    #[error("{what} is {got}, the limit is {limit}")]
    TooLarge { what: String, got: usize, limit: usize },
    /// A field that must be there.
    #[error("`{field}` is missing")]
    Missing { field: String },
    /// A field that is something else.
    #[error("`{field}` is {got}, not {want}")]
    Type { field: String, want: &'static str, got: &'static str },
    #[error("`{field}` is `{role}`; known: system, developer, user, assistant, tool, function")]
    Role { field: String, role: String },
    /// Something that is not text and cannot be kept as text.
    #[error("`{field}` is a content part of type `{kind}`; only text parts can be imported without loss")]
    Part { field: String, kind: String },
    /// An object of another format.
    #[error("it is no episode of this format: it has {seen}, wanted are {want}")]
    Shape { seen: String, want: &'static str },
    #[error("it is no episode: it has no assistant message, and no error that would explain it")]
    NoTurn,
    #[error("it is episode {episode}, which line {first} (item {item}) already is")]
    Duplicate {
        episode: String,
        first: usize,
        /// Position of the first.
        item: usize,
    },
    /// The same name for two tasks.
    #[error("it belongs to task `{task}`, but its {what} differs from that on line {first} (item {item})")]
    OtherTask {
        task: String,
        what: String,
        first: usize,
        /// Position of the first.
        item: usize,
    },
    /// An example that cannot be learned from.
    #[error("{0}")]
    Example(String),
    /// An episode that breaks the rules of the record.
    #[error("it breaks the rules of the record: {0}")]
    Rules(String),
}
