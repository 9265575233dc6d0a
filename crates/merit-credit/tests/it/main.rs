//! The tests of `merit-credit` through its public interface: one program, a module for each subject.
#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod absence;
mod along_tokens;
mod annotated;
mod by_turn;
mod conformance;
mod reference;
mod tree;
mod within_groups;
