//! The tests of `merit-judge` through its public interface: one program, a module for each subject.
#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod asking;
mod oracles;
mod ranking;
