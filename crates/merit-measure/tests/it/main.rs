//! The tests of `merit-measure` through its public interface: one program, a module for each subject.
#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod browse;
mod report;
mod summary;
mod synthetic;
