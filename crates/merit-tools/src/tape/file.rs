//! The file of a tape: one SQLite database with a format number, held by one writer at a time.
//!
//! A writer keeps the operating system's lock from opening to closing, so a second one is refused at once and a killed one
//! leaves no lock behind. What was committed survives a kill: the log is read when the tape is next opened.

use super::TapeError;
use rusqlite::{Connection, OpenFlags};
use std::path::Path;
use std::time::Duration;

/// The format this program writes. Tables change only together with it.
pub const FORMAT: i64 = 1;
/// Marks the database as a tape: `mtap`.
const APPLICATION: i64 = 0x6d74_6170;
/// A writer that is about to close is waited for.
const BUSY: Duration = Duration::from_millis(250);

const TABLES: &str = "
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE tools (
    digest BLOB NOT NULL, place INTEGER NOT NULL, name TEXT NOT NULL, card TEXT NOT NULL, pace TEXT NOT NULL,
    PRIMARY KEY (digest, place)) STRICT;
CREATE TABLE openings (
    digest BLOB NOT NULL, tool TEXT NOT NULL, task TEXT NOT NULL, stateful INTEGER NOT NULL, error TEXT,
    PRIMARY KEY (digest, tool, task)) STRICT;
CREATE TABLE texts (hash BLOB PRIMARY KEY, text TEXT NOT NULL) STRICT;
CREATE TABLE calls (
    strict BLOB PRIMARY KEY, loose BLOB NOT NULL, tool TEXT NOT NULL, digest BLOB NOT NULL, task TEXT NOT NULL,
    number INTEGER NOT NULL, input TEXT NOT NULL, answer TEXT NOT NULL, output BLOB NOT NULL REFERENCES texts (hash),
    seconds REAL NOT NULL, recorded_ms INTEGER NOT NULL, seal BLOB NOT NULL) STRICT;
CREATE INDEX calls_by_loose ON calls (loose);
CREATE INDEX calls_by_task ON calls (tool, task, number);
";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TapeKind {
    /// Every call of a run, each after its past.
    Recording,
    /// One answer per question, shared by all sessions.
    Cache,
}

impl TapeKind {
    /// The word in the file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Recording => "recording",
            Self::Cache => "cache",
        }
    }

    pub(super) fn parse(name: &str) -> Option<Self> {
        [Self::Recording, Self::Cache].into_iter().find(|kind| kind.name() == name)
    }

    pub(super) fn phrase(self) -> &'static str {
        match self {
            Self::Recording => "the recording of a run",
            Self::Cache => "a cache of tool answers",
        }
    }
}

/// Whether there is nothing at `path`: no file, or one that holds nothing yet.
pub(super) fn is_free(path: &Path) -> Result<bool, TapeError> {
    match std::fs::metadata(path) {
        Ok(found) => Ok(found.is_file() && found.len() == 0),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(TapeError::Device { path: path.to_owned(), why: error.to_string() }),
    }
}

/// Makes a tape, whole or not at all, and keeps it for writing.
pub(super) fn create(path: &Path, kind: TapeKind) -> Result<Connection, TapeError> {
    let make = || -> rusqlite::Result<Connection> {
        let db = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)?;
        db.pragma_update_and_check(None, "locking_mode", "EXCLUSIVE", |_| Ok(()))?;
        db.execute_batch("BEGIN EXCLUSIVE")?;
        db.execute_batch(TABLES)?;
        db.execute("INSERT INTO meta (key, value) VALUES ('kind', ?1)", [kind.name()])?;
        db.pragma_update(None, "application_id", APPLICATION)?;
        db.pragma_update(None, "user_version", FORMAT)?;
        db.execute_batch("COMMIT")?;
        set_up_writing(&db)?;
        Ok(db)
    };
    make().map_err(|error| TapeError::sqlite(path, &error))
}

