//! Behaviour of a memory.
#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod changes;
mod episodes;
mod finding;
mod kept;
mod killed;
