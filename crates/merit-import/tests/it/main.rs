//! The tests of `merit-import` through its public interface: one program, a module for each subject.
#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod bad_input;
mod examples;
mod folder;
mod formats;
mod real_data;
