//! Files that are whole or absent, also after a power cut: write beside, sync, rename, sync the folder.

use crate::StoreError;
use crate::error::io;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;

/// Writes a new file and waits until it is on the disk.
pub(crate) fn write_synced(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let write = || -> std::io::Result<()> {
        let mut file = File::create(path)?;
        file.write_all(bytes)?;
        file.sync_all()
    };
    write().map_err(|e| io(path, &e))
}

/// Replaces the file at `path` in one instant.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".tmp");
    let beside = Path::new(&beside);
    let done = write_synced(beside, bytes).and_then(|()| rename(beside, path));
    if done.is_err() {
        // The old file stays; a half-written neighbour is of no use.
        let _ = std::fs::remove_file(beside);
    }
    done
}

/// Renames and waits until the folder knows.
pub(crate) fn rename(from: &Path, to: &Path) -> Result<(), StoreError> {
    std::fs::rename(from, to).map_err(|e| io(to, &e))?;
    to.parent().map_or(Ok(()), sync_folder)
}

/// Waits until a folder's entries are on the disk.
pub(crate) fn sync_folder(folder: &Path) -> Result<(), StoreError> {
    File::open(folder).and_then(|f| f.sync_all()).map_err(|e| io(folder, &e))
}

/// Removes a folder and all in it; one that is not there is fine.
pub(crate) fn remove_folder(folder: &Path) -> Result<(), StoreError> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(io(folder, &error)),
        _ => Ok(()),
    }
}
