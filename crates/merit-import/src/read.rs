//! Reading a file: bytes, entries, format, episodes. All of it or an error, unless skipping is allowed.

use crate::assemble::{Placed, assemble};
use crate::format::{Rules, choose};
use crate::imported::{Found, Imported, Layout, Skipped};
use crate::layout::{Entry, split};
use crate::parquet::Numbered;
use crate::{AUTO, Format, ImportError, ImportLimits, ImportOptions, ItemError, Row};
use merit_core::hex;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Entries that detection looks at.
const LOOKED_AT: usize = 50;

/// Reads a file of `format`, which is a name of [`crate::FORMATS`] or `auto`.
pub fn read_file(path: &Path, format: &str, options: &ImportOptions) -> Result<Imported, ImportError> {
    let file = std::fs::File::open(path).map_err(|e| io(path, &e))?;
    read(file, format, options).map_err(|error| match error {
        ImportError::Io { why, .. } => ImportError::Io { path: path.to_owned(), why },
        other => other,
    })
}

/// Reads a stream of `format`, which is a name of [`crate::FORMATS`] or `auto`.
pub fn read(reader: impl Read, format: &str, options: &ImportOptions) -> Result<Imported, ImportError> {
    options.check()?;
    let file = bytes(reader, options.limits.file_bytes)?;
    let (layout, entries) = split(&file)?;
    let parsed = || entries.iter().map(|e| (e.line, parse(e, &options.limits)));
    let source = Found {
        format: "",
        layout,
        detected: format == AUTO,
        entries: entries.len(),
        bytes: file.len() as u64,
        sha256: hex(&Sha256::digest(&file)),
        world: String::new(),
        solved_at: None,
    };
    let rows = parsed().map(|(line, value)| (line, value.map(Row::Entry)));
    assembled(parsed().take(LOOKED_AT).collect(), rows, format, options, source)
}

/// Reads rows that are in memory already, all of the format of the first; a row's line is its place, from 1.
///
/// ```
/// use merit_import::{ImportOptions, read_rows};
/// let rows = vec![serde_json::json!({"prompt": "2 + 2?", "response": "4", "answer": "4"})];
/// let imported = read_rows(rows, "auto", &ImportOptions::default())?;
/// assert_eq!(imported.episodes[0].episode.answer(), Some("4"));
/// # Ok::<(), merit_import::ImportError>(())
/// ```
pub fn read_rows<R: Into<Row>>(
    rows: Vec<R>,
    format: &str,
    options: &ImportOptions,
) -> Result<Imported, ImportError> {
    options.check()?;
    let rows: Vec<Row> = rows.into_iter().map(Into::into).collect();
    let looked_at = rows.first().map(|row| (1, Ok(row.clone().into_value()))).into_iter().collect();
    let source = Found {
        format: "",
        layout: Layout::Lines,
        detected: format == AUTO,
        entries: rows.len(),
        bytes: 0,
        sha256: String::new(),
        world: String::new(),
        solved_at: None,
    };
    assembled(looked_at, (1..).zip(rows.into_iter().map(Ok)), format, options, source)
}

fn assembled(
    looked_at: Vec<Numbered>,
    entries: impl Iterator<Item = (usize, Result<Row, ItemError>)>,
    format: &str,
    options: &ImportOptions,
    source: Found,
) -> Result<Imported, ImportError> {
    let chosen = choose(format, &looked_at)?;
    let total = source.entries;
    let (placed, mut skipped) = drafts(entries, chosen, &chosen.rules(options));
    let assembled = assemble(placed, options.split);
    skipped.extend(assembled.skipped);
    skipped.sort_by_key(|skipped| skipped.item);
    let nothing = assembled.episodes.is_empty();
    if nothing || (!skipped.is_empty() && !options.allow_skipped) {
        return Err(ImportError::Skipped { skipped, total });
    }
    let world = assembled.episodes.first().map(|scored| scored.episode.task.world.clone());
    let found = Found {
        format: chosen.about.name,
        world: world.unwrap_or_default(),
        solved_at: options.solved_at.or(chosen.solved_at),
        ..source
    };
    let (episodes, remarks, left_out) = (assembled.episodes, assembled.remarks, assembled.left_out);
    Ok(Imported { found, episodes, skipped, remarks, left_out })
}

fn drafts(
    entries: impl Iterator<Item = (usize, Result<Row, ItemError>)>,
    format: &Format,
    rules: &Rules,
) -> (Vec<Placed>, Vec<Skipped>) {
    let (mut placed, mut skipped) = (Vec::new(), Vec::new());
    for (item, (line, parsed)) in entries.enumerate() {
        match parsed.and_then(|row| (format.read)(row, rules)) {
            Ok(draft) => placed.push(Placed { line, item, draft }),
            Err(why) => skipped.push(Skipped { line, item, why }),
        }
    }
    (placed, skipped)
}

/// The bytes of a file.
pub(crate) fn file(path: &Path, limit: u64) -> Result<Vec<u8>, ImportError> {
    let file = std::fs::File::open(path).map_err(|e| io(path, &e))?;
    bytes(file, limit)
}

/// Its entries as JSON, each with its line.
pub(crate) fn values(file: &[u8], limits: &ImportLimits) -> Result<Vec<Numbered>, ImportError> {
    let (_, entries) = split(file)?;
    Ok(entries.iter().map(|entry| (entry.line, parse(entry, limits))).collect())
}

fn parse(entry: &Entry<'_>, limits: &ImportLimits) -> Result<Value, ItemError> {
    let (got, limit) = (entry.bytes.len(), limits.entry_bytes);
    if got > limit {
        return Err(ItemError::TooLarge { what: "its size in bytes".to_owned(), got, limit });
    }
    serde_json::from_slice(entry.bytes).map_err(|error| ItemError::NotJson(error.to_string()))
}

fn bytes(reader: impl Read, limit: u64) -> Result<Vec<u8>, ImportError> {
    let mut file = Vec::new();
    reader.take(limit.saturating_add(1)).read_to_end(&mut file).map_err(|e| io(&PathBuf::new(), &e))?;
    if file.len() as u64 > limit {
        return Err(ImportError::TooLarge { limit });
    }
    Ok(file)
}

fn io(path: &Path, error: &std::io::Error) -> ImportError {
    ImportError::Io { path: path.to_owned(), why: error.to_string() }
}
