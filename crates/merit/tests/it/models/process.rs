//! Merit as a real process with something to read.

use std::io::Write as _;
use std::process::{Command, Stdio};

pub(crate) const MERIT: &str = env!("CARGO_BIN_EXE_merit");

/// What it said, and how it ended.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Said {
    pub(crate) fn well(self) -> Self {
        assert_eq!(self.code, Some(0), "{}", self.err);
        self
    }

    /// Refused as wrong input, in these words.
    pub(crate) fn refused(self, words: &str) {
        assert!(self.code == Some(2) && self.err.contains(words), "{:?}: {}", self.code, self.err);
    }

    pub(crate) fn json(&self) -> Vec<serde_json::Value> {
        self.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

pub(crate) fn merit<S: AsRef<std::ffi::OsStr>>(words: &[S], input: &str) -> Said {
    let mut child = Command::new(MERIT)
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Whoever refuses its arguments does not read.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Said { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
}
