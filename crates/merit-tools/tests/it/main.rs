//! The tests of `merit-tools` through its public interface: one program, a module for each subject.
#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod calculator;
mod contract;
mod convert;
mod formats;
mod formats_settings;
mod formats_specimens;
mod http_fixture;
mod python;
mod python_tool;
mod search;
mod simulated;
mod sql;
mod tape;
mod weather;
mod workspace;
