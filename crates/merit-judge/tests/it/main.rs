//! The tests of `merit-judge` through its public interface: one program, a module for each subject.
#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod asked_evolving;
mod asking;
mod bench;
mod evolving;
mod grades;
mod judging;
mod made;
mod oracle;
mod paying;
mod ranking;
