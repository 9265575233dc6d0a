//! Threads for coarse pieces of work; which thread runs a piece never shows in the result.

use rayon::prelude::*;
use std::sync::{Arc, Mutex, PoisonError};

/// The threads could not be started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot start {threads} threads: {reason}")]
pub struct ThreadsError {
    /// How many were wanted.
    pub threads: usize,
    /// What the system said.
    pub reason: String,
}

/// A fixed number of threads, shared by clones.
#[derive(Debug, Clone)]
pub struct Workers {
    threads: usize,
    pool: Option<Arc<rayon::ThreadPool>>,
}

impl Workers {
    /// `threads` of 0 or 1 runs everything on the caller's thread.
    pub fn new(threads: usize) -> Result<Self, ThreadsError> {
        if threads <= 1 {
            return Ok(Self::single());
        }
        let built = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = built.map_err(|error| ThreadsError { threads, reason: error.to_string() })?;
        Ok(Self { threads, pool: Some(Arc::new(pool)) })
    }

    /// Everything on the caller's thread.
    pub fn single() -> Self {
        Self { threads: 1, pool: None }
    }

    /// How many threads there are.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Runs `work` on one of the threads, so that operations inside it find the others awake.
    pub fn enter<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        match &self.pool {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }

    /// Calls `work` once for each item, in any order, on any of the threads.
    pub fn for_each<T: Send>(&self, items: &mut [T], work: impl Fn(usize, &mut T) + Sync) {
        match &self.pool {
            Some(pool) if items.len() > 1 => {
                pool.install(|| items.par_iter_mut().enumerate().for_each(|(index, item)| work(index, item)));
            }
            _ => items.iter_mut().enumerate().for_each(|(index, item)| work(index, item)),
        }
    }
}

/// Scratch memory lent to whichever thread needs some; what is left in it never shows in a result.
#[derive(Debug, Default)]
pub struct Scratch<T>(Mutex<Vec<T>>);

impl<T: Default> Scratch<T> {
    /// Calls `work` with memory that no other thread has now.
    pub fn lend<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        let mut item = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
        let result = work(&mut item);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(item);
        result
    }
}
