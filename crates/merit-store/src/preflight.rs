//! Before training begins: can the folder be made and written, and is there room?

use crate::StoreError;
use crate::durable::write_synced;
use crate::error::io;
use std::path::Path;

const PROBE: &str = ".probe-";

/// Whether a file of this name is a probe that a killed check has left.
pub(crate) fn is_probe(name: &str) -> bool {
    name.starts_with(PROBE)
}

/// Room on the disk of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Space {
    /// Bytes this user may still write.
    pub free_bytes: u64,
}

/// Makes the folder, writes and removes a probe file, and compares the free space with `need_bytes`.
///
/// Leaves nothing behind: folders that were not there before are removed again.
pub fn preflight(folder: &Path, need_bytes: u64) -> Result<Space, StoreError> {
    let missing = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
    let made: Vec<&Path> = folder.ancestors().take_while(missing).collect();
    let found = probe(folder, need_bytes);
    for path in made {
        // Fails when somebody else has put something there meanwhile, which is then theirs.
        let _ = std::fs::remove_dir(path);
    }
    found
}

fn probe(folder: &Path, need: u64) -> Result<Space, StoreError> {
    std::fs::create_dir_all(folder).map_err(|e| match e.kind() {
        std::io::ErrorKind::AlreadyExists => StoreError::Unwritable {
            path: folder.to_owned(),
            why: "a file of that name is in the way".into(),
        },
        _ => io(folder, &e),
    })?;
    let file = folder.join(format!("{PROBE}{}", std::process::id()));
    let written = write_synced(&file, &[0; 4096]);
    let removed = std::fs::remove_file(&file);
    written?;
    removed.map_err(|e| io(&file, &e))?;
    let stat = rustix::fs::statvfs(folder).map_err(|errno| io(folder, &errno.into()))?;
    let free = stat.f_bavail.saturating_mul(stat.f_frsize);
    if free < need {
        return Err(StoreError::NoRoom { path: folder.to_owned(), need, free });
    }
    Ok(Space { free_bytes: free })
}
