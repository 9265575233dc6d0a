//! A run is killed, interrupted, damaged, starved of disk space and fought over; what was recorded stays, and going on
//! ends where an undisturbed run ends, to the bit.

mod disk;
mod kills;
pub(crate) mod process;
mod stops;
