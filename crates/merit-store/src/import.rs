//! A folder of imported episodes: a record without a run. `import.toml` stands where a run has its recipe.
//!
//! `import.toml` is written last, so that a folder without it is an import that was interrupted.

use crate::durable::{replace, sync_folder};
use crate::{RunFolder, RunInfo, StoreError};
use serde::{Deserialize, Serialize};
use std::path::Path;

const FILE: &str = "import.toml";

/// Where imported episodes come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImportInfo {
    /// Name of the file they were read from.
    pub source: String,
    pub format: String,
    /// The world that their tasks were given.
    pub world: String,
    /// SHA-256 of the file.
    pub sha256: String,
    pub bytes: u64,
    pub entries: u64,
    /// Entries that became episodes.
    pub episodes: u64,
    /// Entries that did not.
    pub skipped: u64,
    /// Odd things about those that did.
    pub remarks: u64,
    /// Version of merit that read it.
    pub version: String,
    /// Unix time in milliseconds.
    pub imported_ms: u64,
}

impl RunFolder {
    /// Makes a new folder for imported episodes in `path`, which must be absent or empty.
    pub fn create_import(path: &Path, info: &ImportInfo) -> Result<Self, StoreError> {
        // There is no recipe and no seed: the head names the source instead.
        let head = RunInfo {
            recipe: format!("import of {}", info.source),
            recipe_hash: info.sha256.clone(),
            seed: 0,
            version: info.version.clone(),
            started_ms: info.imported_ms,
        };
        Self::make(path, &head, None)
    }

    /// Says that every episode of the import is recorded.
    pub fn finish_import(&self, info: &ImportInfo) -> Result<(), StoreError> {
        self.writable()?;
        let text = merit_core::settings::to_toml(info).map_err(|e| self.damaged(e.to_string()))?;
        replace(&self.path.join(FILE), text.as_bytes())?;
        sync_folder(&self.path)
    }

    /// Whether this is a folder of imported episodes.
    pub fn is_import(&self) -> Result<bool, StoreError> {
        Ok(self.kind()? == "import")
    }

    /// Where the episodes were imported from. Absent: they are those of a run.
    pub fn import(&self) -> Result<Option<ImportInfo>, StoreError> {
        if !self.is_import()? {
            return Ok(None);
        }
        let path = self.path.join(FILE);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(StoreError::InterruptedImport { path: self.path.clone() });
            }
            Err(error) => return Err(StoreError::Damaged { path, why: error.to_string() }),
        };
        let info = merit_core::settings::from_toml(&text);
        info.map(Some).map_err(|e| StoreError::Damaged { path, why: e.message().to_owned() })
    }
}
