//! Keeps pairs of candidate and judge from waiting for each other: each pair needs two places in the sandbox at once, and
//! pairs that each hold one and wait for the other would wait for ever.

use merit_core::PerProcess;
use std::sync::{Condvar, Mutex, PoisonError};

/// The pairs of this process: those of one that it was forked from are not in its sandbox.
static PAIRS: PerProcess<Pairs> = PerProcess::new();

#[derive(Default)]
struct Pairs {
    running: Mutex<usize>,
    freed: Condvar,
}

/// A place for a pair, until it is dropped.
pub(super) struct Place(&'static Pairs);

impl Place {
    /// Waits until fewer than half of the sandbox's places are taken by pairs.
    pub(super) fn take(max_running: usize) -> Self {
        let most = (max_running / 2).max(1);
        let pairs = PAIRS.get(Pairs::default);
        let running = pairs.running.lock().unwrap_or_else(PoisonError::into_inner);
        let running = pairs.freed.wait_while(running, |running| *running >= most);
        *running.unwrap_or_else(PoisonError::into_inner) += 1;
        Self(pairs)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        *self.0.running.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.0.freed.notify_all();
    }
}
