//! The tests of `merit-store` through its public interface: one program, a module for each subject.
#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod checkpoints;
mod episodes;
mod folder;
mod hard_ends;
mod record;
