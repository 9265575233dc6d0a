//! The tests of `merit-lab` through its public interface: one program, a module for each subject.
#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod files;
mod grid;
mod oracles;
mod shipped;
mod verdicts;
