//! The tests of `merit-env` through its public interface: one program, a module for each subject.
#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod command;
mod contract;
mod inquiry;
mod ledger;
mod mix;
mod places;
mod rows;
mod sums;
mod tasks;
mod vault;
