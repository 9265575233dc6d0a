//! A database in memory that an agent may change: a copy of its own, that never touches a file.
//!
//! One statement at a time, each whole or not at all: queries, changes of rows, and tables, indices and views made, altered
//! and dropped. Transactions, triggers, virtual and temporary tables, other databases, settings, the current time and random
//! numbers are refused, so that the same statements always give the same database.

use super::connection::Guarded;
use super::execute::why;
use super::lexer::{Token, tokens};
use super::page::{Page, SqlStop, read_page};
use super::{DatabaseError, LimitKind, SqlLimits, extract};
use rusqlite::MAIN_DB;

/// A database that may be changed.
#[derive(Debug)]
pub struct Scratch {
    guarded: Guarded,
}

/// What a statement did.
#[derive(Debug, Clone, PartialEq)]
pub enum Done {
    /// It gives rows; some that change the database do too.
    Rows(Page),
    /// It gives no rows.
    Changed {
        /// How many rows it inserted, updated or deleted; 0 for tables, indices and views.
        rows: u64,
    },
}

/// What a statement may begin with.
const BEGINNINGS: &[&str] =
    &["select", "with", "values", "insert", "replace", "update", "delete", "create", "drop", "alter"];
const CLOCKS: &[&str] = &["current_timestamp", "current_date", "current_time"];

impl Scratch {
    /// A copy of the database in `image`, the bytes of a SQLite file, that may grow to `max_bytes`.
    ///
    /// ```
    /// use merit_verify::sql::{Database, Done, Scratch, SqlLimits};
    /// let image = Database::script("CREATE TABLE t (n); INSERT INTO t VALUES (1), (2);").unwrap().image().unwrap();
    /// let (mut scratch, limits) = (Scratch::new(&image, 1 << 20).unwrap(), SqlLimits::default());
    /// assert_eq!(scratch.run("DELETE FROM t WHERE n = 1", &limits, 10), Ok(Done::Changed { rows: 1 }));
    /// let mut again = Scratch::new(&scratch.image().unwrap(), 1 << 20).unwrap();
    /// let Ok(Done::Rows(page)) = again.run("SELECT n FROM t", &limits, 10) else { panic!() };
    /// assert_eq!(page.table.rows.len(), 1);
    /// ```
    pub fn new(image: &[u8], max_bytes: u64) -> Result<Self, DatabaseError> {
        let size = image.len() as u64;
        if size > max_bytes {
            return Err(DatabaseError::TooLarge { size, most: max_bytes });
        }
        let guarded = Guarded::scratch(image, max_bytes).map_err(|source| DatabaseError::Image { source })?;
        let scratch = Self { guarded };
        scratch.refuse_clocks()?;
        Ok(scratch)
    }

    /// Runs one statement; of its rows the first `keep` are taken.
    pub fn run(&mut self, statement: &str, limits: &SqlLimits, keep: usize) -> Result<Done, SqlStop> {
        if statement.len() > limits.query_bytes {
            return Err(SqlStop::Limit(LimitKind::QueryBytes));
        }
        if let Some(why) = refusal(statement) {
            return Err(SqlStop::Statement(why));
        }
        let failed = |error: rusqlite::Error| SqlStop::from(why(&self.guarded, error));
        self.guarded.begin(*limits, false).map_err(failed)?;
        let connection = &self.guarded.connection;
        let before = connection.total_changes();
        let mut prepared = connection.prepare(statement).map_err(failed)?;
        let may_leave = prepared.readonly();
        let page = read_page(&self.guarded, &mut prepared, limits, keep, may_leave)?;
        Ok(if page.table.columns.is_empty() {
            Done::Changed { rows: connection.total_changes().saturating_sub(before) }
        } else {
            Done::Rows(page)
        })
    }

    /// The bytes of the database as a SQLite file.
    pub fn image(&mut self) -> Result<Vec<u8>, DatabaseError> {
        let image = self.guarded.connection.serialize(MAIN_DB);
        Ok(image.map_err(|source| DatabaseError::Image { source })?.to_vec())
    }

    /// A default of the current time would be filled in behind the statement's back.
    fn refuse_clocks(&self) -> Result<(), DatabaseError> {
        let asks = |sql: String| refusal(&sql).is_some_and(|why| why == CLOCK).then_some(sql);
        let read = || -> rusqlite::Result<Option<String>> {
            let connection = &self.guarded.connection;
            let mut schema = connection.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")?;
            let mut rows = schema.query([])?;
            while let Some(row) = rows.next()? {
                if let Some(sql) = asks(row.get(0)?) {
                    return Ok(Some(sql));
                }
            }
            Ok(None)
        };
        self.guarded
            .begin(SqlLimits::default(), false)
            .and_then(|()| read())
            .map_err(|source| DatabaseError::Image { source })?
            .map_or(Ok(()), |sql| {
                Err(DatabaseError::Clock { sql: merit_core::printable::beginning(&sql, 100) })
            })
    }
}

const CLOCK: &str = "the statement asks for the current time";

/// What is wrong with a statement before SQLite sees it.
fn refusal(statement: &str) -> Option<String> {
    let tokens = tokens(statement);
    if let Some(why) = extract::not_one_statement(statement, &tokens) {
        return Some(why.to_owned());
    }
    let first = tokens.iter().find(|token| !token.is_mark(";"))?;
    if !BEGINNINGS.iter().any(|word| first.is_word(word)) {
        let known = BEGINNINGS.join(", ").to_uppercase();
        return Some(format!("a statement must begin with one of {known}"));
    }
    let is_clock = |token: &Token<'_>| CLOCKS.iter().any(|word| token.is_word(word));
    (tokens.iter().any(is_clock) || extract::asks_the_clock(&tokens)).then(|| CLOCK.to_owned())
}
