//! The tests of `merit-mcp` through its public interface: one program, a module for each subject.
#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod hostile;
mod http;
mod python_sdk;
mod real_servers;
mod stdio;
mod support;
