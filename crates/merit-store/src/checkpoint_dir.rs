//! The folder of checkpoints: `step-000012/` is whole; what a kill left half-way has another ending.
//!
//! `.tmp` was being written and is worth nothing. `.old` was being replaced: it stands in until the new one is in place.

use crate::StoreError;
use crate::durable::{remove_folder, rename};
use crate::error::io;
use std::path::{Path, PathBuf};

/// A whole checkpoint on disk, not yet verified.
pub(crate) struct Found {
    pub(crate) step: u64,
    pub(crate) path: PathBuf,
}

/// Where the checkpoint of a step lies.
pub(crate) fn place(folder: &Path, step: u64) -> PathBuf {
    folder.join(format!("step-{step:06}"))
}

pub(crate) fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut text = path.as_os_str().to_owned();
    text.push(ending);
    text.into()
}

/// The checkpoints in the folder, newest first; one that was being replaced comes after its successor.
pub(crate) fn list(folder: &Path) -> Result<Vec<Found>, StoreError> {
    let mut found = Vec::new();
    for name in names(folder)? {
        let step =
            name.strip_suffix(".old").unwrap_or(&name).strip_prefix("step-").and_then(|s| s.parse().ok());
        if let Some(step) = step {
            found.push(Found { step, path: folder.join(name) });
        }
    }
    found.sort_by(|a, b| b.step.cmp(&a.step).then(a.path.cmp(&b.path)));
    Ok(found)
}

/// Removes what was being written and puts back what was being replaced, when its successor is not there.
pub(crate) fn tidy(folder: &Path) -> Result<(), StoreError> {
    for name in names(folder)? {
        let path = folder.join(&name);
        if name.starts_with("step-") && name.ends_with(".tmp") {
            remove_folder(&path)?;
        } else if let Some(stem) = name.strip_suffix(".old").filter(|stem| stem.starts_with("step-")) {
            let kept = folder.join(stem);
            if kept.exists() { remove_folder(&path)? } else { rename(&path, &kept)? }
        }
    }
    Ok(())
}

/// Keeps the newest two up to `step`; later ones belong to a future that was given up.
pub(crate) fn prune(folder: &Path, step: u64) -> Result<(), StoreError> {
    let kept = list(folder)?.into_iter().filter(|found| found.step <= step).take(2).map(|found| found.path);
    let kept: Vec<PathBuf> = kept.collect();
    list(folder)?.iter().filter(|found| !kept.contains(&found.path)).try_for_each(|found| {
        // Removing takes many steps; a rename first makes sure that no half of it is ever taken for a checkpoint.
        let doomed = with_ending(&found.path, ".tmp");
        remove_folder(&doomed)?;
        rename(&found.path, &doomed)?;
        remove_folder(&doomed)
    })
}

fn names(folder: &Path) -> Result<Vec<String>, StoreError> {
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(|e| io(folder, &e))?,
    };
    let names = entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
    let mut names = names.collect::<std::io::Result<Vec<_>>>().map_err(|e| io(folder, &e))?;
    names.sort();
    Ok(names)
}
