//! A neighbour that wants one core for itself.

use anyhow::{Context as _, Result};
use std::process::{Child, Command};

/// A shell in an endless loop, ended when this is dropped.
pub(super) struct Busy(Child);

impl Busy {
    /// Starts the loop.
    pub(super) fn start() -> Result<Self> {
        let child = Command::new("sh").args(["-c", "while :; do :; done"]).spawn();
        child.map(Self).context("cannot start `sh` for the busy loop")
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        // An error here means that the loop has already ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
