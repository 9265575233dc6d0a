//! The threads that carry connections.
//!
//! Connections live on a runtime of their own, started on first use. So they outlive the runtime of their opener, may be
//! used from several of them, and from code that has none: a future only waits for a task over there, and [`wait`] is enough to
//! drive it. When the future is dropped, the task ends and its connection is closed.
//!
//! A process that was forked has none of its parent's threads: its first task starts its own.

use merit_core::PerProcess;
use std::future::Future;
use std::pin::Pin;
use std::sync::OnceLock;
use std::task::{Context, Poll};
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::JoinHandle;

/// A runtime for a static: as many threads as there are processors, at least 2.
#[derive(Debug)]
pub struct Threads {
    name: &'static str,
    most: usize,
    runtime: PerProcess<OnceLock<Result<Runtime, String>>>,
}

impl Threads {
    /// At most `most` threads of this name, none before the first task.
    pub const fn new(name: &'static str, most: usize) -> Self {
        Self { name, most, runtime: PerProcess::new() }
    }

    /// The runtime, for tasks that are not awaited; or why it cannot be started.
    pub fn handle(&self) -> Result<&Handle, String> {
        let build = || {
            let threads = std::thread::available_parallelism().map_or(2, |n| n.get().min(self.most).max(2));
            let mut builder = Builder::new_multi_thread();
            builder.worker_threads(threads).thread_name(self.name).enable_all();
            builder.build().map_err(|error| error.to_string())
        };
        let runtime = self.runtime.get(OnceLock::new).get_or_init(build);
        runtime.as_ref().map(Runtime::handle).map_err(Clone::clone)
    }

    /// Starts `future` on these threads.
    pub fn spawn<T, F>(&self, future: F) -> Result<Task<T>, String>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        Ok(Task(self.handle()?.spawn(future)))
    }
}

/// A task on such threads. Dropping it ends the task.
#[derive(Debug)]
pub struct Task<T>(JoinHandle<T>);

impl<T> Future for Task<T> {
    /// An error when the task panicked.
    type Output = Result<T, String>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(context).map(|ended| ended.map_err(|error| error.to_string()))
    }
}

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Waits on this thread for a future, from ordinary code. Not from inside a task of [`Threads`]: that runs on the very threads
/// that would have to do the work.
///
/// ```
/// assert_eq!(merit_net::wait(async { 2 + 2 }), 4);
/// ```
pub fn wait<F: Future>(future: F) -> F::Output {
    futures::executor::block_on(future)
}

#[cfg(test)]
mod tests {
    use super::*;

    static THREADS: Threads = Threads::new("merit-net-test", 2);

    #[test]
    fn a_task_gives_what_it_made_or_how_it_broke() {
        assert_eq!(wait(THREADS.spawn(async { 7 }).unwrap()), Ok(7));
        let broken = wait(THREADS.spawn(async { panic!("no") }).unwrap());
        assert!(broken.is_err_and(|why: String| why.contains("panicked")));
    }

    #[test]
    fn a_dropped_task_ends() {
        let (alive, ended) = tokio::sync::oneshot::channel::<()>();
        let task = THREADS.spawn(async move {
            std::future::pending::<()>().await;
            drop(alive);
        });
        drop(task);
        assert!(wait(ended).is_err(), "the sender goes with the task");
    }
}
