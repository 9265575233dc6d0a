//! The tests of `merit-sandbox` through its public interface: one program, a module for each subject.
#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod layers;
mod running;
mod secrets;
mod sessions;
