//! A run is killed, interrupted, damaged, starved of disk space and fought over; what was recorded stays, and going on
//! ends where an undisturbed run ends, to the bit.
#![allow(clippy::unwrap_used)] // A helper that fails is a test that fails.

mod disk;
mod kills;
mod process;
mod stops;
#[path = "../tiny/mod.rs"]
mod tiny;
