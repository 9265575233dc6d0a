//! Keeps pairs of candidate and judge from waiting for each other: each pair needs two places in the sandbox at once, and
//! pairs that each hold one and wait for the other would wait for ever.

use std::sync::{Condvar, Mutex, PoisonError};

static RUNNING: Mutex<usize> = Mutex::new(0);
static FREED: Condvar = Condvar::new();

/// A place for a pair, until it is dropped.
pub(super) struct Place(());

impl Place {
    /// Waits until fewer than half of the sandbox's places are taken by pairs.
    pub(super) fn take(max_running: usize) -> Self {
        let most = (max_running / 2).max(1);
        let running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        let mut running =
            FREED.wait_while(running, |running| *running >= most).unwrap_or_else(PoisonError::into_inner);
        *running += 1;
        Self(())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        *RUNNING.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        FREED.notify_all();
    }
}
