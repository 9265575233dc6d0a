//! What every process has for itself, also one that was forked.
//!
//! A forked child has the memory of its parent as it was: locks that another thread held stay locked for ever, counts are those of the
//! parent's work, and what was opened is the parent's. So a child finds nothing here and makes its own, without waiting for anybody;
//! what it inherited is neither used nor dropped.
#![allow(
    unsafe_code,
    reason = "a lock that a fork may copy in use cannot guard this; one atomic pointer can"
)]

use std::marker::PhantomData;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// A value of this process. In a static, or in something that a fork copies.
///
/// ```
/// use merit_core::PerProcess;
/// use std::sync::Mutex;
/// static STARTED: PerProcess<Mutex<Vec<u32>>> = PerProcess::new();
/// STARTED.get(Default::default).lock().unwrap().push(7);
/// assert_eq!(STARTED.get(Default::default).lock().unwrap().len(), 1);
/// ```
#[derive(Debug)]
pub struct PerProcess<T> {
    /// What the last process to ask made, or null. The box is not freed while this process may read it.
    made: AtomicPtr<Made<T>>,
    _holds: PhantomData<T>,
}

struct Made<T> {
    process: u32,
    value: T,
}

impl<T> PerProcess<T> {
    /// Nothing yet, in any process.
    pub const fn new() -> Self {
        Self { made: AtomicPtr::new(ptr::null_mut()), _holds: PhantomData }
    }
}

impl<T> Default for PerProcess<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Send + Sync> PerProcess<T> {
    /// What this process has. The first to ask makes it; where several are first, one of the made is kept.
    pub fn get(&self, make: impl FnOnce() -> T) -> &T {
        let process = std::process::id();
        let found = self.made.load(Ordering::Acquire);
        if let Some(value) = self.of(found, process) {
            return value;
        }
        let own = Box::into_raw(Box::new(Made { process, value: make() }));
        match self.made.compare_exchange(found, own, Ordering::AcqRel, Ordering::Acquire) {
            // What was found there is another process's, and is left as it is.
            // SAFETY: `own` came from a box a moment ago. Only `drop` frees it, which takes `&mut self`: from now on `made` is
            // replaced by other processes alone, in their own memory.
            Ok(_) => unsafe { &(*own).value },
            Err(first) => {
                // SAFETY: `own` was not shared with another thread.
                let own = unsafe { Box::from_raw(own) };
                // The thread that was first is of this process: no other process writes to this memory.
                self.of(first, process).unwrap_or_else(|| &Box::leak(own).value)
            }
        }
    }

    fn of(&self, found: *mut Made<T>, process: u32) -> Option<&T> {
        // SAFETY: a pointer in `made` came from a box, and boxes are freed by `drop` alone, which takes `&mut self`.
        unsafe { found.as_ref() }.filter(|made| made.process == process).map(|made| &made.value)
    }
}

impl<T> Drop for PerProcess<T> {
    fn drop(&mut self) {
        let made = *self.made.get_mut();
        // SAFETY: as in `of`; and `&mut self` says that no reference is left.
        if unsafe { made.as_ref() }.is_some_and(|made| made.process == std::process::id()) {
            // SAFETY: it came from a box, and nothing points to it any more.
            drop(unsafe { Box::from_raw(made) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn all_threads_of_a_process_have_the_same_and_it_is_dropped_once() {
        let one = PerProcess::new();
        let value = Arc::new(());
        std::thread::scope(|scope| {
            let ask = || std::ptr::from_ref(one.get(|| Arc::clone(&value))) as usize;
            let asked: Vec<_> = (0..8).map(|_| scope.spawn(ask)).collect();
            let places: Vec<usize> = asked.into_iter().map(|thread| thread.join().unwrap()).collect();
            assert!(places.iter().all(|place| *place == places[0]));
        });
        assert_eq!(Arc::strong_count(&value), 2);
        drop(one);
        assert_eq!(Arc::strong_count(&value), 1);
    }

    #[test]
    fn what_another_process_made_is_neither_used_nor_dropped() {
        let theirs = Arc::new(AtomicUsize::new(7));
        let inherited = PerProcess::new();
        // As a fork leaves it: made by a process of another number.
        let made = Made { process: std::process::id() + 1, value: Arc::clone(&theirs) };
        inherited.made.store(Box::into_raw(Box::new(made)), Ordering::Release);
        let own = Arc::clone(inherited.get(Arc::default));
        assert_eq!(own.load(Ordering::Relaxed), 0);
        drop(inherited);
        assert_eq!((Arc::strong_count(&own), Arc::strong_count(&theirs)), (1, 2));
    }
}
