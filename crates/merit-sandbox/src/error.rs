//! What can break on our side. Nothing here is a program's fault; that is [`crate::Verdict`]'s.

use crate::Layer;
use std::path::PathBuf;

/// Why no report could be made.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SandboxError {
    /// This system is not Linux.
    #[error("the Python sandbox needs Linux: its walls are namespaces, landlock and seccomp")]
    Unsupported,
    /// A setting or limit that cannot be.
    #[error("sandbox settings: {0}")]
    Settings(String),
    /// A job that cannot be sent.
    #[error("this job cannot be run: {0}")]
    Job(String),
    #[error("no usable Python at `{}`: {why}; install Python 3.9 or newer, or name one with `python = \"/path/to/python3\"`", .python.display())]
    Python {
        /// Where it was looked for.
        python: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The kernel lacks layers that are required.
    #[error(
        "this kernel does not give {}; to run untrusted code without {}, say so with `without = [{}]`",
        .missing.iter().map(|(layer, why)| format!("{layer} ({why})")).collect::<Vec<_>>().join(", "),
        if .missing.len() == 1 { "it" } else { "them" },
        .missing.iter().map(|(layer, _)| format!("\"{layer}\"")).collect::<Vec<_>>().join(", ")
    )]
    MissingLayers {
        /// What is missing, each with the reason.
        missing: Vec<(Layer, String)>,
    },
    /// A fork server could not be started.
    #[error("the fork server did not start: {0}")]
    Start(String),
    /// The fork server died or fell silent while a program was in its care; the program may be run again.
    #[error("the fork server was lost: {0}; run the program again")]
    ServerLost(String),
    /// The caller asked for the call to end.
    #[error("cancelled")]
    Cancelled,
    /// The session is over, by its own program's doing or after a deadline it ignored or a cancelled call.
    #[error("the session has ended: {0}; open a new one")]
    SessionEnded(String),
    /// The system refused something we need.
    #[error("{doing}: {why}")]
    System { doing: &'static str, why: String },
}

#[cfg(target_os = "linux")]
impl SandboxError {
    pub(crate) fn system(doing: &'static str) -> impl Fn(rustix::io::Errno) -> Self {
        move |error| SandboxError::System { doing, why: std::io::Error::from(error).to_string() }
    }
}
