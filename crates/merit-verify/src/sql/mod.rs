//! Does this query answer the question? Runs a response's query and the reference's on the same SQLite database, read-only
//! and within hard limits, and compares what comes back.
//!
//! In: a [`Database`], the response's text, and what is [`Expected`]. Out: a [`SqlVerdict`]: equal, different (with the first
//! rows that differ), an error or a limit of the response's own doing, a bad reference, or a failure of the grader. Rows are
//! compared as a multiset, and in order only where the reference orders. A verdict depends on steps, never on the clock,
//! except through a wall-time fence far above what the steps take.

mod cell;
mod columns;
mod compare;
mod config;
mod connection;
mod database;
mod execute;
mod extract;
mod guard;
mod lexer;
mod matcher;
mod order;
mod page;
mod record;
mod scratch;
mod shape;
mod spill;
mod stated;
mod variation;
mod verdict;
mod verifier;

pub use cell::{Cell, Table};
pub use config::{Expected, ExpectedRows, Extract, SqlConfig, SqlConfigError, SqlLimits};
pub use database::{Database, DatabaseError};
pub use page::{Page, SqlStop};
pub use record::{SqlRecord, SqlRecords};
pub use scratch::{Done, Scratch};
pub use verdict::{Difference, LimitKind, ResultShape, RowDifference, SqlDetail, SqlVerdict};
pub use verifier::SqlVerifier;
