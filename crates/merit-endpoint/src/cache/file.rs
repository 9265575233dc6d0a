//! The file of kept answers: one JSON line an answer, only ever appended to.
//!
//! A line is written by one call under the file's lock, so lines of several writers never mix. A line that a kill cut short has no
//! end; the next writer ends it first, and its checksum tells readers to read over it. What was written is safe from a kill, not
//! from a loss of power: lines are not synced one by one.

use super::Key;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The format of the lines this program writes.
const FORMAT: u32 = 1;
/// How much of a file that grows is read at once.
const BLOCK: usize = 1 << 20;

/// Why a file of kept answers cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CacheError {
    /// There is nothing to replay.
    #[error("{path} is not there; record it first with `cache.mode = \"record\"`")]
    Missing { path: String },
    #[error("{path}: {why}")]
    Device { path: String, why: String },
    /// A line of a later version.
    #[error("{path} holds answers of format {found}, this program knows {FORMAT}; use a newer program")]
    Newer { path: String, found: u32 },
    /// A kept answer of another kind than was asked for.
    #[error("{path}: the answer kept under {key} is not what was asked for: {why}")]
    Unreadable { path: String, key: String, why: String },
}

/// One line, behind its checksum.
#[derive(Serialize, Deserialize)]
struct Line {
    v: u32,
    key: String,
    sample: u64,
    asked: String,
    answer: Value,
}

#[derive(Clone, Copy)]
struct Place {
    start: u64,
    length: usize,
}

/// Kept answers, indexed by key; the answers stay on disk.
#[derive(Debug)]
pub(crate) struct AnswerFile {
    path: PathBuf,
    /// Whether the newest answer to a question counts; else the first does.
    newest_counts: bool,
    state: Mutex<State>,
}

struct State {
    file: File,
    index: HashMap<Key, Place>,
    /// Everything before this has been read.
    read_to: u64,
    /// Lines that were cut short or damaged.
    damaged: usize,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} answers, {} damaged lines", self.index.len(), self.damaged)
    }
}

impl AnswerFile {
    /// Opens a file to read it only.
    pub(crate) fn open(path: &Path) -> Result<Self, CacheError> {
        if !path.exists() {
            return Err(CacheError::Missing { path: path.display().to_string() });
        }
        // The newest: a recording that was repeated replaces what it repeats.
        Self::with(path, OpenOptions::new().read(true), true)
    }

