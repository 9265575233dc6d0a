//! The tests of `merit-maths` through its public interface: one program, a module for each subject.
#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod comparing;
mod extraction;
mod form;
mod hostile;
mod mutator;
mod pairs;
mod parsing;
mod peer_suite;
mod references;
mod threads;
mod told_apart;
mod verify;
