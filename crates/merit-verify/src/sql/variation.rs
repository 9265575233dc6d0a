//! The same database with other contents: some rows gone, the others with each other's values. A query that finds its answer in the
//! data follows; one that states the answer does not. And once with every row twice, so that counts grow too.
//!
//! Keys stay where they are, so that joins hold: columns of a primary key, of a unique index, of a reference to another table, and
//! those that share their name with a column of another table. Everything is drawn by seed, so that verdicts repeat.

use merit_core::{Seed, Stream};
use rusqlite::config::DbConfig;
use rusqlite::types::Value;
use rusqlite::{Connection, MAIN_DB, params};
use std::collections::{HashMap, HashSet};

/// Variations of a database.
pub(super) const VARIATIONS: usize = 12;
/// Of them, those in which the answer changes and that a query is held against.
pub(super) const USED: usize = 3;
/// Largest image that is varied, in bytes.
pub(super) const MAX_IMAGE: usize = 32 << 20;
/// Longest table whose values are exchanged; longer ones only lose rows.
const MAX_ROWS: usize = 20_000;
/// Share of the rows that go.
const GONE: f64 = 0.35;

/// The image of the `number`-th variation of a database.
pub(super) fn image(original: &[u8], number: u64) -> rusqlite::Result<Vec<u8>> {
    changed(original, |connection, tables| {
        let shared = shared_names(tables);
        for table in tables {
            let mut draw = Seed::root(number).child(&table.name, 0).stream();
            // A table without row numbers, or with rules that refuse the change, stays as it is.
            let _ = vary(connection, table, &shared, number, &mut draw);
        }
    })
}

/// The image of the database with every row twice, where its rules allow that; what must be unique is numbered anew or absent in
/// the second.
pub(super) fn doubled(original: &[u8]) -> rusqlite::Result<Vec<u8>> {
    changed(original, |connection, tables| {
        for table in tables {
            let free = table.columns.iter().filter(|column| !table.unique.contains(*column));
            let names = free.map(|column| quoted(column)).collect::<Vec<_>>().join(", ");
            let table = quoted(&table.name);
            let copy = format!("INSERT OR IGNORE INTO {table} ({names}) SELECT {names} FROM {table}");
            let _ = connection.execute(&copy, []);
        }
    })
}

fn changed(original: &[u8], change: impl FnOnce(&Connection, &[TableOf])) -> rusqlite::Result<Vec<u8>> {
    let mut connection = Connection::open_in_memory()?;
    connection.deserialize_read_exact(MAIN_DB, original, original.len(), false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.execute_batch("PRAGMA foreign_keys = OFF; BEGIN")?;
    change(&connection, &tables(&connection)?);
    connection.execute_batch("COMMIT")?;
    Ok(connection.serialize(MAIN_DB)?.to_vec())
}

struct TableOf {
    name: String,
    columns: Vec<String>,
    keys: HashSet<String>,
    /// Of the keys, those that no two rows share.
    unique: HashSet<String>,
}

fn texts(connection: &Connection, sql: &str, name: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare(sql)?;
    let found = statement.query_map([name], |row| row.get(0))?;
    found.collect()
}

fn tables(connection: &Connection) -> rusqlite::Result<Vec<TableOf>> {
    const TABLES: &str = "SELECT name FROM sqlite_schema WHERE type = ?1 AND name NOT LIKE 'sqlite_%' \
                          AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name";
    const PLAIN: &str = "SELECT name FROM pragma_table_xinfo(?1) WHERE hidden = 0";
    const UNIQUE: &str = "SELECT name FROM pragma_table_xinfo(?1) WHERE pk > 0 \
                          UNION SELECT i.name FROM pragma_index_list(?1) l, pragma_index_info(l.name) i WHERE l.\"unique\"";
    const REFERRING: &str = "SELECT \"from\" FROM pragma_foreign_key_list(?1)";
    let of = |name: String| -> rusqlite::Result<TableOf> {
        let columns = texts(connection, PLAIN, &name)?;
        let unique: HashSet<String> = texts(connection, UNIQUE, &name)?.into_iter().collect();
        let keys = texts(connection, REFERRING, &name)?.into_iter().chain(unique.iter().cloned()).collect();
        Ok(TableOf { name, columns, keys, unique })
    };
    texts(connection, TABLES, "table")?.into_iter().map(of).collect()
}

/// Names of columns that stand in several tables, in lower case.
fn shared_names(tables: &[TableOf]) -> HashSet<String> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for column in tables.iter().flat_map(|table| &table.columns) {
        *counts.entry(column.to_lowercase()).or_default() += 1;
    }
    counts.into_iter().filter(|(_, count)| *count > 1).map(|(name, _)| name).collect()
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn vary(
    connection: &Connection,
    table: &TableOf,
    shared: &HashSet<String>,
    number: u64,
    draw: &mut Stream,
) -> rusqlite::Result<()> {
    let name = quoted(&table.name);
    let mut statement = connection.prepare(&format!("SELECT rowid FROM {name} ORDER BY rowid"))?;
    let rows: Vec<i64> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    if rows.len() <= MAX_ROWS {
        let shift = 1 + number as usize % rows.len().max(1);
        for column in &table.columns {
            let plain = column.to_lowercase();
            let key = table.keys.contains(column) || shared.contains(&plain) || plain.ends_with("id");
            if !key {
                exchange(connection, &name, &quoted(column), &rows, shift)?;
            }
        }
    }
    let mut delete = connection.prepare(&format!("DELETE FROM {name} WHERE rowid = ?1"))?;
    for row in rows {
        if draw.chance(GONE) {
            delete.execute([row])?;
        }
    }
    Ok(())
}

/// Gives each row the value of the row that stands `shift` places on.
fn exchange(
    connection: &Connection,
    table: &str,
    column: &str,
    rows: &[i64],
    shift: usize,
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(&format!("SELECT {column} FROM {table} ORDER BY rowid"))?;
    let mut values: Vec<Value> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let places = values.len();
    values.rotate_left(shift % places.max(1));
    let mut update =
        connection.prepare(&format!("UPDATE OR IGNORE {table} SET {column} = ?1 WHERE rowid = ?2"))?;
    for (value, row) in values.into_iter().zip(rows) {
        update.execute(params![value, row])?;
    }
    Ok(())
}
