//! The database: its tables, its format number and how a connection is set up.
//!
//! Tables change only together with [`FORMAT`]. Numbers that exceed SQLite's signed integers keep their bits.

use crate::StoreError;
use crate::error::sqlite;
use rusqlite::{Connection, OpenFlags};
use std::path::Path;
use std::time::Duration;

/// The format this program writes.
pub const FORMAT: u32 = 1;

const TABLES: &str = "
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE marks (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE vocabulary (token INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;
CREATE TABLE tasks (
    key INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, id TEXT NOT NULL, world TEXT NOT NULL, split TEXT NOT NULL,
    size INTEGER NOT NULL, record TEXT NOT NULL) STRICT;
CREATE TABLE episodes (
    key INTEGER PRIMARY KEY,
    phase TEXT NOT NULL, step INTEGER NOT NULL, grp INTEGER NOT NULL, member INTEGER NOT NULL, branch INTEGER NOT NULL,
    policy_version INTEGER NOT NULL, task INTEGER NOT NULL REFERENCES tasks (key), task_id TEXT NOT NULL,
    size INTEGER NOT NULL, outcome TEXT NOT NULL, reward REAL, solved INTEGER, end TEXT NOT NULL, turns INTEGER NOT NULL,
    policy_tokens INTEGER NOT NULL, read_tokens INTEGER NOT NULL, env_steps INTEGER NOT NULL,
    probe_steps INTEGER NOT NULL, tool_calls INTEGER NOT NULL, tool_seconds REAL NOT NULL,
    judge_calls INTEGER NOT NULL, judge_tokens INTEGER NOT NULL, discarded_samples INTEGER NOT NULL,
    content_hash TEXT NOT NULL, record TEXT NOT NULL, score TEXT,
    tokens BLOB NOT NULL, logprobs BLOB NOT NULL, token_values BLOB NOT NULL,
    UNIQUE (phase, step, grp, member, branch)) STRICT;
CREATE INDEX episodes_by_task ON episodes (task_id);
CREATE TABLE scores (
    episode INTEGER NOT NULL REFERENCES episodes (key), place INTEGER NOT NULL, term TEXT NOT NULL, value REAL,
    outcome TEXT NOT NULL, weight REAL NOT NULL, PRIMARY KEY (episode, place)) STRICT, WITHOUT ROWID;
CREATE TABLE credits (
    episode INTEGER PRIMARY KEY REFERENCES episodes (key), advantages BLOB NOT NULL, note TEXT NOT NULL) STRICT;
CREATE TABLE annotations (
    episode INTEGER NOT NULL REFERENCES episodes (key), place INTEGER NOT NULL, record TEXT NOT NULL,
    PRIMARY KEY (episode, place)) STRICT, WITHOUT ROWID;
CREATE TABLE metrics (
    phase TEXT NOT NULL, step INTEGER NOT NULL, name TEXT NOT NULL, value REAL,
    PRIMARY KEY (phase, step, name)) STRICT, WITHOUT ROWID;
CREATE TABLE events (
    key INTEGER PRIMARY KEY, time_ms INTEGER NOT NULL, kind TEXT NOT NULL, text TEXT NOT NULL) STRICT;
CREATE TABLE costs (
    phase TEXT NOT NULL, step INTEGER NOT NULL, record TEXT NOT NULL, PRIMARY KEY (phase, step)) STRICT, WITHOUT ROWID;
";

/// Makes the database with its tables and `meta`, in one transaction: it is there whole or not at all.
pub(crate) fn create(path: &Path, meta: &[(&str, String)]) -> Result<Connection, StoreError> {
    let db = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)?;
    let make = || -> rusqlite::Result<()> {
        let transaction = db.unchecked_transaction()?;
        transaction.execute_batch(TABLES)?;
        for (key, value) in meta {
            transaction.execute("INSERT INTO meta (key, value) VALUES (?1, ?2)", (key, value))?;
        }
        transaction.commit()
    };
    make().map_err(|e| sqlite(path, &e))?;
    Ok(db)
}

/// Opens the database for writing.
pub(crate) fn open_writable(path: &Path) -> Result<Connection, StoreError> {
    open(path, OpenFlags::SQLITE_OPEN_READ_WRITE)
}

/// Opens the database for reading, beside a writer or on a disk that cannot be written.
pub(crate) fn open_readable(path: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags).map_err(|e| sqlite(path, &e))?;
    db.busy_timeout(BUSY).map_err(|e| sqlite(path, &e))?;
    match probe(&db) {
        Ok(()) => Ok(db),
        // A log beside the database needs a writable folder; a database that was closed cleanly does not.
        Err(_) if !log_pending(path) && is_plain(path) => {
            let uri = format!("file:{}?immutable=1", path.display());
            let db = Connection::open_with_flags(uri, flags | OpenFlags::SQLITE_OPEN_URI);
            let db = db.map_err(|e| sqlite(path, &e))?;
            probe(&db).map_err(|e| sqlite(path, &e))?;
            Ok(db)
        }
        Err(error) => Err(sqlite(path, &error)),
    }
}

const BUSY: Duration = Duration::from_secs(10);

fn open(path: &Path, flags: OpenFlags) -> Result<Connection, StoreError> {
    let set_up = || -> rusqlite::Result<Connection> {
        let db = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
        db.busy_timeout(BUSY)?;
        db.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
        db.pragma_update(None, "synchronous", "NORMAL")?;
        db.pragma_update(None, "foreign_keys", true)?;
        db.set_prepared_statement_cache_capacity(64);
        Ok(db)
    };
    set_up().map_err(|e| sqlite(path, &e))
}

fn probe(db: &Connection) -> rusqlite::Result<()> {
    db.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))
}

fn log_pending(path: &Path) -> bool {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    std::fs::metadata(log).is_ok_and(|found| found.len() > 0)
}

/// Whether the path means itself inside a URI.
fn is_plain(path: &Path) -> bool {
    path.to_str().is_some_and(|text| !text.contains(['?', '#', '%']))
}
