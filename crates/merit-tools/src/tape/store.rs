//! A tape in hand: its file, what went wrong with it, and the calls that are under way on it.

use super::file::{self, TapeKind};
use super::strand::Strand;
use super::{Miss, TapeError};
use crate::ToolAnswer;
use rusqlite::Connection;
use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Recorded tool calls in one file. Shared by all sessions of a process; written by one process at a time.
pub struct Tape {
    path: PathBuf,
    kind: TapeKind,
    db: Mutex<Connection>,
    /// The first thing that went wrong and had no other way out. Of calls that are missing, the first in the order of tasks.
    trouble: Mutex<Option<TapeError>>,
    under_way: Mutex<HashMap<u64, Weak<Strand>>>,
    tickets: AtomicU64,
    pub(super) hits: AtomicU64,
    pub(super) live: AtomicU64,
    pub(super) differing: AtomicU64,
    pub(super) flights: super::cache::Flights,
}

/// What a tape holds and what became of the calls made through it since it was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TapeCounts {
    /// Number of calls on the tape.
    pub calls: u64,
    /// Different outputs it holds.
    pub outputs: u64,
    /// Calls answered from it.
    pub hits: u64,
    /// Calls that a tool answered.
    pub live: u64,
    /// Of those, calls that the tool answered otherwise than before with the same past; the first answer stands.
    pub differing: u64,
}

impl Tape {
    /// A new recording. There must be no such file yet, or one without calls, as a command that failed at its start leaves it.
    pub fn create(path: &Path) -> Result<Arc<Self>, TapeError> {
        if !file::is_free(path)? {
            let begun =
                Self::append(path).ok().filter(|tape| tape.counts().is_ok_and(|counts| counts.calls == 0));
            return begun.ok_or_else(|| TapeError::Exists { path: path.to_owned() });
        }
        Self::made(path, TapeKind::Recording)
    }

    /// Goes on with a recording: calls that are on it are answered as they were.
    pub fn append(path: &Path) -> Result<Arc<Self>, TapeError> {
        let (db, kind) = file::open_writable(path)?;
        Self::of(path, db, kind).expecting(TapeKind::Recording, "record to a file of its own")
    }

    /// A cache that fills itself: the one at `path`, or a new one.
    pub fn cache(path: &Path) -> Result<Arc<Self>, TapeError> {
        if file::is_free(path)? {
            return Self::made(path, TapeKind::Cache);
        }
        let (db, kind) = file::open_writable(path)?;
        Self::of(path, db, kind).expecting(TapeKind::Cache, "give the cache a file of its own")
    }

    /// A tape of any kind, to read from. Several processes may.
    pub fn open(path: &Path) -> Result<Arc<Self>, TapeError> {
        let (db, kind) = file::open_readable(path)?;
        Ok(Self::of(path, db, kind))
    }

    pub(super) fn made(path: &Path, kind: TapeKind) -> Result<Arc<Self>, TapeError> {
        Ok(Self::of(path, file::create(path, kind)?, kind))
    }

    fn of(path: &Path, db: Connection, kind: TapeKind) -> Arc<Self> {
        Arc::new(Self {
            path: path.to_owned(),
            kind,
            db: Mutex::new(db),
            trouble: Mutex::default(),
            under_way: Mutex::default(),
            tickets: AtomicU64::default(),
            hits: AtomicU64::default(),
            live: AtomicU64::default(),
            differing: AtomicU64::default(),
            flights: super::cache::Flights::default(),
        })
    }

    fn expecting(self: Arc<Self>, wanted: TapeKind, hint: &'static str) -> Result<Arc<Self>, TapeError> {
        if self.kind == wanted {
            return Ok(self);
        }
        Err(TapeError::Kind { path: self.path.clone(), found: self.kind, wanted, hint })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it is a recording or a cache.
    pub fn kind(&self) -> TapeKind {
        self.kind
    }

    /// What went wrong so far and must not be passed over: a call that is not on the tape, a tape that could not be
    /// written, a tool that cannot be cached. The rollout asks after each batch of episodes.
    pub fn check(&self) -> Result<(), TapeError> {
        held(&self.trouble).as_ref().map_or(Ok(()), |trouble| Err(trouble.clone()))
    }

    /// Records the calls whose callers stopped waiting as timed out. Called when episodes are over, because a call
    /// that was given up may not have noticed yet.
    pub fn settle(&self) {
        let waiting: Vec<Arc<Strand>> = held(&self.under_way).values().filter_map(Weak::upgrade).collect();
        waiting.iter().for_each(|strand| strand.give_up(None));
    }

    pub(super) fn db(&self) -> MutexGuard<'_, Connection> {
        held(&self.db)
    }

    pub(super) fn failed(&self, error: &rusqlite::Error) -> TapeError {
        TapeError::sqlite(&self.path, error)
    }

    /// Keeps the first failure; among misses the one that comes before the others.
    pub(super) fn trouble(&self, found: TapeError) {
        let mut trouble = held(&self.trouble);
        let earlier = match (&*trouble, &found) {
            (None, _) => true,
            (Some(TapeError::Missed(known)), TapeError::Missed(miss)) => Miss::before(miss, known),
            (Some(_), _) => false,
        };
        if earlier {
            *trouble = Some(found);
        }
    }

    /// Remembers what went wrong and says it as the answer to a call.
    pub(super) fn broken(&self, found: TapeError) -> ToolAnswer {
        let answer = ToolAnswer::Broken(found.to_string());
        self.trouble(found);
        answer
    }

    pub(super) fn ticket(&self, strand: &Arc<Strand>) -> u64 {
        let ticket = self.tickets.fetch_add(1, Ordering::Relaxed);
        held(&self.under_way).insert(ticket, Arc::downgrade(strand));
        ticket
    }

    pub(super) fn tear(&self, ticket: u64) {
        held(&self.under_way).remove(&ticket);
    }
}

impl Drop for Tape {
    /// A tape that was written is left as one file, which can be read without making others beside it.
    fn drop(&mut self) {
        file::close(&self.db());
    }
}

impl fmt::Debug for Tape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tape").field("path", &self.path).field("kind", &self.kind).finish_non_exhaustive()
    }
}

/// Locks; what a panic elsewhere left behind is whole, because every change is a single assignment or transaction.
pub(super) fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
