//! Runs one query within its limits and takes what it gives.

use super::connection::Guarded;
use super::{Cell, Database, LimitKind, SqlConfig, SqlLimits, Table, extract};
use merit_core::hex;
use rusqlite::types::ValueRef;
use rusqlite::{Error, ErrorCode, Row, Statement};

/// What a query gave, and what it took.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) table: Table,
    /// Tables and views it reads.
    pub(super) tables: Vec<String>,
    pub(super) steps: u64,
}

/// Why a query gave nothing.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Stopped {
    /// The query is wrong.
    Query(String),
    /// It uses more than allowed.
    Limit(LimitKind),
    /// The database could not be read.
    Grader(String),
}

pub(super) fn run(database: &Database, config: &SqlConfig, query: &str) -> Result<Ran, Stopped> {
    if query.len() > config.limits.query_bytes {
        return Err(Stopped::Limit(LimitKind::QueryBytes));
    }
    if let Some(why) = extract::refusal(query, config.allow_clock) {
        return Err(Stopped::Query(why.to_owned()));
    }
    let work = |guarded: &Guarded| {
        let table = read(guarded, config, query)?;
        Ok(Ran { table, tables: guarded.meter.tables(), steps: guarded.meter.steps() })
    };
    database
        .with(config.limits, config.allow_clock, work)
        .map_err(|error| Stopped::Grader(format!("the database cannot be opened: {error}")))?
}

fn read(guarded: &Guarded, config: &SqlConfig, query: &str) -> Result<Table, Stopped> {
    let failed = |error: Error| why(guarded, error);
    let mut statement = prepare(guarded, query)?;
    let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let rows = read_rows(&mut statement, columns.len(), config, &failed)?;
    Ok(Table { columns, rows })
}

/// Prepares one query; what changes anything is none.
pub(super) fn prepare<'g>(guarded: &'g Guarded, query: &str) -> Result<Statement<'g>, Stopped> {
    let statement = guarded.connection.prepare(query).map_err(|error| why(guarded, error))?;
    if !statement.readonly() || statement.column_count() == 0 {
        return Err(Stopped::Query("the statement is not a query".to_owned()));
    }
    Ok(statement)
}

fn read_rows(
    statement: &mut Statement<'_>,
    columns: usize,
    config: &SqlConfig,
    failed: &impl Fn(Error) -> Stopped,
) -> Result<Vec<Vec<Cell>>, Stopped> {
    let mut found = Vec::new();
    let mut bytes = 0_usize;
    let mut rows = statement.query([]).map_err(failed)?;
    while let Some(row) = rows.next().map_err(failed)? {
        if found.len() == config.limits.rows {
            return Err(Stopped::Limit(LimitKind::Rows));
        }
        found.push(read_row(row, columns, &config.limits, &mut bytes, failed)?);
    }
    Ok(found)
}

/// Takes one row; `bytes` is the size of the result so far.
pub(super) fn read_row(
    row: &Row<'_>,
    columns: usize,
    limits: &SqlLimits,
    bytes: &mut usize,
    failed: &impl Fn(Error) -> Stopped,
) -> Result<Vec<Cell>, Stopped> {
    let mut cells = Vec::with_capacity(columns);
    for column in 0..columns {
        let value = row.get_ref(column).map_err(failed)?;
        // A value is counted before it is copied.
        *bytes = bytes.saturating_add(size(value));
        if *bytes > limits.result_bytes {
            return Err(Stopped::Limit(LimitKind::ResultBytes));
        }
        cells.push(cell(value));
    }
    Ok(cells)
}

fn size(value: ValueRef<'_>) -> usize {
    std::mem::size_of::<Cell>()
        + match value {
            ValueRef::Text(text) => text.len(),
            ValueRef::Blob(blob) => 2 * blob.len(),
            _ => 0,
        }
}

fn cell(value: ValueRef<'_>) -> Cell {
    match value {
        ValueRef::Null => Cell::Null,
        ValueRef::Integer(n) => Cell::Integer(n),
        ValueRef::Real(x) => Cell::Real(x),
        // Text that is not UTF-8 is compared as bytes, so that no two different ones become the same.
        ValueRef::Text(text) => match std::str::from_utf8(text) {
            Ok(text) => Cell::Text(text.to_owned()),
            Err(_) => Cell::Blob { blob: format!("text:{}", hex(text)) },
        },
        ValueRef::Blob(blob) => Cell::Blob { blob: hex(blob) },
    }
}

/// Whose doing an error of SQLite is.
pub(super) fn why(guarded: &Guarded, error: Error) -> Stopped {
    if let Some(limit) = guarded.meter.reached() {
        return Stopped::Limit(limit);
    }
    if let Some(what) = guarded.meter.denied() {
        return Stopped::Query(format!("{what} is not allowed here"));
    }
    let text = error.to_string();
    match error.sqlite_error_code() {
        Some(ErrorCode::TooBig) => Stopped::Limit(LimitKind::ValueBytes),
        Some(ErrorCode::DiskFull) if guarded.may_change => Stopped::Limit(LimitKind::DatabaseBytes),
        Some(
            ErrorCode::InternalMalfunction
            | ErrorCode::PermissionDenied
            | ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::OutOfMemory
            | ErrorCode::SystemIoFailure
            | ErrorCode::DatabaseCorrupt
            | ErrorCode::DiskFull
            | ErrorCode::CannotOpen
            | ErrorCode::FileLockingProtocolFailed
            | ErrorCode::NotADatabase
            | ErrorCode::OperationInterrupted,
        ) => Stopped::Grader(text),
        _ => Stopped::Query(text),
    }
}
