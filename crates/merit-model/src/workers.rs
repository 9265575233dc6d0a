//! Threads for coarse pieces of work; which thread runs a piece never shows in the result.

use crate::ModelError;
use rayon::prelude::*;
use std::sync::{Arc, Mutex, PoisonError};

/// A fixed number of threads, shared by clones.
#[derive(Debug, Clone)]
pub struct Workers {
    threads: usize,
    pool: Option<Arc<rayon::ThreadPool>>,
}

impl Workers {
    /// `threads` of 0 or 1 runs everything on the caller's thread.
    pub fn new(threads: usize) -> Result<Self, ModelError> {
        if threads <= 1 {
            return Ok(Self::single());
        }
        let built = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = built.map_err(|error| ModelError::Threads { threads, reason: error.to_string() })?;
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

    /// Calls `work` once for each item, in any order, on any of the threads.
    pub(crate) fn for_each<T: Send>(&self, items: &mut [T], work: impl Fn(usize, &mut T) + Sync) {
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
pub(crate) struct Scratch<T>(Mutex<Vec<T>>);

impl<T: Default> Scratch<T> {
    pub(crate) fn lend<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        let mut item = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
        let result = work(&mut item);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(item);
        result
    }
}
