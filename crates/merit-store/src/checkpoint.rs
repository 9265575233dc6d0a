//! Checkpoints that are whole or absent, whenever the process is killed.
//!
//! Files and a manifest with their hashes go into `step-N.tmp/`, are synced, and the folder is renamed into place; only
//! then are older ones removed. Loading verifies every hash and falls back to the older checkpoint, saying so.

use crate::checkpoint_dir::{list, place, prune, with_ending};
use crate::durable::{remove_folder, rename, sync_folder, write_synced};
use crate::error::io;
use crate::{RunFolder, StoreError};
use merit_core::hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::path::{Path, PathBuf};

const MANIFEST: &str = "manifest.json";

/// A checkpoint, verified.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    /// The step after which it was taken.
    pub step: u64,
    /// Its files, in the order saved.
    pub files: Vec<(String, Vec<u8>)>,
    /// Newer checkpoints that could not be loaded; tell the user.
    pub damaged: Vec<DamagedCheckpoint>,
}

/// A checkpoint that cannot be loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DamagedCheckpoint {
    pub path: PathBuf,
    /// What is wrong with it.
    pub why: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    step: u64,
    files: Vec<Entry>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    bytes: u64,
    sha256: String,
}

/// What goes into a file of a checkpoint.
pub enum Content<'a> {
    Bytes(&'a [u8]),
    /// Bytes of this hash, which the checkpoint before may hold already. They are made only where it does not.
    Kept {
        /// SHA-256, in lower-case hexadecimal.
        sha256: &'a str,
        make: &'a dyn Fn() -> Vec<u8>,
    },
}

impl Checkpoint {
    /// The bytes of a file. Absent: the checkpoint has no such file.
    pub fn file(&self, name: &str) -> Option<&[u8]> {
        self.files.iter().find(|(own, _)| own == name).map(|(_, bytes)| bytes.as_slice())
    }
}

