//! A file's bytes, mapped into memory.
#![allow(unsafe_code, reason = "mapping a file is unsafe in itself; weights are too large to copy")]

use crate::FormatError;
use std::fs::File;
use std::ops::Deref;
use std::path::Path;

/// The bytes of a regular file.
#[derive(Debug)]
pub(crate) struct Mapped(Option<memmap2::Mmap>);

impl Mapped {
    pub(crate) fn open(path: &Path) -> Result<Self, FormatError> {
        let file = File::open(path).map_err(FormatError::io("open", path))?;
        let about = file.metadata().map_err(FormatError::io("read", path))?;
        if !about.is_file() {
            return Err(FormatError::file(path, "is not a regular file"));
        }
        if about.len() == 0 {
            return Ok(Self(None));
        }
        // SAFETY: the mapping is private and only read. Bytes are never believed for being as they were: every
        // access is by offsets checked against the length, and no value of a type with invalid bit patterns is
        // made in place. A file cut short by another process while it is mapped ends this one with SIGBUS; the
        // writers here never do that to a file in place, they rename.
        let mapped = unsafe { memmap2::Mmap::map(&file) }.map_err(FormatError::io("map", path))?;
        Ok(Self(Some(mapped)))
    }
}

impl Deref for Mapped {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.0.as_deref().unwrap_or(&[])
    }
}
