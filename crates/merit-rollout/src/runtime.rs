//! Where tools run: in place, as a task, or on a thread of their own, according to their kind of execution.
//!
//! Deadlines are the episode machine's business. Here a call whose episode stopped waiting is dropped: its task is
//! aborted, its place in the queue is given up, and a future that yields on a thread is dropped there. Only code that
//! computes without ever yielding keeps its thread until it is done.

use crate::effect::ToolJob;
use crate::guard::caught;
use merit_api::{ExecKind, ToolAnswer, ToolFuture, ToolSession};
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Instant;
use tokio::sync::oneshot;
use tokio::task::AbortHandle;

/// Threads for computing tools, unless told otherwise.
const COMPUTING_THREADS: usize = 64;

/// Runs tools, and carries the two flags by which others speak to a running rollout.
pub struct ToolRuntime {
    runtime: Option<tokio::runtime::Runtime>,
    busy: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
    ask: Arc<AtomicBool>,
}

/// What a call tells the engine.
pub(crate) enum ToolNotice {
    Started,
    Answered(ToolAnswer, f64),
}

/// Called from any thread.
pub(crate) type Notify = Box<dyn Fn(ToolNotice) + Send>;

/// What became of a call that was started.
pub(crate) enum Ran {
    /// It has answered already, after so many seconds.
    Answered(ToolAnswer, f64),
    /// It will tell; dropping this gives it up.
    Later(Running),
}

/// A call under way. Dropping it gives the call up.
pub(crate) struct Running {
    abort: AbortHandle,
    /// Its receiver sees the sender go and drops the future it guards.
    _given_up: oneshot::Sender<()>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.abort.abort();
    }
}

impl ToolRuntime {
    /// A runtime with its own threads.
    pub fn new() -> std::io::Result<Self> {
        Self::with_threads(COMPUTING_THREADS)
    }

    /// A runtime in which at most `computing` tools of kind `Computing` run at once.
    pub fn with_threads(computing: usize) -> std::io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .max_blocking_threads(computing.max(1))
            .thread_name("merit-tools")
            .enable_all()
            .build()?;
        Ok(Self { runtime: Some(runtime), busy: Arc::default(), stop: Arc::default(), ask: Arc::default() })
    }

    /// Uses `flag` as the stop flag: when it is set, a running rollout returns what has finished.
    #[must_use]
    pub fn with_stop(mut self, flag: Arc<AtomicBool>) -> Self {
        self.stop = flag;
        self
    }

    /// Uses `flag` to ask a running rollout what it is waiting for; the rollout answers through `watch` and clears it.
    #[must_use]
    pub fn with_ask(mut self, flag: Arc<AtomicBool>) -> Self {
        self.ask = flag;
        self
    }

    /// Threads that are computing for a tool now, waited for or not.
    pub fn busy_threads(&self) -> usize {
        self.busy.load(Ordering::Relaxed)
    }

    pub(crate) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    pub(crate) fn asked(&self) -> bool {
        self.ask.load(Ordering::Relaxed) && self.ask.swap(false, Ordering::Relaxed)
    }

    /// Starts a call where its kind belongs.
    pub(crate) fn start(&self, job: ToolJob, notify: impl FnOnce() -> Notify) -> Ran {
        let begun = Instant::now();
        // A call that turns out to wait finds the runtime's clock also when it is polled here.
        let _entered = self.handle().enter();
        let mut future = guarded_call(job.session, job.input);
        match job.exec_kind {
            ExecKind::Instant => match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(answer) => Ran::Answered(answer, begun.elapsed().as_secs_f64()),
                // It waits after all: no harm, it goes on as a task.
                Poll::Pending => self.wait(future, begun, notify()),
            },
            ExecKind::Waiting => self.wait(future, begun, notify()),
            ExecKind::Computing => self.compute(future, notify()),
        }
    }

    fn wait(&self, future: ToolFuture, begun: Instant, notify: Notify) -> Ran {
        let (given_up, gone) = oneshot::channel();
        let task = self.handle().spawn(async move {
            if let Some(answer) = unless_given_up(future, gone).await {
                notify(ToolNotice::Answered(answer, begun.elapsed().as_secs_f64()));
            }
        });
        Ran::Later(Running { abort: task.abort_handle(), _given_up: given_up })
    }

    fn compute(&self, future: ToolFuture, notify: Notify) -> Ran {
        let (given_up, gone) = oneshot::channel();
        let (handle, busy) = (self.handle().clone(), Arc::clone(&self.busy));
        let task = self.handle().spawn_blocking(move || {
            busy.fetch_add(1, Ordering::Relaxed);
            notify(ToolNotice::Started);
            let begun = Instant::now();
            let answer = handle.block_on(unless_given_up(future, gone));
            busy.fetch_sub(1, Ordering::Relaxed);
            if let Some(answer) = answer {
                notify(ToolNotice::Answered(answer, begun.elapsed().as_secs_f64()));
            }
        });
        Ran::Later(Running { abort: task.abort_handle(), _given_up: given_up })
    }

    fn handle(&self) -> &tokio::runtime::Handle {
        self.runtime.as_ref().expect("the runtime is taken only when it is dropped").handle()
    }
}

impl Drop for ToolRuntime {
    /// Does not wait for calls that never end.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// The call as a future that does not panic: a panic is a broken tool.
fn guarded_call(session: Arc<dyn ToolSession>, input: String) -> ToolFuture {
    let mut begin = Some((session, input));
    let mut running: Option<ToolFuture> = None;
    Box::pin(poll_fn(move |cx| {
        let polled = caught(|| {
            if let Some((session, input)) = begin.take() {
                running = Some(session.call(input));
            }
            running.as_mut().map_or(Poll::Pending, |future| future.as_mut().poll(cx))
        });
        polled.unwrap_or_else(|panic| Poll::Ready(ToolAnswer::Broken(panic)))
    }))
}

/// The answer of `future`, or nothing once the other end of `gone` has been dropped.
async fn unless_given_up(mut future: ToolFuture, gone: oneshot::Receiver<()>) -> Option<ToolAnswer> {
    let mut gone = pin!(gone);
    poll_fn(move |cx| {
        if let Poll::Ready(answer) = future.as_mut().poll(cx) {
            return Poll::Ready(Some(answer));
        }
        Pin::as_mut(&mut gone).poll(cx).map(|_| None)
    })
    .await
}
