//! The tests of `merit-env` through its public interface: one program, a module for each subject.
#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod boards;
mod catalogue;
mod command;
mod contract;
mod inquiry;
mod kbqa;
mod ledger;
mod lens;
mod look;
mod mix;
mod places;
mod repair;
mod rows;
mod service;
mod sums;
mod synth;
mod tasks;
mod vault;
