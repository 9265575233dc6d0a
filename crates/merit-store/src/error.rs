//! What can go wrong with a run on disk: each error names the path and says what to do.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Why the store could not do what was asked. Everything committed before stays readable.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The folder holds no run.
    #[error("{path} is not a run folder: {why}")]
    NotARun { path: PathBuf, why: String },
    #[error("{path} already holds a run; resume it, or choose another folder")]
    Exists { path: PathBuf },
    /// Other files are already there.
    #[error(
        "{path} is not empty (it holds `{found}`); choose a new folder so that nothing of yours is mixed with the run"
    )]
    NotEmpty { path: PathBuf, found: String },
    /// Written by a later version.
    #[error(
        "{path} has format {found}, this program reads formats up to {known}; use the version of merit that wrote it, or a newer one"
    )]
    NewerFormat {
        path: PathBuf,
        found: u32,
        /// The newest known here.
        known: u32,
    },
    /// Another live process writes this run.
    #[error("{path} is being written by another process{}; wait for it or stop it, then try again", pid_text(.pid))]
    Locked {
        path: PathBuf,
        /// The other process, where it could be read.
        pid: Option<u32>,
    },
    /// A write through a handle that was opened for reading.
    #[error("{path} was opened for reading only; open it with `RunFolder::open` to write")]
    ReadOnly { path: PathBuf },
    /// Too little room to begin.
    #[error("{path} has {} free but the run needs about {}; free some space or choose another folder", mib(*.free), mib(*.need))]
    NoRoom { path: PathBuf, need: u64, free: u64 },
    /// The disk or a quota ran full.
    #[error("no space left for {path}; free some space and resume: everything recorded so far is intact")]
    DiskFull {
        /// The file being written.
        path: PathBuf,
    },
    /// A limit on the size of files was reached.
    #[error(
        "{path} would pass the limit on file size; raise it (`ulimit -f`) and resume: everything recorded so far is intact"
    )]
    FileTooLarge {
        /// The file being written.
        path: PathBuf,
    },
    /// The place cannot be written to at all.
    #[error("cannot write {path}: {why}; check permissions and that the file system is not read-only")]
    Unwritable {
        path: PathBuf,
        /// What the system said.
        why: String,
    },
    /// A folder that cannot be made where it should be.
    #[error("cannot make the folder {path}: {why}; name another place")]
    Unmakeable {
        path: PathBuf,
        /// What the system said.
        why: String,
    },
    /// The device refused a read or write.
    #[error(
        "{path}: {why}; check the disk, its quota and the limit on file size (`ulimit -f`), then resume: what was committed is intact"
    )]
    Device {
        path: PathBuf,
        /// What the system said.
        why: String,
    },
    /// Another program keeps the database busy.
    #[error("{path} stayed locked by another program for too long; close what reads it and try again")]
    Busy { path: PathBuf },
    /// What is on disk cannot be what was written.
    #[error("{path} is damaged: {why}; restore it from a copy")]
    Damaged { path: PathBuf, why: String },
    /// The same work gave another result: the run is not deterministic.
    #[error(
        "{what} of {episode} differs from what is recorded (recorded {recorded}, now {now}): the run was not repeated exactly; check that recipe, version, weights and tools are the same, or start a new run"
    )]
    Diverged {
        /// `episode`, `score` or `credit`.
        what: &'static str,
        episode: String,
        recorded: String,
        /// Hash of what was to be recorded.
        now: String,
    },
    /// A number that a record cannot hold.
    #[error(
        "{what} of episode {episode} is not a finite number; a score without a value is `Unscorable` or `GraderFailed`"
    )]
    NotFinite { episode: String, what: String },
    /// Credit for an episode that is not in the store.
    #[error("no episode {episode} is recorded; record episodes before their credit")]
    UnknownEpisode { episode: String },
    /// A file name that a checkpoint cannot have.
    #[error(
        "`{name}` cannot name a file of a checkpoint: use letters, digits, `.`, `-` and `_`, once each, not `manifest.json`"
    )]
    CheckpointName { name: String },
    /// Checkpoints exist and none can be loaded.
    #[error("no checkpoint in {path} can be loaded: {why}; restore one from a copy, or start a new run")]
    CheckpointsDamaged {
        /// The folder of checkpoints.
        path: PathBuf,
        /// What is wrong with each.
        why: String,
    },
    /// A run was wanted where there are only imported episodes.
    #[error("{path} holds imported episodes and no run: it has no recipe; they can be shown and scored")]
    NoRecipe { path: PathBuf },
    /// An import that did not come to its end.
    #[error("the import into {path} was interrupted; remove the folder and import again")]
    InterruptedImport { path: PathBuf },
    /// Anything else SQLite says.
    #[error("{path}: {why}")]
    Sqlite { path: PathBuf, why: String },
}

fn pid_text(pid: &Option<u32>) -> String {
    pid.map_or_else(String::new, |pid| format!(" (pid {pid})"))
}

fn mib(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / (1024.0 * 1024.0))
}

/// The meaning of an IO error at `path`.
pub(crate) fn io(path: &Path, error: &std::io::Error) -> StoreError {
    let (path, why) = (path.to_owned(), error.to_string());
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => StoreError::DiskFull { path },
        ErrorKind::FileTooLarge => StoreError::FileTooLarge { path },
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem | ErrorKind::NotADirectory => {
            StoreError::Unwritable { path, why }
        }
        _ => StoreError::Device { path, why },
    }
}

/// The meaning of an SQLite error in the database at `path`.
pub(crate) fn sqlite(path: &Path, error: &rusqlite::Error) -> StoreError {
    use rusqlite::ErrorCode;
    let (path, why) = (path.to_owned(), error.to_string());
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => StoreError::DiskFull { path },
        Some(ErrorCode::SystemIoFailure) => StoreError::Device { path, why },
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            StoreError::Unwritable { path, why }
        }
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => StoreError::Damaged { path, why },
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Busy { path },
        Some(_) => StoreError::Sqlite { path, why },
        // A row of another shape than the schema promises: the file was changed by something else.
        None => StoreError::Damaged { path, why },
    }
}
