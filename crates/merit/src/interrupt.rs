//! Ctrl-C of a command that keeps what it has: the first one asks it to end, the second ends it at once.

use anyhow::{Context as _, Result};
use signal_hook::consts::SIGINT;
use signal_hook::iterator::Signals;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Becomes true at the first Ctrl-C. The second ends this process, and before it the programs of rewards, worlds and tools: one
/// that hangs is why somebody asks twice.
pub(crate) fn listen() -> Result<Arc<AtomicBool>> {
    let asked = Arc::new(AtomicBool::new(false));
    let first = Arc::clone(&asked);
    let mut heard = Signals::new([SIGINT]).context("cannot listen for Ctrl-C")?;
    std::thread::spawn(move || {
        for _ in heard.forever() {
            if first.swap(true, Ordering::SeqCst) {
                merit_command::end_all();
                signal_hook::low_level::exit(130);
            }
        }
    });
    Ok(asked)
}
