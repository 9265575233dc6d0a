//! What an agent sees of a query: the first rows, and how many more there are.
//!
//! The same guard and limits as for a judged query, for tools that answer queries instead of judging them.

use super::connection::Guarded;
use super::execute::{self, Stopped, why};
use super::{Database, LimitKind, SqlLimits, Table, extract};

/// The first rows of a result.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Page {
    /// Columns and the first rows.
    pub table: Table,
    /// Rows that follow.
    pub more: u64,
    /// Whether all that follow were counted; counting stops at [`SqlLimits::rows`].
    pub is_counted: bool,
}

/// Why a statement gave nothing, and whose doing it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SqlStop {
    #[error("{0}")]
    Statement(String),
    /// The statement uses more than allowed.
    #[error("the statement passes the limit of {0:?}")]
    Limit(LimitKind),
    /// The database could not be used.
    #[error("the database failed: {0}")]
    Database(String),
}

impl From<Stopped> for SqlStop {
    fn from(stopped: Stopped) -> Self {
        match stopped {
            Stopped::Query(why) => Self::Statement(why),
            Stopped::Limit(limit) => Self::Limit(limit),
            Stopped::Grader(why) => Self::Database(why),
        }
    }
}

impl Database {
    /// The first `keep` rows of one query. The current time and random numbers cannot be asked for, so the same query always
    /// gives the same page.
    ///
    /// ```
    /// use merit_verify::sql::{Cell, Database, SqlLimits};
    /// let database = Database::script("CREATE TABLE t (n); INSERT INTO t VALUES (1), (2), (3);").unwrap();
    /// let page = database.ask("SELECT n FROM t ORDER BY n", &SqlLimits::default(), 2).unwrap();
    /// assert_eq!((page.table.rows.len(), page.more, page.is_counted), (2, 1, true));
    /// assert_eq!(page.table.rows[0], [Cell::Integer(1)]);
    /// ```
    pub fn ask(&self, query: &str, limits: &SqlLimits, keep: usize) -> Result<Page, SqlStop> {
        if query.len() > limits.query_bytes {
            return Err(SqlStop::Limit(LimitKind::QueryBytes));
        }
        if let Some(why) = extract::refusal(query, false) {
            return Err(SqlStop::Statement(why.to_owned()));
        }
        let read = |guarded: &Guarded| {
            let mut statement = execute::prepare(guarded, query)?;
            read_page(guarded, &mut statement, limits, keep, true)
        };
        let opened = self.with(*limits, false, read);
        let opened =
            opened.map_err(|error| SqlStop::Database(format!("the database cannot be opened: {error}")))?;
        opened.map_err(SqlStop::from)
    }
}

/// Takes the first `keep` rows and counts the others: all of them, or up to the limit where the statement may be left early.
pub(super) fn read_page(
    guarded: &Guarded,
    statement: &mut rusqlite::Statement<'_>,
    limits: &SqlLimits,
    keep: usize,
    may_leave: bool,
) -> Result<Page, Stopped> {
    let failed = |error: rusqlite::Error| why(guarded, error);
    let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let width = columns.len();
    let mut page = Page { table: Table { columns, rows: Vec::new() }, more: 0, is_counted: true };
    let (most, mut bytes) = (limits.rows as u64, 0_usize);
    let mut rows = statement.query([]).map_err(failed)?;
    while let Some(row) = rows.next().map_err(failed)? {
        if page.table.rows.len() < keep {
            page.table.rows.push(execute::read_row(row, width, limits, &mut bytes, &failed)?);
            continue;
        }
        page.more += 1;
        if may_leave && page.more >= most {
            page.is_counted = false;
            break;
        }
    }
    Ok(page)
}
