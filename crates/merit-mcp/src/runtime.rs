//! The threads that carry every connection.
//!
//! Clients and servers live on one runtime of their own, started on first use. So a connection outlives the runtime of whoever
//! opened it, may be used from several of them, and from code that has none: every future of this crate only waits for a task
//! over there, and [`wait`] is enough to drive it.

use std::future::Future;
use std::pin::Pin;
use std::sync::OnceLock;
use std::task::{Context, Poll};
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::JoinHandle;

static RUNTIME: OnceLock<Result<Runtime, String>> = OnceLock::new();

/// The shared runtime.
pub(crate) fn handle() -> Result<&'static Handle, String> {
    let build = || {
        let threads = std::thread::available_parallelism().map_or(2, |n| n.get().clamp(2, 8));
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(threads).thread_name("merit-mcp").enable_all();
        builder.build().map_err(|error| error.to_string())
    };
    RUNTIME.get_or_init(build).as_ref().map(Runtime::handle).map_err(Clone::clone)
}

/// A task over there that ends when nobody waits for it any more.
pub(crate) struct Remote<T>(JoinHandle<T>);

impl<T: Send + 'static> Remote<T> {
    pub(crate) fn spawn(handle: &Handle, future: impl Future<Output = T> + Send + 'static) -> Self {
        Self(handle.spawn(future))
    }
}

impl<T> Future for Remote<T> {
    /// Absent when the task panicked.
    type Output = Option<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        Pin::new(&mut self.0).poll(context).map(Result::ok)
    }
}

impl<T> Drop for Remote<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Waits on this thread for a future of this crate, from ordinary code. Not from inside the future of a served tool: that runs on
/// the very threads that would have to do the work.
///
/// ```
/// assert_eq!(merit_mcp::wait(async { 2 + 2 }), 4);
/// ```
pub fn wait<F: Future>(future: F) -> F::Output {
    futures::executor::block_on(future)
}
