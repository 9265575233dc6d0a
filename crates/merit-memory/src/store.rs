//! A memory on disk: SQLite with a write-ahead log. A change is one transaction, so that a killed process leaves all of it or nothing.

use crate::shelf::{Shelf, name_of};
use crate::{Edge, Item, MadeBy, MemoryError, Settings};
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The format this program writes.
const FORMAT: u32 = 1;
const SETTINGS: &str = "memory.toml";
const DATABASE: &str = "items.db";
const BUSY: Duration = Duration::from_secs(10);
/// Pages of the database that are held in memory.
const CACHE_KIB: i64 = 64 << 10;

const TABLES: &str = "
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS items (
    id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, key TEXT NOT NULL, text TEXT NOT NULL, payload TEXT,
    run TEXT NOT NULL, policy_version INTEGER NOT NULL, task TEXT, version INTEGER NOT NULL, repeats INTEGER NOT NULL DEFAULT 0,
    uses INTEGER NOT NULL DEFAULT 0, wins INTEGER NOT NULL DEFAULT 0, losses INTEGER NOT NULL DEFAULT 0, value REAL NOT NULL) STRICT;
CREATE INDEX IF NOT EXISTS items_by_name ON items (name);
CREATE TABLE IF NOT EXISTS edges (
    item INTEGER NOT NULL, relation TEXT NOT NULL, node TEXT NOT NULL, PRIMARY KEY (item, relation, node)) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS edges_by_node ON edges (node);
CREATE TABLE IF NOT EXISTS changes (version INTEGER PRIMARY KEY, what TEXT NOT NULL) STRICT;
";

const COLUMNS: &str =
    "id, key, text, payload, run, policy_version, task, version, repeats, uses, wins, losses, value";

/// A store of items, in a folder or in the process.
#[derive(Debug)]
pub struct Memory {
    pub(crate) db: Connection,
    pub(crate) settings: Settings,
    /// Absent: it lives in the process.
    pub(crate) folder: Option<PathBuf>,
    /// What is searched; made when it is first needed.
    pub(crate) shelf: Option<Shelf>,
}

/// Everything in a memory but its settings, as plain data.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Snapshot {
    pub version: u64,
    pub items: Vec<Item>,
}

impl Snapshot {
    pub fn is_empty(&self) -> bool {
        self.version == 0 && self.items.is_empty()
    }
}

/// One change of a memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    pub version: u64,
    /// What the change was, in words.
    pub what: String,
}

impl Memory {
    /// A memory that goes with the process.
    pub fn in_process(settings: Settings) -> Result<Self, MemoryError> {
        settings.check()?;
        Self::over(Connection::open_in_memory()?, settings, None)
    }

    /// A memory as it was, in the process.
    pub fn restore(settings: Settings, snapshot: &Snapshot) -> Result<Self, MemoryError> {
        let memory = Self::in_process(settings)?;
        let sql = format!(
            "INSERT INTO items (name, {COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)"
        );
        memory.db.execute_batch("BEGIN")?;
        for item in &snapshot.items {
            let payload = item.payload.as_ref().map(ToString::to_string);
            let counts = [item.version, item.repeats, item.uses, item.wins, item.losses].map(|n| n as i64);
            memory.db.prepare_cached(&sql)?.execute(params![
                name_of(&item.key),
                item.id,
                item.key,
                item.text,
                payload,
                item.made_by.run,
                item.made_by.policy_version as i64,
                item.made_by.task,
                counts[0],
                counts[1],
                counts[2],
                counts[3],
                counts[4],
                item.value
            ])?;
            for edge in &item.edges {
                let sql = "INSERT OR IGNORE INTO edges VALUES (?1, ?2, ?3)";
                memory.db.prepare_cached(sql)?.execute(params![item.id, edge.relation, edge.to])?;
            }
        }
        if snapshot.version > 0 {
            let sql = "INSERT INTO changes VALUES (?1, 'restored')";
            memory.db.execute(sql, [snapshot.version as i64])?;
        }
        memory.db.execute_batch("COMMIT")?;
        Ok(memory)
    }

    /// What [`Memory::restore`] makes the same memory of.
    pub fn snapshot(&self) -> Result<Snapshot, MemoryError> {
        let mut items = Vec::new();
        self.each(|item| items.push(item))?;
        Ok(Snapshot { version: self.version()?, items })
    }

    /// Makes a memory in a folder, which may be there but may not hold one.
    pub fn create(folder: &Path, settings: Settings) -> Result<Self, MemoryError> {
        settings.check()?;
        let file = folder.join(SETTINGS);
        if file.exists() {
            return Err(MemoryError::Exists { folder: folder.display().to_string() });
        }
        std::fs::create_dir_all(folder).map_err(|why| MemoryError::io(folder, why))?;
        let memory = Self::over(connect(&folder.join(DATABASE))?, settings, Some(folder.to_owned()))?;
        // The settings come last: a folder with them is whole.
        let text = toml::to_string_pretty(&memory.settings).map_err(|why| MemoryError::io(&file, why))?;
        let half = folder.join("memory.toml.half");
        std::fs::write(&half, text)
            .and_then(|()| std::fs::rename(&half, &file))
            .map_err(|why| MemoryError::io(&file, why))?;
        Ok(memory)
    }

