//! Behaviour of a memory.

mod changes;
mod episodes;
mod finding;
mod killed;
