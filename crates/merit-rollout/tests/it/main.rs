//! The tests of `merit-rollout` through its public interface: one program, a module for each subject.
#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod chat;
mod common;
mod conversations;
mod determinism;
mod failures;
mod forks;
mod frontier;
mod limits;
mod machine;
mod native_calls;
mod openai;
mod oracle;
mod rollback;
mod searching;
mod templates;
mod trees;
mod turns;
mod watching;