impl RunFolder {
    /// Saves a checkpoint in one instant and keeps the newest two. The record is on the disk before the checkpoint is.
    pub fn save_checkpoint(&self, step: u64, files: &[(&str, &[u8])]) -> Result<(), StoreError> {
        let files: Vec<(&str, Content<'_>)> =
            files.iter().map(|(name, bytes)| (*name, Content::Bytes(bytes))).collect();
        self.save_checkpoint_with(step, &files)
    }

    /// The same; a file that the newest checkpoint holds already is linked instead of written again.
    pub fn save_checkpoint_with(&self, step: u64, files: &[(&str, Content<'_>)]) -> Result<(), StoreError> {
        self.writable()?;
        check_names(files.iter().map(|(name, _)| *name))?;
        self.sync()?;
        let folder = self.checkpoints();
        let (target, fresh) = (place(&folder, step), with_ending(&place(&folder, step), ".tmp"));
        let before = list(&folder)?.into_iter().next().map(|found| found.path);
        let saved =
            write_all(&fresh, step, files, before.as_deref()).and_then(|()| put_in_place(&fresh, &target));
        if saved.is_err() {
            // Give the space back; the next opening would remove it too.
            let _ = remove_folder(&fresh);
        }
        saved?;
        prune(&folder, step)
    }

    /// The newest checkpoint that verifies. Absent: none was ever saved. An error: there are some, and none can be loaded.
    pub fn latest_checkpoint(&self) -> Result<Option<Checkpoint>, StoreError> {
        let mut damaged = Vec::new();
        for found in list(&self.checkpoints())? {
            match load(&found.path, found.step) {
                Ok(files) => return Ok(Some(Checkpoint { step: found.step, files, damaged })),
                Err(why) => damaged.push(DamagedCheckpoint { path: found.path, why }),
            }
        }
        if damaged.is_empty() {
            return Ok(None);
        }
        let why: Vec<String> = damaged.iter().map(|d| format!("{}: {}", d.path.display(), d.why)).collect();
        Err(StoreError::CheckpointsDamaged { path: self.checkpoints(), why: why.join("; ") })
    }
}

fn check_names<'a>(names: impl Iterator<Item = &'a str>) -> Result<(), StoreError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let mut seen = Vec::new();
    for name in names {
        let fine = name.chars().all(plain) && name.starts_with(|c: char| c.is_ascii_alphanumeric());
        if !fine || name == MANIFEST || seen.contains(&name) {
            return Err(StoreError::CheckpointName { name: name.to_owned() });
        }
        seen.push(name);
    }
    Ok(())
}

fn write_all(
    folder: &Path,
    step: u64,
    files: &[(&str, Content<'_>)],
    before: Option<&Path>,
) -> Result<(), StoreError> {
    remove_folder(folder)?;
    std::fs::create_dir_all(folder).map_err(|e| io(folder, &e))?;
    let mut entries = Vec::new();
    for (name, content) in files {
        let entry = match content {
            Content::Bytes(bytes) => write_file(folder, name, bytes)?,
            Content::Kept { sha256, make } => match before.and_then(|b| link(b, folder, name, sha256)) {
                Some(entry) => entry,
                None => write_file(folder, name, &make())?,
            },
        };
        entries.push(entry);
    }
    let manifest = serde_json::to_vec_pretty(&Manifest { step, files: entries });
    let manifest = manifest.expect("a manifest is strings and numbers");
    write_synced(&folder.join(MANIFEST), &manifest)?;
    sync_folder(folder)
}

fn write_file(folder: &Path, name: &str, bytes: &[u8]) -> Result<Entry, StoreError> {
    write_synced(&folder.join(name), bytes)?;
    let sha256 = hex(&Sha256::digest(bytes));
    Ok(Entry { name: name.to_owned(), bytes: bytes.len() as u64, sha256 })
}

/// The file of that name and hash in an older checkpoint, linked into `folder`. Absent: there is none, or it cannot be linked.
fn link(before: &Path, folder: &Path, name: &str, sha256: &str) -> Option<Entry> {
    let manifest: Manifest = serde_json::from_slice(&std::fs::read(before.join(MANIFEST)).ok()?).ok()?;
    let entry = manifest.files.into_iter().find(|entry| entry.name == name && entry.sha256 == sha256)?;
    let old = before.join(name);
    (std::fs::metadata(&old).ok()?.len() == entry.bytes).then_some(())?;
    std::fs::hard_link(old, folder.join(name)).ok()?;
    Some(entry)
}

fn put_in_place(fresh: &Path, target: &Path) -> Result<(), StoreError> {
    if !target.exists() {
        return rename(fresh, target);
    }
    let old = with_ending(target, ".old");
    remove_folder(&old)?;
    rename(target, &old)?;
    rename(fresh, target)?;
    remove_folder(&old)
}

fn load(folder: &Path, step: u64) -> Result<Vec<(String, Vec<u8>)>, String> {
    let text = std::fs::read(folder.join(MANIFEST)).map_err(|e| format!("{MANIFEST}: {e}"))?;
    let manifest: Manifest = serde_json::from_slice(&text).map_err(|e| format!("{MANIFEST}: {e}"))?;
    if manifest.step != step {
        return Err(format!("{MANIFEST} is of step {}", manifest.step));
    }
    manifest.files.into_iter().map(|entry| load_file(folder, entry)).collect()
}

fn load_file(folder: &Path, entry: Entry) -> Result<(String, Vec<u8>), String> {
    check_names(std::iter::once(entry.name.as_str())).map_err(|e| e.to_string())?;
    let bytes = std::fs::read(folder.join(&entry.name)).map_err(|e| format!("{}: {e}", entry.name))?;
    if bytes.len() as u64 != entry.bytes {
        return Err(format!("{} has {} bytes instead of {}", entry.name, bytes.len(), entry.bytes));
    }
    if hex(&Sha256::digest(&bytes)) != entry.sha256 {
        return Err(format!("{} does not match its hash", entry.name));
    }
    Ok((entry.name, bytes))
}
