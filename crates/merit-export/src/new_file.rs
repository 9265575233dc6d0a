//! A file that is new, and there whole or not at all: written beside its place, synced, renamed.

use crate::{ExportError, io};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// A file that is being written. Dropped before [`NewFile::finish`], it leaves nothing behind.
#[derive(Debug)]
pub struct NewFile {
    path: PathBuf,
    beside: PathBuf,
    /// Absent once it is finished.
    file: Option<BufWriter<File>>,
}

impl NewFile {
    /// Begins a file at `path`, where nothing may be.
    pub fn create(path: &Path) -> Result<Self, ExportError> {
        refuse(path)?;
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let beside = path.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
        let file = File::create_new(&beside).map_err(io(path))?;
        Ok(Self { path: path.to_owned(), beside, file: Some(BufWriter::new(file)) })
    }

    /// Where it will be.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Puts the file in its place.
    pub fn finish(mut self) -> Result<(), ExportError> {
        let Some(file) = self.file.take() else { return Ok(()) };
        let written = file.into_inner().map_err(|error| error.into_error()).and_then(|file| file.sync_all());
        let placed = written
            .map_err(io(&self.path))
            .and_then(|()| refuse(&self.path))
            .and_then(|()| std::fs::rename(&self.beside, &self.path).map_err(io(&self.path)));
        if placed.is_err() {
            let _ = std::fs::remove_file(&self.beside);
        }
        placed
    }
}

fn refuse(path: &Path) -> Result<(), ExportError> {
    match path.symlink_metadata() {
        Ok(_) => Err(ExportError::Exists { path: path.to_owned() }),
        Err(_) => Ok(()),
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let named = |error: std::io::Error| {
            std::io::Error::new(error.kind(), format!("cannot write {}: {error}", self.path.display()))
        };
        self.file.as_mut().map_or(Ok(0), |file| file.write(bytes)).map_err(named)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.as_mut().map_or(Ok(()), Write::flush)
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if self.file.take().is_some() {
            let _ = std::fs::remove_file(&self.beside);
        }
    }
}
