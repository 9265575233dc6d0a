//! The tests of `merit-attack` through its public interface: one program, a module for each subject.
#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod flawed;
mod judges;
mod probing;
mod scorers;
mod shipped;
mod tasks;
mod worlds;