    /// Opens a file to read and append, and makes it where there is none.
    pub(crate) fn open_writable(path: &Path, newest_counts: bool) -> Result<Self, CacheError> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|error| device(path, &error))?;
        }
        Self::with(path, OpenOptions::new().read(true).append(true).create(true), newest_counts)
    }

    fn with(path: &Path, options: &OpenOptions, newest_counts: bool) -> Result<Self, CacheError> {
        let file = options.open(path).map_err(|error| device(path, &error))?;
        let state = State { file, index: HashMap::new(), read_to: 0, damaged: 0 };
        let kept = Self { path: path.to_owned(), newest_counts, state: Mutex::new(state) };
        kept.read_on(&mut kept.held())?;
        Ok(kept)
    }

    /// The answer kept under `key`. Absent: there is none.
    pub(crate) fn find(&self, key: &Key) -> Result<Option<Value>, CacheError> {
        let mut state = self.held();
        if !state.index.contains_key(key) {
            // Somebody else may have written it since.
            self.read_on(&mut state)?;
        }
        let Some(place) = state.index.get(key).copied() else { return Ok(None) };
        let mut bytes = vec![0; place.length];
        state.file.read_exact_at(&mut bytes, place.start).map_err(|error| device(&self.path, &error))?;
        match checked(&bytes) {
            Some(line) => Ok(Some(line.answer)),
            None => Err(self.unreadable(key, "its line has changed on disk")),
        }
    }

    /// Keeps an answer, which holds no secret any more. Where the first answer counts and another was there before, that one is returned.
    pub(crate) fn keep(&self, key: &Key, asked: &str, answer: &Value) -> Result<Option<Value>, CacheError> {
        let mut state = self.held();
        let line = Line {
            v: FORMAT,
            key: key.hex(),
            sample: key.sample,
            asked: asked.to_owned(),
            answer: answer.clone(),
        };
        let json = serde_json::to_string(&line).map_err(|error| self.unreadable(key, &error.to_string()))?;
        let line = sealed(&json);
        flock(&state.file, FlockOperation::LockExclusive)
            .map_err(|error| device(&self.path, &error.into()))?;
        let kept = self.read_on(&mut state).and_then(|()| {
            if !self.newest_counts && state.index.contains_key(key) {
                return Ok(false);
            }
            append(&mut state.file, &line).map_err(|error| device(&self.path, &error))?;
            Ok(true)
        });
        // The lock goes with the file at the latest.
        let _ = flock(&state.file, FlockOperation::Unlock);
        if kept? {
            self.read_on(&mut state)?;
            return Ok(None);
        }
        drop(state);
        self.find(key)
    }

    /// How many answers there are, and how many lines had to be read over.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let state = self.held();
        (state.index.len(), state.damaged)
    }

    /// The samples that are kept of the question of `key`, in order.
    pub(crate) fn samples(&self, key: &Key) -> Vec<u64> {
        let state = self.held();
        let mut samples: Vec<u64> =
            state.index.keys().filter(|kept| kept.question == key.question).map(|kept| kept.sample).collect();
        samples.sort_unstable();
        samples
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn unreadable(&self, key: &Key, why: &str) -> CacheError {
        CacheError::Unreadable {
            path: self.path.display().to_string(),
            key: key.to_string(),
            why: why.to_owned(),
        }
    }

    fn held(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Indexes what has been appended since the file was last read.
    fn read_on(&self, state: &mut State) -> Result<(), CacheError> {
        let failed = |error: io::Error| device(&self.path, &error);
        state.file.seek(SeekFrom::Start(state.read_to)).map_err(failed)?;
        let (mut pending, mut block) = (Vec::new(), vec![0; BLOCK]);
        loop {
            let got = state.file.read(&mut block).map_err(failed)?;
            if got == 0 {
                return Ok(());
            }
            pending.extend_from_slice(&block[..got]);
            let mut from = 0;
            while let Some(length) = pending[from..].iter().position(|byte| *byte == b'\n') {
                self.take_line(state, &pending[from..from + length])?;
                state.read_to += length as u64 + 1;
                from += length + 1;
            }
            pending.drain(..from);
        }
    }

    fn take_line(&self, state: &mut State, bytes: &[u8]) -> Result<(), CacheError> {
        if bytes.is_empty() {
            return Ok(());
        }
        let line = checked(bytes);
        if let Some(line) = &line
            && line.v > FORMAT
        {
            return Err(CacheError::Newer { path: self.path.display().to_string(), found: line.v });
        }
        let Some(key) = line.and_then(|line| Key::parse(&line.key, line.sample)) else {
            state.damaged += 1;
            return Ok(());
        };
        let place = Place { start: state.read_to, length: bytes.len() };
        if self.newest_counts {
            state.index.insert(key, place);
        } else {
            state.index.entry(key).or_insert(place);
        }
        Ok(())
    }
}

/// Appends a line by one call, after ending one that a kill cut short.
fn append(file: &mut File, line: &str) -> io::Result<()> {
    let length = file.metadata()?.len();
    let mut last = [b'\n'];
    if length > 0 {
        file.read_exact_at(&mut last, length - 1)?;
    }
    let ended = if last == [b'\n'] { "" } else { "\n" };
    file.write_all(format!("{ended}{line}\n").as_bytes())
}

/// A line with its checksum in front.
fn sealed(json: &str) -> String {
    format!("{} {json}", sum(json.as_bytes()))
}

/// The line, if its checksum is right.
fn checked(bytes: &[u8]) -> Option<Line> {
    let (seal, json) = (bytes.get(..16)?, bytes.get(17..)?);
    if seal != sum(json).as_bytes() {
        return None;
    }
    serde_json::from_slice(json).ok()
}

fn sum(bytes: &[u8]) -> String {
    merit_core::hex(&Sha256::digest(bytes)[..8])
}

fn device(path: &Path, error: &io::Error) -> CacheError {
    CacheError::Device { path: path.display().to_string(), why: error.to_string() }
}
