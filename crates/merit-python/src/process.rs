//! What survives a fork. A forked child has the memory of its parent and none of its threads, and the programs that its parent
//! started are not its own: what was compiled is compiled again there, and what was inherited is neither used nor ended.

use pyo3::prelude::*;
use rayon::ThreadPool;
use std::sync::{Arc, Mutex, PoisonError};

/// Something that belongs to the process that made it.
pub(crate) struct PerProcess<T> {
    held: Mutex<(u32, Arc<T>)>,
}

impl<T> PerProcess<T> {
    pub(crate) fn new(made: T) -> Self {
        Self { held: Mutex::new((std::process::id(), Arc::new(made))) }
    }

    /// What this process made, or makes now. Called with the interpreter held, which is how a fork finds the lock free.
    pub(crate) fn get(&self, _: Python<'_>, make: impl FnOnce() -> PyResult<T>) -> PyResult<Arc<T>> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if held.0 != std::process::id() {
            let made = (std::process::id(), Arc::new(make()?));
            std::mem::forget(std::mem::replace(&mut *held, made));
        }
        Ok(Arc::clone(&held.1))
    }
}

impl<T> Drop for PerProcess<T> {
    fn drop(&mut self) {
        let held = self.held.get_mut().unwrap_or_else(PoisonError::into_inner);
        if held.0 != std::process::id() {
            // One reference that nobody gives back: the parent's programs are the parent's to end.
            std::mem::forget(Arc::clone(&held.1));
        }
    }
}

/// What a child is told of something that its parent opened.
pub(crate) fn elsewhere(py: Python<'_>) -> PyErr {
    crate::error::input(py, "it was opened by another process; open it again in this one")
}

/// Something open that no fork may share: in a child it is neither used nor closed.
pub(crate) struct Here<T> {
    process: u32,
    open: Option<T>,
}

impl<T> Here<T> {
    pub(crate) fn new(open: T) -> Self {
        Self { process: std::process::id(), open: Some(open) }
    }

    /// What is open, in the process that opened it.
    pub(crate) fn get(&mut self) -> Option<&mut T> {
        self.open.as_mut().filter(|_| self.process == std::process::id())
    }
}

impl<T> Drop for Here<T> {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            std::mem::forget(self.open.take());
        }
    }
}

static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);
/// Stack of a thread: texts nest as deep as their parsers allow.
const STACK_BYTES: usize = 8 << 20;

/// The threads of this process.
fn pool(py: Python<'_>) -> PyResult<Arc<ThreadPool>> {
    let mut held = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    match &*held {
        Some((process, pool)) if *process == std::process::id() => Ok(Arc::clone(pool)),
        _ => {
            let built = rayon::ThreadPoolBuilder::new()
                .stack_size(STACK_BYTES)
                .thread_name(|at| format!("merit-{at}"))
                .build()
                .map_err(|why| crate::error::broke(py, format!("cannot start threads: {why}")))?;
            let pool = Arc::new(built);
            // The threads of a parent are not here to be joined.
            std::mem::forget(held.replace((std::process::id(), Arc::clone(&pool))));
            Ok(pool)
        }
    }
}

/// Does the work on this process's threads while other Python threads run.
pub(crate) fn working<R: Send>(py: Python<'_>, work: impl FnOnce() -> R + Send) -> PyResult<R> {
    let pool = pool(py)?;
    Ok(py.detach(|| pool.install(work)))
}
