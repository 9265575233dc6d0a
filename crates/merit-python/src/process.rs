//! Work beside Python, and what survives a fork. A forked child has the memory of its parent and none of its threads, and the programs
//! that its parent started are not its own: what was compiled is compiled again there, and what was inherited is neither used nor ended.
//!
//! Nobody waits for a lock while holding the interpreter: who has the lock may be waiting for the interpreter. A child never waits for
//! a lock of its parent: who held it is not there to let it go.

use crate::error;
use pyo3::prelude::*;
use rayon::ThreadPool;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Something that every process makes for itself, when it is first asked for.
pub(crate) struct PerProcess<T>(merit_core::PerProcess<Mutex<Option<Arc<T>>>>);

impl<T: Send + Sync> PerProcess<T> {
    pub(crate) fn new(made: T) -> Self {
        let own = merit_core::PerProcess::new();
        own.get(|| Mutex::new(Some(Arc::new(made))));
        Self(own)
    }

    /// What this process made, or makes now, while other Python threads run. Who asks meanwhile waits for it.
    pub(crate) fn get(
        &self,
        py: Python<'_>,
        make: impl FnOnce() -> Result<T, String> + Send,
    ) -> PyResult<Arc<T>> {
        let own = self.0.get(Mutex::default);
        // Nearly always it is there and nobody has the lock: then the interpreter need not be let go.
        if let Ok(held) = own.try_lock()
            && let Some(made) = &*held
        {
            return Ok(Arc::clone(made));
        }
        let found = apart(py, || {
            let mut held = own.lock().unwrap_or_else(PoisonError::into_inner);
            match &*held {
                Some(made) => Ok(Arc::clone(made)),
                None => Ok(Arc::clone(held.insert(Arc::new(make()?)))),
            }
        })?;
        found.map_err(|why: String| error::input(py, why))
    }
}

/// Something open that no fork may share: in a child it is neither used nor closed.
pub(crate) struct Here<T> {
    process: u32,
    open: Option<Mutex<T>>,
}

impl<T: Send> Here<T> {
    pub(crate) fn new(open: T) -> Self {
        Self { process: std::process::id(), open: Some(Mutex::new(open)) }
    }

    /// Works with what is open, one thread at a time, while other Python threads run. A child is refused: the lock may be its parent's
    /// for ever, and is not looked at.
    pub(crate) fn with<R: Send>(&self, py: Python<'_>, work: impl FnOnce(&mut T) -> R + Send) -> PyResult<R> {
        match &self.open {
            Some(open) if self.process == std::process::id() => {
                apart(py, || work(&mut open.lock().unwrap_or_else(PoisonError::into_inner)))
            }
            _ => Err(error::input(py, "it was opened by another process; open it again in this one")),
        }
    }
}

impl<T> Drop for Here<T> {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            std::mem::forget(self.open.take());
        }
    }
}

static POOL: merit_core::PerProcess<OnceLock<Result<ThreadPool, String>>> = merit_core::PerProcess::new();
/// Stack of a thread: texts nest as deep as their parsers allow.
const STACK_BYTES: usize = 8 << 20;

fn pool() -> Result<&'static ThreadPool, String> {
    let build = || {
        let builder = rayon::ThreadPoolBuilder::new().stack_size(STACK_BYTES);
        builder.thread_name(|at| format!("merit-{at}")).build().map_err(|why| why.to_string())
    };
    POOL.get(OnceLock::new).get_or_init(build).as_ref().map_err(Clone::clone)
}

/// Does the work on this process's threads while other Python threads run.
pub(crate) fn working<R: Send>(py: Python<'_>, work: impl FnOnce() -> R + Send) -> PyResult<R> {
    let done = apart(py, || pool().map(|pool| pool.install(work)))?;
    done.map_err(|why| error::broke(py, format!("cannot start threads: {why}")))
}

/// Does the work on this thread while other Python threads run. A panic is an error like any other.
pub(crate) fn apart<R: Send>(py: Python<'_>, work: impl FnOnce() -> R + Send) -> PyResult<R> {
    py.detach(|| fenced(work)).map_err(|why| error::broke(py, why))
}

/// The work, or in words that it panicked: nothing that a caller does ends his program.
pub(crate) fn fenced<R>(work: impl FnOnce() -> R) -> Result<R, String> {
    // What the work was doing is dropped with it; what is shared stands behind locks that do not mind.
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        format!("merit itself broke: {}; please report it with what was called", said(panic.as_ref()))
    })
}

fn said(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("it did not say how")
}
