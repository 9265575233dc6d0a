//! What came of a program. A verdict is about the program; what broke on our side is a [`crate::SandboxError`].

use serde::{Deserialize, Serialize};
use std::fmt;

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "kebab-case")]
pub enum Verdict {
    /// It ran to its end.
    Ok,
    /// The program raised an exception that it did not catch.
    Exception {
        /// The exception's type.
        kind: String,
        message: String,
        /// Where it came from, at most about 2,000 bytes.
        traceback: String,
    },
    /// It reached its deadline. Where it stood is at the end of its standard error, unless it had to be killed.
    Time,
    /// It asked for more memory than it may have.
    Memory,
    /// It wrote more than it may.
    Output,
    /// It asked for more processes or threads than it may have.
    Processes,
    /// It ended without a verdict of its own.
    Killed { how: String },
    /// It asked the kernel for something forbidden and did not live with the refusal.
    Refused { call: String },
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Ok => f.write_str("ok"),
            Verdict::Exception { kind, message, .. } if message.is_empty() => f.write_str(kind),
            Verdict::Exception { kind, message, .. } => write!(f, "{kind}: {message}"),
            Verdict::Time => f.write_str("out of time"),
            Verdict::Memory => f.write_str("out of memory"),
            Verdict::Output => f.write_str("too much output"),
            Verdict::Processes => f.write_str("too many processes or threads"),
            Verdict::Killed { how } => write!(f, "killed: {how}"),
            Verdict::Refused { call } => write!(f, "refused: {call}"),
        }
    }
}

/// What is known of a program after it ran.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    pub verdict: Verdict,
    /// Standard output, cut at the limit; bytes that are not UTF-8 are replaced.
    pub stdout: String,
    /// Standard error, likewise.
    pub stderr: String,
    /// What the program left in `__result__` when that is a string; otherwise the `repr` of its last expression, cut. Absent
    /// when neither is there or it did not end well.
    pub value: Option<String>,
    /// The status with which it left by itself, without a word (`os._exit`). Absent: it spoke, or was killed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Wall-clock seconds from the start of the program to its verdict.
    pub seconds: f64,
    /// Processor seconds, user and kernel, as far as known.
    pub cpu_seconds: f64,
    /// Most memory resident at once, the interpreter's own included.
    pub peak_memory_kb: u64,
}
