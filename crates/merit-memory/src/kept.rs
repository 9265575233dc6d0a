//! What is searched, kept in files beside the items, so that the next process need not make it again.
//!
//! The database holds the SHA-256 of each file. A file that is cut or altered, or that belongs to other items, is not read, and what was in
//! it is made anew. A file is written under another name and renamed, and the database is told last: a process that is killed in
//! between leaves a file that is not read. Numbers of items are never given twice and keys never change, so that a file stays
//! true of the items it was made of, whatever came or went since.

use merit_search::TextIndex;
use rusqlite::Connection;
use sha2::{Digest as _, Sha256};
use std::path::Path;

/// Fewer items are indexed anew more quickly than it would be worth a file.
pub(crate) const WORTH_IT: usize = 16_384;

const WORDS: &str = "words.index";
const VECTORS: &str = "vectors.index";

#[derive(Debug)]
pub(crate) struct KeptWords {
    /// The version of the memory at which they were read.
    pub(crate) version: u64,
    pub(crate) ids: Vec<i64>,
    pub(crate) index: TextIndex,
    /// What tells this file from others.
    pub(crate) digest: String,
}

pub(crate) fn words(db: &Connection, folder: &Path) -> Option<KeptWords> {
    let (bytes, digest) = read(db, folder, WORDS)?;
    let (version, rest) = bytes.split_first_chunk()?;
    let (count, rest) = rest.split_first_chunk()?;
    let count = usize::try_from(u64::from_le_bytes(*count)).ok()?;
    let (ids, rest) = rest.split_at_checked(count.checked_mul(8)?)?;
    let ids = ids.as_chunks().0.iter().map(|id| i64::from_le_bytes(*id)).collect();
    Some(KeptWords { version: u64::from_le_bytes(*version), ids, index: TextIndex::read(rest)?, digest })
}

/// The digest of the file; nothing where it could not be kept.
pub(crate) fn keep_words(
    db: &Connection,
    folder: &Path,
    version: u64,
    ids: &[i64],
    index: &TextIndex,
) -> Option<String> {
    let mut bytes = Vec::new();
    bytes.extend(version.to_le_bytes());
    bytes.extend((ids.len() as u64).to_le_bytes());
    ids.iter().for_each(|id| bytes.extend(id.to_le_bytes()));
    index.write(&mut bytes);
    write(db, folder, WORDS, &bytes)
}

/// The vectors that belong to these words, as bytes.
pub(crate) fn vectors(db: &Connection, folder: &Path, words: &str) -> Option<Vec<u8>> {
    let (bytes, _) = read(db, folder, VECTORS)?;
    Some(bytes.strip_prefix(words.as_bytes())?.to_vec())
}

pub(crate) fn keep_vectors(db: &Connection, folder: &Path, words: &str, vectors: &[u8]) -> Option<String> {
    write(db, folder, VECTORS, &[words.as_bytes(), vectors].concat())
}

fn read(db: &Connection, folder: &Path, name: &str) -> Option<(Vec<u8>, String)> {
    let sql = "SELECT value FROM meta WHERE key = ?1";
    let known: String = db.query_row(sql, [name], |row| row.get(0)).ok()?;
    let bytes = std::fs::read(folder.join(name)).ok()?;
    (digest(&bytes) == known).then_some((bytes, known))
}

/// A folder that cannot be written to, or a database that is busy, costs the next process the time that this one took.
fn write(db: &Connection, folder: &Path, name: &str, bytes: &[u8]) -> Option<String> {
    // Inside a change there may be items that will never have been.
    if !db.is_autocommit() {
        return None;
    }
    let (half, digest) = (folder.join(format!("{name}.half")), digest(bytes));
    std::fs::write(&half, bytes).and_then(|()| std::fs::rename(&half, folder.join(name))).ok()?;
    db.execute("INSERT OR REPLACE INTO meta VALUES (?1, ?2)", [name, &digest]).ok()?;
    Some(digest)
}

fn digest(bytes: &[u8]) -> String {
    merit_core::hex(&Sha256::digest(bytes))
}
