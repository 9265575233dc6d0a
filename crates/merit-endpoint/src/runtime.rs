//! The threads that carry every connection.
//!
//! Requests live on one runtime of their own, started on first use, so that they can be made from any executor and from code
//! that has none: a future of this crate only waits for a task over there, and [`wait`] is enough to drive it. When the future
//! is dropped, the task ends and its connection is closed.

use crate::EndpointError;
use std::future::Future;
use std::pin::Pin;
use std::sync::OnceLock;
use std::task::{Context, Poll};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

/// Waiting for servers is no work; reading long answers is a little.
const THREADS: usize = 2;

static RUNTIME: OnceLock<Result<Runtime, String>> = OnceLock::new();

/// A task on those threads. Dropping it ends the task.
#[derive(Debug)]
pub struct Task<T>(JoinHandle<T>);

/// Starts `future` on the threads of this crate.
pub fn spawn<T, F>(future: F) -> Result<Task<T>, EndpointError>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let build = || {
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(THREADS).thread_name("merit-endpoint").enable_all();
        builder.build().map_err(|error| error.to_string())
    };
    match RUNTIME.get_or_init(build) {
        Ok(runtime) => Ok(Task(runtime.spawn(future))),
        Err(why) => Err(EndpointError::Threads(why.clone())),
    }
}

impl<T> Future for Task<T> {
    type Output = Result<T, EndpointError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let ended = Pin::new(&mut self.0).poll(context);
        ended.map(|result| result.map_err(|error| EndpointError::Threads(error.to_string())))
    }
}

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Waits on this thread for a future of this crate, from ordinary code. Not from inside a task of [`spawn`]: that runs on the very
/// threads that would have to do the work.
///
/// ```
/// assert_eq!(merit_endpoint::wait(async { 2 + 2 }), 4);
/// ```
pub fn wait<F: Future>(future: F) -> F::Output {
    futures::executor::block_on(future)
}
