//! The folder of a run: made once, then opened to go on or to read.
//!
//! Creation is safe to interrupt: the database appears whole in one transaction, and a folder where that did not happen
//! holds nothing worth keeping, so that `create` may use it again.

use crate::checkpoint_dir;
use crate::durable::{replace, sync_folder};
use crate::error::{io, sqlite};
use crate::lock::Lock;
use crate::{FORMAT, StoreError, preflight, schema};
use rusqlite::{Connection, OptionalExtension as _};
use std::path::{Path, PathBuf};

/// What an interrupted `create` may have left; anything else is somebody's.
const OWN_FILES: [&str; 7] =
    ["recipe.toml", "recipe.toml.tmp", "run.lock", "merit.db", "merit.db-wal", "merit.db-shm", "checkpoints"];

/// A run on disk. Holds the run's lock while it is open for writing.
#[derive(Debug)]
pub struct RunFolder {
    pub(crate) path: PathBuf,
    pub(crate) db: Connection,
    /// Absent when the run was opened for reading only.
    lock: Option<Lock>,
}

/// What a run was started with: recipe, seed, version, time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunInfo {
    pub recipe: String,
    /// Hash of the resolved recipe.
    pub recipe_hash: String,
    /// Root of all seeds of the run.
    pub seed: u64,
    /// Version of merit that made it.
    pub version: String,
    /// Unix time in milliseconds.
    pub started_ms: u64,
}

impl RunFolder {
    /// Makes a new run in `path`, which must be absent or empty.
    pub fn create(path: &Path, recipe: &str, info: &RunInfo) -> Result<Self, StoreError> {
        Self::make(path, info, Some(recipe))
    }

    /// Makes a folder; without a recipe it is one of imported episodes.
    pub(crate) fn make(path: &Path, info: &RunInfo, recipe: Option<&str>) -> Result<Self, StoreError> {
        std::fs::create_dir_all(path).map_err(|e| match io(path, &e) {
            StoreError::Device { path, why } => StoreError::Unmakeable { path, why },
            other => other,
        })?;
        refuse_foreign(path)?;
        let lock = Lock::take(path)?;
        refuse_run(path)?;
        if let Some(recipe) = recipe {
            replace(&path.join("recipe.toml"), recipe.as_bytes())?;
        }
        let checkpoints = path.join("checkpoints");
        std::fs::create_dir_all(&checkpoints).map_err(|e| io(&checkpoints, &e))?;
        let mut meta = vec![
            ("format", FORMAT.to_string()),
            ("recipe", info.recipe.clone()),
            ("recipe_hash", info.recipe_hash.clone()),
            ("seed", info.seed.to_string()),
            ("version", info.version.clone()),
            ("started_ms", info.started_ms.to_string()),
        ];
        if recipe.is_none() {
            meta.push(("kind", "import".to_owned()));
        }
        let db = schema::create(&path.join("merit.db"), &meta)?;
        sync_folder(path)?;
        Ok(Self { path: path.to_owned(), db, lock: Some(lock) })
    }

    /// Removes a run in which nothing has happened yet, so that a start that failed leaves nothing behind. Keeps everything where
    /// an event was recorded, or where something lies that `create` did not make.
    pub fn discard_unstarted(self) -> Result<(), StoreError> {
        let events: i64 = self
            .db
            .query_row("SELECT count(*) FROM events", [], |row| row.get(0))
            .map_err(|e| sqlite(&self.path, &e))?;
        let path = self.path.clone();
        let foreign = refuse_foreign(&path).is_err();
        let checkpoints = std::fs::read_dir(self.checkpoints()).map_or(0, Iterator::count);
        drop(self);
        if events > 0 || foreign || checkpoints > 0 {
            return Ok(());
        }
        std::fs::remove_dir_all(&path).map_err(|e| io(&path, &e))
    }

