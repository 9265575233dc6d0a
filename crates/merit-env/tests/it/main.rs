//! The tests of `merit-env` through its public interface: one program, a module for each subject.
#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod blocks;
mod boards;
mod catalogue;
mod clinic;
mod command;
mod contract;
mod errands;
mod hostile;
mod inquiry;
mod kbqa;
mod knobs;
mod ledger;
mod lens;
mod look;
mod mix;
mod native_calls;
mod pairs;
mod places;
mod played;
mod python;
mod repair;
mod rows;
mod sale;
mod service;
mod shop;
mod strings;
mod sums;
mod synth;
mod tables;
mod tasks;
mod toolshelf;
mod travel;
mod tutor;
mod vault;
