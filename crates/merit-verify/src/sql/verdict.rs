//! What a SQL verification says, and whose doing it is.

use super::Cell;
use serde::{Deserialize, Serialize};

/// The conclusion with its reasons.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SqlVerdict {
    /// What it came to.
    pub conclusion: SqlConclusion,
    /// 1 when equal; else 0, or the matching share with partial credit. Absent when the response could not be judged by no
    /// fault of its own.
    pub score: Option<f64>,
    /// What the response's query gave. Absent: it gave nothing.
    pub response: Option<ResultShape>,
    /// What the reference gave. Absent: it gave nothing.
    pub reference: Option<ResultShape>,
    /// The order of rows counted.
    pub ordered: bool,
    /// Tables and views that the response's query reads.
    pub tables: Vec<String>,
    /// Steps that the response's query took.
    pub steps: u64,
}

/// The size of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultShape {
    /// How many columns.
    pub columns: usize,
    /// How many rows.
    pub rows: usize,
}

/// What a verification came to. The first four are judgements on the response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum SqlConclusion {
    /// The same result.
    Equal,
    /// Another result.
    Different {
        /// How they differ.
        how: Difference,
    },
    /// The response has no query that can be run.
    QueryError {
        /// What is wrong with it.
        why: String,
    },
    /// The response's query uses more than allowed.
    LimitReached {
        /// Of what.
        limit: LimitKind,
    },
    /// The reference cannot be used: the task is at fault.
    BadReference {
        /// Why.
        why: String,
    },
    /// The database could not be read: nobody knows.
    GraderFailed {
        /// Why.
        why: String,
    },
}

/// How two results differ.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum Difference {
    /// In the number of columns.
    ColumnCount,
    /// In the name of a column.
    ColumnName {
        /// Which column, from 0.
        column: usize,
        /// The response's name.
        response: String,
        /// The reference's name.
        reference: String,
    },
    /// In the rows.
    Rows {
        /// How many rows of the response have no counterpart.
        unmatched: usize,
        /// The first that differ.
        first: Vec<RowDifference>,
    },
    /// Only in the order of rows.
    Order {
        /// The first rows out of place.
        first: Vec<RowDifference>,
    },
}

/// A row of either side without counterpart on the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RowDifference {
    /// The response's row and its position from 0. Absent: the response has too few.
    pub response: Option<(usize, Vec<Cell>)>,
    /// The reference's row and its position from 0. Absent: the reference has no more.
    pub reference: Option<(usize, Vec<Cell>)>,
}

/// What there was too much of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LimitKind {
    /// Steps of the virtual machine.
    Steps,
    /// Time, past the fence.
    WallTime,
    /// Rows of the result.
    Rows,
    /// Bytes of the result.
    ResultBytes,
    /// Bytes of one value or row.
    ValueBytes,
    /// Bytes of the query.
    QueryBytes,
    /// Things named, after expansion.
    Names,
    /// Bytes of intermediate results.
    SpillBytes,
    /// Bytes of a database that may be changed.
    DatabaseBytes,
}

impl SqlVerdict {
    /// Whether the response is right. Absent when it could not be judged by no fault of its own.
    pub fn passed(&self) -> Option<bool> {
        match self.conclusion {
            SqlConclusion::Equal => Some(true),
            SqlConclusion::BadReference { .. } | SqlConclusion::GraderFailed { .. } => None,
            _ => Some(false),
        }
    }
}