    /// Opens a run to continue it; takes its lock and clears what an interrupted checkpoint left.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let db_path = database(path)?;
        let lock = Lock::take(path)?;
        let run = Self { path: path.to_owned(), db: schema::open_writable(&db_path)?, lock: Some(lock) };
        run.check_format()?;
        let checkpoints = run.checkpoints();
        std::fs::create_dir_all(&checkpoints).map_err(|e| io(&checkpoints, &e))?;
        checkpoint_dir::tidy(&checkpoints)?;
        Ok(run)
    }

    /// Opens a run to read it, also while it is being written.
    pub fn open_read_only(path: &Path) -> Result<Self, StoreError> {
        let db = schema::open_readable(&database(path)?)?;
        let run = Self { path: path.to_owned(), db, lock: None };
        run.check_format()?;
        Ok(run)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where its report belongs.
    pub fn report_path(&self) -> PathBuf {
        self.path.join("report.html")
    }

    /// Puts the report in its place, in one instant.
    pub fn write_report(&self, html: &str) -> Result<PathBuf, StoreError> {
        self.writable()?;
        replace(&self.report_path(), html.as_bytes())?;
        Ok(self.report_path())
    }

    /// Puts a file of the run's own beside the record, in one instant: what somebody takes away from the run.
    pub fn write_file(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, StoreError> {
        self.writable()?;
        let path = self.path.join(name);
        replace(&path, bytes)?;
        Ok(path)
    }

    /// The resolved recipe, as text. Imported episodes have none.
    pub fn recipe(&self) -> Result<String, StoreError> {
        if self.is_import()? {
            return Err(StoreError::NoRecipe { path: self.path.clone() });
        }
        let path = self.path.join("recipe.toml");
        std::fs::read_to_string(&path).map_err(|e| StoreError::Damaged { path, why: e.to_string() })
    }

    /// Puts another resolved recipe in the place of the run's, for a run that goes on with more than it began with.
    pub fn replace_recipe(&self, recipe: &str, hash: &str) -> Result<(), StoreError> {
        self.in_transaction(|| {
            self.execute("UPDATE meta SET value = ?1 WHERE key = 'recipe_hash'", [hash])?;
            replace(&self.path.join("recipe.toml"), recipe.as_bytes())
        })
    }

    pub fn info(&self) -> Result<RunInfo, StoreError> {
        Ok(RunInfo {
            recipe: self.meta("recipe")?,
            recipe_hash: self.meta("recipe_hash")?,
            seed: self.meta_number("seed")?,
            version: self.meta("version")?,
            started_ms: self.meta_number("started_ms")?,
        })
    }

    /// Folds the log into the database and waits for the disk.
    pub fn sync(&self) -> Result<(), StoreError> {
        self.writable()?;
        let fold = self.db.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
        fold.map_err(|e| self.failed(&e))?;
        // While somebody reads, SQLite may leave the log where it is, unsynced.
        let log = self.path.join("merit.db-wal");
        match std::fs::File::open(&log).and_then(|file| file.sync_all()) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(io(&log, &error)),
            _ => Ok(()),
        }
    }

    pub(crate) fn checkpoints(&self) -> PathBuf {
        self.path.join("checkpoints")
    }

    pub(crate) fn writable(&self) -> Result<(), StoreError> {
        match self.lock {
            Some(_) => Ok(()),
            None => Err(StoreError::ReadOnly { path: self.path.clone() }),
        }
    }

    pub(crate) fn failed(&self, error: &rusqlite::Error) -> StoreError {
        sqlite(&self.path.join("merit.db"), error)
    }

    pub(crate) fn damaged(&self, why: impl Into<String>) -> StoreError {
        StoreError::Damaged { path: self.path.join("merit.db"), why: why.into() }
    }

    /// `run` or `import`.
    pub(crate) fn kind(&self) -> Result<String, StoreError> {
        Ok(self.meta_where_present("kind")?.unwrap_or_else(|| "run".to_owned()))
    }

    fn meta(&self, key: &str) -> Result<String, StoreError> {
        let missing = || self.damaged(format!("`{key}` is missing from its head"));
        self.meta_where_present(key)?.ok_or_else(missing)
    }

    fn meta_where_present(&self, key: &str) -> Result<Option<String>, StoreError> {
        let found = self.db.query_row("SELECT value FROM meta WHERE key = ?1", [key], |row| row.get(0));
        found.optional().map_err(|e| self.failed(&e))
    }

    fn meta_number<T: std::str::FromStr>(&self, key: &str) -> Result<T, StoreError> {
        let text = self.meta(key)?;
        text.parse().map_err(|_| self.damaged(format!("`{key}` is `{text}`, not a number")))
    }

    fn check_format(&self) -> Result<(), StoreError> {
        if !has_head(&self.db).map_err(|e| self.failed(&e))? {
            let why = "its database is empty; creation was interrupted, so start the run again".into();
            return Err(StoreError::NotARun { path: self.path.clone(), why });
        }
        let found = self.meta_number("format")?;
        if found > FORMAT {
            return Err(StoreError::NewerFormat { path: self.path.clone(), found, known: FORMAT });
        }
        Ok(())
    }
}

fn has_head(db: &Connection) -> rusqlite::Result<bool> {
    let query = "SELECT count(*) FROM sqlite_schema WHERE name = 'meta'";
    db.query_row(query, [], |row| row.get::<_, i64>(0)).map(|count| count == 1)
}

fn database(folder: &Path) -> Result<PathBuf, StoreError> {
    let path = folder.join("merit.db");
    let why = match (folder.is_dir(), path.is_file()) {
        (true, true) => return Ok(path),
        (true, false) => "it has no `merit.db`",
        (false, _) if folder.exists() => "it is a file",
        (false, _) => "there is no such folder",
    };
    Err(StoreError::NotARun { path: folder.to_owned(), why: why.into() })
}

fn refuse_foreign(folder: &Path) -> Result<(), StoreError> {
    for entry in std::fs::read_dir(folder).map_err(|e| io(folder, &e))? {
        let name = entry.map_err(|e| io(folder, &e))?.file_name().to_string_lossy().into_owned();
        if name == "report.html" {
            return Err(StoreError::Exists { path: folder.to_owned() });
        }
        if !OWN_FILES.contains(&name.as_str()) && !preflight::is_probe(&name) {
            return Err(StoreError::NotEmpty { path: folder.to_owned(), found: name });
        }
    }
    Ok(())
}

fn refuse_run(folder: &Path) -> Result<(), StoreError> {
    let path = folder.join("merit.db");
    if !path.exists() {
        return Ok(());
    }
    let db = schema::open_writable(&path)?;
    match has_head(&db) {
        Ok(false) => Ok(()),
        Ok(true) => Err(StoreError::Exists { path: folder.to_owned() }),
        Err(error) => Err(sqlite(&path, &error)),
    }
}
