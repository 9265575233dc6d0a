//! A sampler with a delay: answers of another one, each a fixed time after it was asked for, from a thread of its own.
//!
//! Stands for a remote endpoint in benches and tests: `pump` has nothing to do and completions arrive by themselves.

use merit_model::{CompletionSink, Pump, SampleRequest, Sampler, SessionId, SessionResult};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Requests that are still wanted, with the time their answer is due.
type Wanted = Arc<Mutex<HashMap<SessionId, Instant>>>;

/// Another sampler, seen through a fixed delay.
pub struct LatencySampler<S> {
    inner: S,
    latency: Duration,
    wanted: Wanted,
    timer: Sender<Delayed>,
}

struct Delayed {
    due: Instant,
    result: SessionResult,
    sink: CompletionSink,
}

impl<S: Sampler> LatencySampler<S> {
    /// Delays every answer of `inner` until `latency` after its request.
    pub fn new(inner: S, latency: Duration) -> Self {
        let (timer, delayed) = channel();
        let wanted = Wanted::default();
        let still_wanted = Arc::clone(&wanted);
        std::thread::spawn(move || deliver_when_due(&delayed, &still_wanted));
        Self { inner, latency, wanted, timer }
    }
}

impl<S: Sampler> Sampler for LatencySampler<S> {
    fn submit(&mut self, request: SampleRequest) {
        let due = Instant::now() + self.latency;
        lock(&self.wanted).insert(request.session, due);
        self.inner.submit(request);
    }

    fn pump(&mut self, sink: &CompletionSink) -> Pump {
        let (sink, timer) = (sink.clone(), self.timer.clone());
        let wanted = Arc::clone(&self.wanted);
        self.inner.pump(&CompletionSink::new(move |result: SessionResult| {
            let due = lock(&wanted).get(&result.session).copied();
            if let Some(due) = due {
                // The timer goes only with the sampler.
                let _ = timer.send(Delayed { due, result, sink: sink.clone() });
            }
        }))
    }

    fn fork(&mut self, from: SessionId, to: SessionId, tokens: usize) {
        self.inner.fork(from, to, tokens);
    }

    fn close(&mut self, session: SessionId) {
        lock(&self.wanted).remove(&session);
        self.inner.close(session);
    }

    fn sees_all(&self) -> bool {
        self.inner.sees_all()
    }

    fn context_limit(&self) -> usize {
        self.inner.context_limit()
    }

    fn waiting(&self) -> String {
        let under_way = lock(&self.wanted).len();
        format!("{under_way} requests under way with {:?} latency; {}", self.latency, self.inner.waiting())
    }
}

fn deliver_when_due(delayed: &Receiver<Delayed>, wanted: &Wanted) {
    let mut pending: BinaryHeap<Reverse<(Instant, u64)>> = BinaryHeap::new();
    let mut held: HashMap<u64, Delayed> = HashMap::new();
    for number in 0.. {
        let wait = pending.peek().map_or(Duration::from_secs(3600), |Reverse((due, _))| {
            due.saturating_duration_since(Instant::now())
        });
        match delayed.recv_timeout(wait) {
            Ok(next) => {
                pending.push(Reverse((next.due, number)));
                held.insert(number, next);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        while let Some(&Reverse((due, number))) = pending.peek()
            && due <= Instant::now()
        {
            pending.pop();
            let Some(ready) = held.remove(&number) else { continue };
            let session = ready.result.session;
            let asked_for = {
                let mut wanted = lock(wanted);
                wanted.get(&session) == Some(&due) && wanted.remove(&session).is_some()
            };
            if asked_for {
                ready.sink.put(ready.result);
            }
        }
    }
}

fn lock(wanted: &Wanted) -> std::sync::MutexGuard<'_, HashMap<SessionId, Instant>> {
    wanted.lock().unwrap_or_else(PoisonError::into_inner)
}
