//! Standard output and error that may go away: a closed pipe or a full disk is an error to handle, never a panic.

use std::fmt::Display;
use std::io::{self, Write as _};

/// Writes `text` as it is.
pub(crate) fn text(text: impl Display) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let written = write!(out, "{text}").and_then(|()| out.flush());
    written.map_err(|e| io::Error::new(e.kind(), format!("cannot write to standard output: {e}")))
}

/// Writes `text` and ends the line.
pub(crate) fn line(text: impl Display) -> io::Result<()> {
    self::text(format_args!("{text}\n"))
}

/// Writes a line to standard error; when even that fails, there is nothing left to do.
pub(crate) fn complain(text: impl Display) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Whether the reader of the output has left, which is no failure: `merit list | head -1`.
pub(crate) fn reader_left(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
}
