//! The tests of `merit-endpoint` through its public interface: one program, a module for each subject.
#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod answers;
mod cache;
mod failures;
mod fields;
mod keys;
mod servers;
mod support;
mod tls;
