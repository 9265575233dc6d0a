//! The tests of `merit-text` through its public interface: one program, a module for each subject.
#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod frames;
mod grammars;
mod support;
mod templates;
mod tokenizers;
mod trained;
mod weights;