/// Opens a tape to go on writing it.
pub(super) fn open_writable(path: &Path) -> Result<(Connection, TapeKind), TapeError> {
    must_hold_something(path)?;
    let open = || -> rusqlite::Result<Connection> {
        let db = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        db.pragma_update_and_check(None, "locking_mode", "EXCLUSIVE", |_| Ok(()))?;
        db.execute_batch("BEGIN IMMEDIATE; COMMIT")?;
        set_up_writing(&db)?;
        Ok(db)
    };
    let db = open().map_err(|error| TapeError::sqlite(path, &error))?;
    let kind = examine(&db, path)?;
    Ok((db, kind))
}

/// Opens a tape for reading, also on a disk that cannot be written.
pub(super) fn open_readable(path: &Path) -> Result<(Connection, TapeKind), TapeError> {
    must_hold_something(path)?;
    let failed = |error: &rusqlite::Error| TapeError::sqlite(path, error);
    let db = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(|error| failed(&error))?;
    let db = match db.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(())) {
        Ok(()) => db,
        // A log beside the file needs a folder that can be written; a tape that was closed cleanly does not.
        Err(error)
            if error.sqlite_error_code() == Some(rusqlite::ErrorCode::CannotOpen) && is_closed(path) =>
        {
            let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
            let db = connect(Path::new(&format!("file:{}?immutable=1", path.display())), flags);
            db.map_err(|error| failed(&error))?
        }
        Err(error) => return Err(failed(&error)),
    };
    let kind = examine(&db, path)?;
    Ok((db, kind))
}

/// Folds the log into the file. Where that fails nothing is lost: the log is read when the tape is next opened.
pub(super) fn close(db: &Connection) {
    if matches!(db.is_readonly("main"), Ok(false)) {
        let _ = db.pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(()));
    }
}

fn must_hold_something(path: &Path) -> Result<(), TapeError> {
    match (is_free(path)?, path.exists()) {
        (true, true) => Err(TapeError::Empty { path: path.to_owned() }),
        (true, false) => Err(TapeError::Missing { path: path.to_owned() }),
        (false, _) => Ok(()),
    }
}

fn connect(path: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
    let db = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    db.busy_timeout(BUSY)?;
    db.set_prepared_statement_cache_capacity(32);
    Ok(db)
}

fn set_up_writing(db: &Connection) -> rusqlite::Result<()> {
    db.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    db.pragma_update(None, "synchronous", "NORMAL")
}

/// Whether it is a tape that this program reads, and of which kind.
fn examine(db: &Connection, path: &Path) -> Result<TapeKind, TapeError> {
    let number = |name: &str| -> Result<i64, TapeError> {
        db.pragma_query_value(None, name, |row| row.get(0)).map_err(|error| TapeError::sqlite(path, &error))
    };
    if number("application_id")? != APPLICATION {
        return Err(TapeError::Foreign { path: path.to_owned() });
    }
    let found = number("user_version")?;
    if found > FORMAT {
        return Err(TapeError::Newer { path: path.to_owned(), found, known: FORMAT });
    }
    let sound: String = db
        .query_row("PRAGMA quick_check(1)", [], |row| row.get(0))
        .map_err(|error| TapeError::sqlite(path, &error))?;
    let damaged = |why: String| TapeError::Damaged { path: path.to_owned(), why };
    if sound != "ok" {
        return Err(damaged(sound));
    }
    let kind: String = db
        .query_row("SELECT value FROM meta WHERE key = 'kind'", [], |row| row.get(0))
        .map_err(|error| damaged(error.to_string()))?;
    TapeKind::parse(&kind).ok_or_else(|| damaged(format!("it says that it is `{kind}`")))
}

/// Whether no log is left beside the file, and the path means itself inside a URI.
fn is_closed(path: &Path) -> bool {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let pending = std::fs::metadata(log).is_ok_and(|found| found.len() > 0);
    !pending && path.to_str().is_some_and(|text| !text.contains(['?', '#', '%']))
}
