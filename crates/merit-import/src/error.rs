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
    /// Too large to hold.
    #[error("the file has more than {limit} bytes; split it, or raise the limit")]
    TooLarge {
        /// The limit.
        limit: u64,
    },
    /// No JSON.
    #[error("the file is neither JSON nor JSON lines: line {line}: {why}")]
    NotJson {
        /// Where, from 1.
        line: usize,
        /// What the parser said.
        why: String,
    },
    /// Nothing in it.
    #[error("the file holds no episode")]
    Empty,
    /// No such format.
    #[error(transparent)]
    Format(#[from] UnknownName),
    /// Nothing that is known.
    #[error(
        "no known format fits line {line}, which has {seen}; known: {known}; name the format to see what it misses"
    )]
    NotDetected {
        /// The first line that is JSON.
        line: usize,
        /// What is there.
        seen: String,
        /// Every known format.
        known: String,
    },
    /// A setting that cannot be.
    #[error("{what}")]
    Setting {
        /// What is wrong with it.
        what: String,
    },
    /// Some episodes cannot be read, and nobody said that they may be left out.
    #[error(
        "{} of {total} episodes cannot be imported, so nothing was:\n{}\nmend the file, or allow such lines to be skipped",
        .skipped.len(), list(.skipped)
    )]
    Skipped {
        /// Each of them.
        skipped: Vec<Skipped>,
        /// Episodes in the file.
        total: usize,
    },
    /// The folder cannot be written.
    #[error(transparent)]
    Store(#[from] merit_store::StoreError),
}

/// Why one episode of a file cannot be imported.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ItemError {
    /// Not JSON.
    #[error("not JSON: {0}")]
    NotJson(String),
    /// A limit on size.
    #[error("{what} is {got}, the limit is {limit}")]
    TooLarge {
        /// What is too large.
        what: String,
        /// Its size.
        got: usize,
        /// The limit.
        limit: usize,
    },
    /// A field that must be there.
    #[error("`{field}` is missing")]
    Missing {
        /// Its path.
        field: String,
    },
    /// A field that is something else.
    #[error("`{field}` is {got}, not {want}")]
    Type {
        /// Its path.
        field: String,
        /// What it must be.
        want: &'static str,
        /// What it is.
        got: &'static str,
    },
    /// A role nobody has.
    #[error("`{field}` is `{role}`; known: system, developer, user, assistant, tool, function")]
    Role {
        /// Its path.
        field: String,
        /// What it says.
        role: String,
    },
    /// Something that is not text and cannot be kept as text.
    #[error("`{field}` is a content part of type `{kind}`; only text parts can be imported without loss")]
    Part {
        /// Its path.
        field: String,
        /// Its type.
        kind: String,
    },
    /// An object of another format.
    #[error("it is no episode of this format: it has {seen}, wanted are {want}")]
    Shape {
        /// What is there.
        seen: String,
        /// What should be.
        want: &'static str,
    },
    /// Nobody acted.
    #[error("it is no episode: it has no assistant message, and no error that would explain it")]
    NoTurn,
    /// The same place twice.
    #[error("it is episode {episode}, which line {first} (item {item}) already is")]
    Duplicate {
        /// The name both have.
        episode: String,
        /// Line of the first.
        first: usize,
        /// Position of the first.
        item: usize,
    },
    /// The same name for two tasks.
    #[error("it belongs to task `{task}`, but its {what} differs from that on line {first} (item {item})")]
    OtherTask {
        /// The task.
        task: String,
        /// In what it differs.
        what: String,
        /// Line of the first.
        first: usize,
        /// Position of the first.
        item: usize,
    },
    /// An episode that breaks the rules of the record.
    #[error("it breaks the rules of the record: {0}")]
    Rules(String),
}
