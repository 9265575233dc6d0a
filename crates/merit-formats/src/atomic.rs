//! Files and folders that appear whole or not at all: written beside, synced, renamed.

use crate::FormatError;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

static COUNTER: AtomicU64 = AtomicU64::new(0);

/// A name beside `path` that no other file has.
fn beside(path: &Path) -> Result<PathBuf, FormatError> {
    let name = path.file_name().ok_or_else(|| FormatError::file(path, "has no name to write under"))?;
    let (pid, count) = (std::process::id(), COUNTER.fetch_add(1, Ordering::Relaxed));
    Ok(path.with_file_name(format!(".{}.{pid}-{count}.tmp", name.to_string_lossy())))
}

/// Makes what was written survive a loss of power.
pub(crate) fn sync(path: &Path) -> Result<(), FormatError> {
    File::open(path).and_then(|file| file.sync_all()).map_err(FormatError::io("sync", path))
}

fn sync_parent(path: &Path) -> Result<(), FormatError> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    sync(parent)
}

/// Writes a file by `fill`, which gets a path beside it. On failure nothing is left behind.
pub(crate) fn write_file(
    path: &Path,
    fill: impl FnOnce(&Path) -> Result<(), FormatError>,
) -> Result<(), FormatError> {
    let scratch = beside(path)?;
    let done = fill(&scratch)
        .and_then(|()| sync(&scratch))
        .and_then(|()| fs::rename(&scratch, path).map_err(FormatError::io("rename into place", path)));
    if done.is_err() {
        let _ = fs::remove_file(&scratch);
    }
    done.and_then(|()| sync_parent(path))
}

/// Writes a folder by `fill`, which gets an empty folder beside it. A folder that is there already is replaced in one
/// step if it holds nothing but files that `replaceable` knows; otherwise it is refused. On failure nothing is left behind
/// and nothing is lost.
pub(crate) fn write_folder(
    path: &Path,
    replaceable: impl Fn(&str) -> bool,
    fill: impl FnOnce(&Path) -> Result<(), FormatError>,
) -> Result<(), FormatError> {
    let replaces = check_replaceable(path, replaceable)?;
    let scratch = beside(path)?;
    fs::create_dir(&scratch).map_err(FormatError::io("create", &scratch))?;
    let done = fill(&scratch).and_then(|()| sync(&scratch)).and_then(|()| swap(&scratch, path, replaces));
    // After the exchange the scratch folder is the old one.
    let _ = fs::remove_dir_all(&scratch);
    done.and_then(|()| sync_parent(path))
}

fn swap(scratch: &Path, path: &Path, replaces: bool) -> Result<(), FormatError> {
    let failed = FormatError::io("rename into place", path);
    if !replaces {
        return fs::rename(scratch, path).map_err(failed);
    }
    let (here, flags) = (rustix::fs::CWD, rustix::fs::RenameFlags::EXCHANGE);
    rustix::fs::renameat_with(here, scratch, here, path, flags).map_err(|error| failed(error.into()))
}

/// Whether there is a folder to be replaced.
fn check_replaceable(path: &Path, replaceable: impl Fn(&str) -> bool) -> Result<bool, FormatError> {
    if !path.exists() {
        return Ok(false);
    }
    if !path.is_dir() {
        return Err(FormatError::file(path, "is there already and is not a folder"));
    }
    for entry in fs::read_dir(path).map_err(FormatError::io("read", path))? {
        let entry = entry.map_err(FormatError::io("read", path))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if !replaceable(&name) || entry.path().is_dir() {
            let reason = format!(
                "is there already and holds `{name}`, which is no file of a model; name another folder"
            );
            return Err(FormatError::file(path, reason));
        }
    }
    Ok(true)
}
