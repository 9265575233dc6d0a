//! Connections that can only read, and not for long.

use super::SqlLimits;
use super::guard::{self, Meter};
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, MAIN_DB, OpenFlags};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// A guarded connection.
#[derive(Debug)]
pub(super) struct Guarded {
    pub(super) connection: Connection,
    pub(super) meter: Arc<Meter>,
}

impl Guarded {
    /// Opens a file. The path is absolute, so SQLite does not take it for a URI with options of its own.
    pub(super) fn file(path: &Path) -> rusqlite::Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        Self::guard(Connection::open_with_flags(path, flags)?)
    }

    /// Opens an image in memory.
    pub(super) fn image(image: &[u8]) -> rusqlite::Result<Self> {
        let mut connection = Connection::open_in_memory()?;
        connection.deserialize_read_exact(MAIN_DB, image, image.len(), true)?;
        Self::guard(connection)
    }

    fn guard(mut connection: Connection) -> rusqlite::Result<Self> {
        connection.busy_timeout(Duration::from_secs(1))?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
        // Temporary tables and sorts stay in small caches and spill to files, whose size the guard watches.
        connection.execute_batch(
            "PRAGMA query_only = ON; PRAGMA temp_store = FILE; PRAGMA cache_size = -4000; PRAGMA mmap_size = 0;",
        )?;
        // Reads the schema, so that a file that is no database is found out now.
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
        let meter = Meter::new();
        guard::install(&mut connection, &meter)?;
        Ok(Self { connection, meter })
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
            (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 0),
            (Limit::SQLITE_LIMIT_VARIABLE_NUMBER, 0),
            (Limit::SQLITE_LIMIT_VDBE_OP, 1_000_000),
            (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
        ] {
            self.connection.set_limit(limit, value)?;
        }
        Ok(())
    }
}
