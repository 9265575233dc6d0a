//! What a SQL verification says, and whose doing it is.

use super::Cell;
use merit_core::Judgement;
use serde::{Deserialize, Serialize};

/// What came of a query. `Refused`: the response has no query that can be run, or it uses more than allowed. The score is 1 when
/// the results are equal; else 0, or the matching share with partial credit.
pub type SqlVerdict = Judgement<SqlDetail>;

/// What both queries gave.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct SqlDetail {
    /// How the results differ. Absent: they do not, or there is nothing to compare.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<Difference>,
    /// The limit that the response's query reaches. Absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<LimitKind>,
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
    pub columns: usize,
    pub rows: usize,
}

/// How two results differ.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum Difference {
    ColumnCount,
    ColumnName {
        column: usize,
        response: String,
        reference: String,
    },
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
    ResultBytes,
    /// Bytes of one value or row.
    ValueBytes,
    QueryBytes,
    /// Things named, after expansion.
    Names,
    /// Bytes of intermediate results.
    SpillBytes,
    /// Bytes of a database that may be changed.
    DatabaseBytes,
}
