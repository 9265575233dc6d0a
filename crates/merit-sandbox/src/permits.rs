//! How many programs run at once; further calls wait their turn.

use crate::{Cancel, SandboxError};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// How often a waiting call looks whether it was cancelled.
const GLANCE: Duration = Duration::from_millis(10);

#[derive(Debug)]
pub(crate) struct Permits {
    free: Mutex<usize>,
    freed: Condvar,
}

/// Leave to run one program; given back when dropped.
#[derive(Debug)]
pub(crate) struct Permit<'a>(&'a Permits);

impl Permits {
    pub(crate) fn new(count: usize) -> Self {
        Self { free: Mutex::new(count), freed: Condvar::new() }
    }

    pub(crate) fn take(&self, cancel: Option<&Cancel>) -> Result<Permit<'_>, SandboxError> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        while *free == 0 {
            if cancel.is_some_and(Cancel::is_cancelled) {
                return Err(SandboxError::Cancelled);
            }
            free = match cancel {
                None => self.freed.wait(free).unwrap_or_else(PoisonError::into_inner),
                Some(_) => self.freed.wait_timeout(free, GLANCE).unwrap_or_else(PoisonError::into_inner).0,
            };
        }
        *free -= 1;
        Ok(Permit(self))
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        *self.0.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.freed.notify_one();
    }
}
