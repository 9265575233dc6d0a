//! The tests of `merit-model` through its public interface: one program, a module for each subject.
#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod adapters;
mod checkpoint;
mod families;
mod large;
mod options;
mod real_models;
mod rewards;
mod sampling;
mod sharing;
mod support;
mod training;
mod unchanged;
