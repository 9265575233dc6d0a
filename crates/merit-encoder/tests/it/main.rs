//! The tests of `merit-encoder` through its public interface: one program, a module for each subject.
#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod reference;
mod support;
mod texts;
