//! Behaviour of a memory.
#![allow(clippy::unwrap_used)]

mod changes;
mod episodes;
mod finding;
mod killed;
