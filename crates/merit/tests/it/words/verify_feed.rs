//! `merit verify` as a process that is fed by a pipe.

use crate::tiny::{Said, merit};
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

/// Runs `merit verify ARGUMENTS` in `dir` on these lines.
pub(crate) fn feed(dir: &Path, arguments: &[&str], input: &str) -> Said {
    let mut command = merit(dir);
    command.arg("verify").args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let bytes = input.as_bytes().to_vec();
    // A process that has seen enough closes the pipe; that is for it to say.
    let writer = std::thread::spawn(move || stdin.write_all(&bytes).is_ok());
    let said = Said::of(&child.wait_with_output().unwrap());
    writer.join().unwrap();
    said
}

/// The same where the folder does not matter.
pub(crate) fn judge(arguments: &[&str], input: &str) -> Said {
    feed(Path::new(env!("CARGO_MANIFEST_DIR")), arguments, input)
}
