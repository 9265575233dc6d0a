//! The tests of `merit-export` through its public interface.
#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod files;
mod parquet;
mod selecting;
