//! Models at the command line, as real processes: talking to them, completing lines, looking into files.
#![cfg(target_os = "linux")]

mod chat;
mod files;
mod generate;
pub(crate) mod made;
mod process;
mod rollout;
mod teacher;
mod training;
