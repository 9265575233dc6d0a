//! A database that queries are judged on: a file opened read-only, or one built in memory from a script.
//!
//! Connections are pooled, so that judging many responses opens few files; any number of threads may use one database at
//! once. A script runs once; every connection then reads the same image.

use super::SqlLimits;
use super::connection::Guarded;
use super::variation::{self, VARIATIONS};
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::{Connection, MAIN_DB, OpenFlags};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Idle connections kept.
const KEPT: usize = 16;
/// Most pages of 4096 bytes a script may fill: 256 MiB.
const SCRIPT_PAGES: u32 = 1 << 16;
/// Longest time a script may take.
const SCRIPT_SECONDS: u64 = 60;

/// A database that queries are run on, from a file or from memory.
#[derive(Debug)]
pub struct Database {
    origin: Origin,
    idle: Mutex<Vec<Guarded>>,
    /// The same tables with other contents, each made when it is first asked for. Absent: it cannot be.
    variations: [OnceLock<Option<Box<Database>>>; VARIATIONS],
    /// The same tables with every row twice.
    doubled: OnceLock<Option<Box<Database>>>,
}

#[derive(Debug)]
enum Origin {
    File(PathBuf),
    Image(Vec<u8>),
}

/// A database that cannot be used: the task is at fault, or the disk.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// The path cannot be followed.
    #[error("database file {path}: {source}")]
    Path { path: PathBuf, source: std::io::Error },
    /// The file is no database, or cannot be read.
    #[error("database file {path} cannot be opened read-only: {source}")]
    Open { path: PathBuf, source: rusqlite::Error },
    /// The image is no database, or cannot be taken.
    #[error("the image of the database cannot be used: {source}")]
    Image { source: rusqlite::Error },
    /// The database is larger than a copy of it may be.
    #[error("the database has {size} bytes, but a copy that may be changed has at most {most}")]
    TooLarge { size: u64, most: u64 },
    /// A table or view asks for the current time, so that the same changes would not give the same database.
    #[error("a database that may be changed cannot ask for the current time, as this does: {sql}")]
    Clock {
        /// The statement that made the table or view, shortened.
        sql: String,
    },
    #[error("the script of the database failed: {source}")]
    Script { source: rusqlite::Error },
}

impl Database {
    /// A file. It must not change while it is in use, and is never written. Databases in WAL mode need their folder to be
    /// writable, or no other user.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, DatabaseError> {
        let path = path.as_ref();
        let absolute = std::fs::canonicalize(path)
            .map_err(|source| DatabaseError::Path { path: path.to_owned(), source })?;
        let first = Guarded::file(&absolute)
            .map_err(|source| DatabaseError::Open { path: path.to_owned(), source })?;
        Ok(Self {
            origin: Origin::File(absolute),
            idle: Mutex::new(vec![first]),
            variations: Default::default(),
            doubled: OnceLock::new(),
        })
    }

    /// A database in memory, made by a script of `CREATE TABLE` and `INSERT` statements.
    ///
    /// ```
    /// use merit_verify::sql::{Database, Expected, SqlConfig, SqlVerifier};
    /// let database = Database::script("CREATE TABLE t (n); INSERT INTO t VALUES (1), (2), (2);").unwrap();
    /// let verifier = SqlVerifier::compile(SqlConfig::default()).unwrap();
    /// let expected = Expected::Query("SELECT sum(n) FROM t".to_owned());
    /// assert_eq!(verifier.verify(&database, "SELECT total(n) FROM t", &expected).score, Some(1.0));
    /// assert_eq!(verifier.verify(&database, "SELECT max(n) FROM t", &expected).score, Some(0.0));
    /// ```
    pub fn script(script: &str) -> Result<Self, DatabaseError> {
        let image = build(script).map_err(|source| DatabaseError::Script { source })?;
        Ok(Self::of_image(image))
    }

    fn of_image(image: Vec<u8>) -> Self {
        Self {
            origin: Origin::Image(image),
            idle: Mutex::new(Vec::new()),
            variations: Default::default(),
            doubled: OnceLock::new(),
        }
    }

    /// The same tables with other contents, one after the other. None where the database is too large to be varied.
    pub(super) fn variations(&self) -> impl Iterator<Item = &Self> {
        (1_u64..).zip(&self.variations).filter_map(move |(number, place)| {
            place.get_or_init(|| self.made(|image| variation::image(image, number))).as_deref()
        })
    }

    /// The same tables with every row twice. Absent where the database is too large.
    pub(super) fn doubled(&self) -> Option<&Self> {
        self.doubled.get_or_init(|| self.made(variation::doubled)).as_deref()
    }

    fn made(&self, change: impl Fn(&[u8]) -> rusqlite::Result<Vec<u8>>) -> Option<Box<Self>> {
        let image = self.image().ok().filter(|image| image.len() <= variation::MAX_IMAGE)?;
        Some(Box::new(Self::of_image(change(&image).ok()?)))
    }

    /// The bytes of the database as a SQLite file, to copy it.
    pub fn image(&self) -> Result<Vec<u8>, DatabaseError> {
        let path = match &self.origin {
            Origin::Image(image) => return Ok(image.clone()),
            Origin::File(path) => path,
        };
        let taken = || -> rusqlite::Result<Vec<u8>> {
            let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            Ok(Connection::open_with_flags(path, flags)?.serialize(MAIN_DB)?.to_vec())
        };
        let mut image = taken().map_err(|source| DatabaseError::Image { source })?;
        // A file that is written ahead to a log says so in these bytes; an image has no log beside it.
        if let Some(versions @ [2, 2]) = image.get_mut(18..20) {
            versions.fill(1);
        }
        Ok(image)
    }

    /// Runs `work` on a connection of its own.
    pub(super) fn with<T>(
        &self,
        limits: SqlLimits,
        allow_clock: bool,
        work: impl FnOnce(&Guarded) -> T,
    ) -> rusqlite::Result<T> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let guarded = match (idle, &self.origin) {
            (Some(guarded), _) => guarded,
            (None, Origin::File(path)) => Guarded::file(path)?,
            (None, Origin::Image(image)) => Guarded::image(image)?,
        };
        guarded.begin(limits, allow_clock)?;
        let done = work(&guarded);
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < KEPT {
            idle.push(guarded);
        }
        Ok(done)
    }
}

/// Runs a script in memory and takes the image of what it made.
fn build(script: &str) -> rusqlite::Result<Vec<u8>> {
    let mut connection = Connection::open_in_memory()?;
    connection.execute_batch(&format!("PRAGMA max_page_count = {SCRIPT_PAGES};"))?;
    connection.authorizer(Some(|context: AuthContext<'_>| match context.action {
        AuthAction::Attach { .. } | AuthAction::Detach { .. } => Authorization::Deny,
        AuthAction::Function { function_name: "load_extension" } => Authorization::Deny,
        AuthAction::Pragma { pragma_name, .. } if !pragma_name.eq_ignore_ascii_case("foreign_keys") => {
            Authorization::Deny
        }
        _ => Authorization::Allow,
    }))?;
    let deadline = Instant::now() + Duration::from_secs(SCRIPT_SECONDS);
    connection.progress_handler(10_000, Some(move || Instant::now() > deadline))?;
    connection.execute_batch(script)?;
    connection.authorizer(None::<fn(AuthContext<'_>) -> Authorization>)?;
    if !connection.is_autocommit() {
        connection.execute_batch("COMMIT")?;
    }
    Ok(connection.serialize(MAIN_DB)?.to_vec())
}
