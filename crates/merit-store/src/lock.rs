//! One writer per run. The lock is the operating system's (`flock`), so it dies with the process that holds it.

use crate::StoreError;
use crate::error::io;
use rustix::fs::{FlockOperation, flock};
use std::fs::File;
use std::io::{Read as _, Seek as _, Write as _};
use std::path::Path;

/// Held while a run is open for writing.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock of the run in `folder`, or says who has it.
    pub(crate) fn take(folder: &Path) -> Result<Self, StoreError> {
        let path = folder.join("run.lock");
        let opened = File::options().read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = opened.map_err(|e| io(&path, &e))?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => {
                let mut text = String::new();
                let pid = file.read_to_string(&mut text).ok().and_then(|_| text.trim().parse().ok());
                return Err(StoreError::Locked { path: folder.to_owned(), pid });
            }
            Err(errno) => return Err(io(&path, &errno.into())),
        }
        // The pid is only for people; the lock itself is the kernel's.
        let write = file.set_len(0).and_then(|()| file.rewind());
        write.and_then(|()| writeln!(file, "{}", std::process::id())).map_err(|e| io(&path, &e))?;
        Ok(Self { _file: file })
    }
}
