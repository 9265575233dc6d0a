//! The tests of `merit-formats` through its public interface: one program, a module for each subject.
#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod adapters;
mod blocks;
mod families;
mod gguf_faults;
mod hf_faults;
mod real_files;
mod support;
mod writers;
