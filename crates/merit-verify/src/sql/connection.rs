//! Connections that can only read, or only change a database of their own in memory, and not for long.

use super::SqlLimits;
use super::guard::{self, Meter, Purpose};
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, MAIN_DB, OpenFlags};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

#[derive(Debug)]
pub(super) struct Guarded {
    pub(super) connection: Connection,
    pub(super) meter: Arc<Meter>,
    /// Whether statements may change the database.
    pub(super) may_change: bool,
}

/// How deep the changes of one statement may bring about others, by references between tables.
const CASCADES: i32 = 10;

impl Guarded {
    /// Opens a file. The path is absolute, so SQLite does not take it for a URI with options of its own.
    pub(super) fn file(path: &Path) -> rusqlite::Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        Self::guard(Connection::open_with_flags(path, flags)?, Purpose::Read)
    }

    /// Opens an image in memory.
    pub(super) fn image(image: &[u8]) -> rusqlite::Result<Self> {
        let mut connection = Connection::open_in_memory()?;
        connection.deserialize_read_exact(MAIN_DB, image, image.len(), true)?;
        Self::guard(connection, Purpose::Read)
    }

    /// Opens a copy of an image in memory that may be changed and grow to `max_bytes`.
    pub(super) fn scratch(image: &[u8], max_bytes: u64) -> rusqlite::Result<Self> {
        let mut connection = Connection::open_in_memory()?;
        connection.deserialize_read_exact(MAIN_DB, image, image.len(), false)?;
        let found: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
        if found != "ok" {
            let damaged = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
            return Err(rusqlite::Error::SqliteFailure(damaged, Some(found)));
        }
        let page_size: u32 = connection.query_row("PRAGMA page_size", [], |row| row.get(0))?;
        let pages = (max_bytes / u64::from(page_size.max(1))).clamp(1, u64::from(u32::MAX / 2));
        connection.execute_batch(&format!("PRAGMA max_page_count = {pages}; PRAGMA foreign_keys = ON;"))?;
        Self::guard(connection, Purpose::Change)
    }

    fn guard(mut connection: Connection, purpose: Purpose) -> rusqlite::Result<Self> {
        connection.busy_timeout(Duration::from_secs(1))?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
        // Temporary tables and sorts stay in small caches and spill to files, whose size the guard watches.
        connection
            .execute_batch("PRAGMA temp_store = FILE; PRAGMA cache_size = -4000; PRAGMA mmap_size = 0;")?;
        if purpose == Purpose::Read {
            connection.execute_batch("PRAGMA query_only = ON;")?;
        }
        // Reads the schema, so that a file that is no database is found out now.
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
        let meter = Meter::new(purpose);
        guard::install(&mut connection, &meter)?;
        Ok(Self { connection, meter, may_change: purpose == Purpose::Change })
    }

    /// Gets ready for one query.
    pub(super) fn begin(&self, limits: SqlLimits, allow_clock: bool) -> rusqlite::Result<()> {
        self.meter.reset(limits, allow_clock);
        let bound = |bytes: usize| i32::try_from(bytes).unwrap_or(i32::MAX);
        for (limit, value) in [
            (Limit::SQLITE_LIMIT_LENGTH, bound(limits.value_bytes)),
            (Limit::SQLITE_LIMIT_SQL_LENGTH, bound(limits.query_bytes)),
            (Limit::SQLITE_LIMIT_ATTACHED, 0),
            (Limit::SQLITE_LIMIT_COLUMN, 500),
            (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 200),
            (Limit::SQLITE_LIMIT_EXPR_DEPTH, 200),
            (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000),
            (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, if self.may_change { CASCADES } else { 0 }),
            (Limit::SQLITE_LIMIT_VARIABLE_NUMBER, 0),
            (Limit::SQLITE_LIMIT_VDBE_OP, 1_000_000),
            (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
        ] {
            self.connection.set_limit(limit, value)?;
        }
        Ok(())
    }
}