    pub fn open(folder: &Path) -> Result<Self, MemoryError> {
        let file = folder.join(SETTINGS);
        if !file.is_file() {
            return Err(MemoryError::NotAMemory { folder: folder.display().to_string() });
        }
        let text = std::fs::read_to_string(&file).map_err(|why| MemoryError::io(&file, why))?;
        let settings: Settings =
            merit_core::settings::from_toml(&text).map_err(|why| MemoryError::io(&file, why))?;
        settings.check()?;
        let memory = Self::over(connect(&folder.join(DATABASE))?, settings, Some(folder.to_owned()))?;
        let found: Option<String> = memory
            .db
            .query_row("SELECT value FROM meta WHERE key = 'format'", [], |row| row.get(0))
            .optional()?;
        match found {
            Some(found) if found == FORMAT.to_string() => Ok(memory),
            found => Err(MemoryError::Format {
                folder: folder.display().to_string(),
                found: found.unwrap_or_else(|| "none".to_owned()),
                known: FORMAT,
            }),
        }
    }

    fn over(db: Connection, settings: Settings, folder: Option<PathBuf>) -> Result<Self, MemoryError> {
        db.execute_batch(TABLES)?;
        db.execute("INSERT OR IGNORE INTO meta VALUES ('format', ?1)", [FORMAT.to_string()])?;
        Ok(Self { db, settings, folder, shelf: None })
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// How many items there are.
    pub fn len(&self) -> Result<usize, MemoryError> {
        Ok(self.db.query_row("SELECT count(*) FROM items", [], |row| row.get::<_, i64>(0))? as usize)
    }

    pub fn is_empty(&self) -> Result<bool, MemoryError> {
        Ok(self.len()? == 0)
    }

    /// How often it was changed.
    pub fn version(&self) -> Result<u64, MemoryError> {
        let newest = "SELECT coalesce(max(version), 0) FROM changes";
        Ok(self.db.prepare_cached(newest)?.query_row([], |row| row.get::<_, i64>(0))? as u64)
    }

    /// What was done to it, newest first.
    pub fn changes(&self, most: usize) -> Result<Vec<Change>, MemoryError> {
        let mut rows =
            self.db.prepare_cached("SELECT version, what FROM changes ORDER BY version DESC LIMIT ?1")?;
        let change = |row: &Row<'_>| Ok(Change { version: row.get::<_, i64>(0)? as u64, what: row.get(1)? });
        let found = rows.query_map([most as i64], change)?.collect::<Result<_, _>>()?;
        Ok(found)
    }

    /// The item of this number.
    pub fn get(&self, id: i64) -> Result<Option<Item>, MemoryError> {
        let mut row = self.db.prepare_cached(&format!("SELECT {COLUMNS} FROM items WHERE id = ?1"))?;
        let Some(mut item) = row.query_row([id], item).optional()? else { return Ok(None) };
        item.edges = self.edges(id)?;
        Ok(Some(item))
    }

    /// Calls `each` with every item, oldest first.
    pub fn each(&self, mut each: impl FnMut(Item)) -> Result<(), MemoryError> {
        let mut rows = self.db.prepare(&format!("SELECT {COLUMNS} FROM items ORDER BY id"))?;
        for item in rows.query_map([], item)? {
            let mut item = item?;
            item.edges = self.edges(item.id)?;
            each(item);
        }
        Ok(())
    }

    /// SHA-256 of the settings and of everything in the items that decides what is retrieved, in hexadecimal.
    pub fn digest(&self) -> Result<String, MemoryError> {
        let mut hasher = Sha256::new();
        hasher.update(serde_json::to_vec(&self.settings).unwrap_or_default());
        self.each(|item| {
            let shown = (item.id, &item.key, &item.text, &item.made_by.task, &item.edges);
            hasher.update(serde_json::to_vec(&shown).unwrap_or_default());
        })?;
        Ok(merit_core::hex(&hasher.finalize()))
    }

    fn edges(&self, id: i64) -> Result<Vec<Edge>, MemoryError> {
        let mut rows = self
            .db
            .prepare_cached("SELECT relation, node FROM edges WHERE item = ?1 ORDER BY relation, node")?;
        let edge = |row: &Row<'_>| Ok(Edge { relation: row.get(0)?, to: row.get(1)? });
        let found = rows.query_map([id], edge)?.collect::<Result<_, _>>()?;
        Ok(found)
    }

    /// Notes a change; its version.
    pub(crate) fn note(&self, what: &str) -> Result<u64, MemoryError> {
        let version = self.version()? + 1;
        self.db.execute("INSERT INTO changes VALUES (?1, ?2)", params![version as i64, what])?;
        Ok(version)
    }
}

fn connect(path: &Path) -> Result<Connection, MemoryError> {
    let db = Connection::open(path)?;
    db.busy_timeout(BUSY)?;
    db.pragma_update(None, "journal_mode", "WAL")?;
    db.pragma_update(None, "synchronous", "FULL")?;
    db.pragma_update(None, "cache_size", -CACHE_KIB)?;
    Ok(db)
}

fn item(row: &Row<'_>) -> rusqlite::Result<Item> {
    let count = |at: usize| row.get::<_, i64>(at).map(|count| count.max(0) as u64);
    Ok(Item {
        id: row.get(0)?,
        key: row.get(1)?,
        text: row.get(2)?,
        payload: row.get::<_, Option<String>>(3)?.and_then(|text| serde_json::from_str(&text).ok()),
        edges: Vec::new(),
        made_by: MadeBy { run: row.get(4)?, policy_version: count(5)?, task: row.get(6)? },
        version: count(7)?,
        repeats: count(8)?,
        uses: count(9)?,
        wins: count(10)?,
        losses: count(11)?,
        value: row.get(12)?,
    })
}
