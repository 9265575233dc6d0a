//! What does this Python program do, and can it do harm? Untrusted code in fenced, warm workers.
//!
//! A [`Sandbox`] holds a few fork servers: Python interpreters with warm modules, each process 1 of a namespace with a
//! root of its own. A call takes a child that was forked and fenced ahead of time, sends it a [`Job`], and gets a
//! [`Report`] with a typed [`Verdict`]. A [`Session`] keeps its variables from cell to cell. What the program did wrong is
//! a verdict; what broke on our side is a [`SandboxError`]. Which [`Layer`]s hold here is told by [`probe`]; a sandbox
//! refuses to start when one is missing, unless told to do without it.

#![cfg_attr(not(target_os = "linux"), allow(dead_code))]

mod cancel;
mod error;
mod job;
mod layer;
mod limits;
mod settings;
mod verdict;

#[cfg(target_os = "linux")]
mod answer;
#[cfg(target_os = "linux")]
mod call;
#[cfg(target_os = "linux")]
mod channel;
#[cfg(target_os = "linux")]
mod filter;
#[cfg(target_os = "linux")]
mod interpreter;
#[cfg(target_os = "linux")]
mod output;
#[cfg(target_os = "linux")]
mod permits;
#[cfg(target_os = "linux")]
mod pool;
#[cfg(target_os = "linux")]
mod probe;
#[cfg(target_os = "linux")]
mod sandbox;
#[cfg(target_os = "linux")]
mod server;
#[cfg(target_os = "linux")]
mod session;
#[cfg(target_os = "linux")]
mod source;
#[cfg(target_os = "linux")]
mod syscalls;
#[cfg(target_os = "linux")]
mod together;
#[cfg(target_os = "linux")]
mod usage;
#[cfg(target_os = "linux")]
mod worker;

#[cfg(not(target_os = "linux"))]
mod elsewhere;

pub use cancel::Cancel;
pub use error::SandboxError;
pub use job::{Job, MAX_CODE, MAX_FILES, PEER_FD, Peer};
pub use layer::{LAYERS, Layer, LayerStatus};
pub use limits::Limits;
pub use settings::{SandboxSettings, WARM_MODULES};
pub use verdict::{Report, Verdict};

#[cfg(target_os = "linux")]
pub use {probe::probe, sandbox::Sandbox, session::Session};

#[cfg(not(target_os = "linux"))]
pub use elsewhere::{Sandbox, Session, probe};
