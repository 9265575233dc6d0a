//! Models at the command line, as real processes: talking to them, completing lines, looking into files.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)] // A helper that fails is a test that fails.

mod chat;
mod files;
mod generate;
mod made;
mod process;
mod rollout;
mod teacher;
mod training;
