//! A server over its standard streams: requests go out as lines, answers are handed to the calls that wait for them.

use crate::fault::Fault;
use crate::lines::{Line, Lines};
use crate::message::Message;
use crate::notes::Noise;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::io::AsyncWriteExt as _;
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::oneshot;

/// What a request comes to.
type Outcome = Result<Value, Fault>;

/// The two streams.
#[derive(Debug)]
pub(crate) struct Piped {
    shared: Arc<Shared>,
    reading: tokio::task::JoinHandle<()>,
}

#[derive(Debug)]
struct Shared {
    /// Absent after the farewell.
    output: tokio::sync::Mutex<Option<ChildStdin>>,
    /// Absent once the server's output has ended.
    waiting: Mutex<Option<HashMap<u64, oneshot::Sender<Outcome>>>>,
    noise: Arc<Noise>,
}

impl Drop for Piped {
    fn drop(&mut self) {
        self.reading.abort();
    }
}

impl Piped {
    /// Must be called on the runtime.
    pub(crate) fn new(input: ChildStdout, output: ChildStdin, noise: Arc<Noise>) -> Self {
        let output = tokio::sync::Mutex::new(Some(output));
        let waiting = Mutex::new(Some(HashMap::new()));
        let shared = Arc::new(Shared { output, waiting, noise });
        let reading = tokio::spawn(read(Lines::new(input), Arc::clone(&shared)));
        Self { shared, reading }
    }

    /// Sends a request and waits for its answer.
    pub(crate) async fn ask(&self, id: u64, request: &Message) -> Outcome {
        let (sender, answer) = oneshot::channel();
        match self.shared.waiting().as_mut() {
            Some(waiting) => _ = waiting.insert(id, sender),
            None => return Err(Fault::Closed),
        }
        let _place = Place { shared: &self.shared, id };
        self.tell(request).await?;
        answer.await.unwrap_or(Err(Fault::Closed))
    }

    /// Sends a message that wants no answer.
    pub(crate) async fn tell(&self, message: &Message) -> Result<(), Fault> {
        self.shared.send(message).await
    }

    /// Closes the server's input.
    pub(crate) async fn close(&self) {
        self.shared.output.lock().await.take();
    }
}

/// A place among those who wait; given up when dropped.
struct Place<'a> {
    shared: &'a Shared,
    id: u64,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        if let Some(waiting) = self.shared.waiting().as_mut() {
            waiting.remove(&self.id);
        }
    }
}

impl Shared {
    fn waiting(&self) -> MutexGuard<'_, Option<HashMap<u64, oneshot::Sender<Outcome>>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes on a task of its own: a line must not end half-way when its caller stops waiting.
    async fn send(self: &Arc<Self>, message: &Message) -> Result<(), Fault> {
        let mut line = message.to_bytes();
        line.push(b'\n');
        let shared = Arc::clone(self);
        let writing = tokio::spawn(async move {
            let mut output = shared.output.lock().await;
            let Some(stream) = output.as_mut() else { return Err(Fault::Closed) };
            let write = |error: std::io::Error| Fault::Write(error.to_string());
            stream.write_all(&line).await.map_err(write)?;
            stream.flush().await.map_err(write)
        });
        writing.await.unwrap_or(Err(Fault::Closed))
    }

    fn answer(&self, id: u64, outcome: Outcome) {
        let waiter = self.waiting().as_mut().and_then(|waiting| waiting.remove(&id));
        if let Some(waiter) = waiter {
            // The caller may have stopped waiting.
            let _ = waiter.send(outcome);
        }
    }

    fn take(self: &Arc<Self>, line: &[u8]) {
        match Message::parse(line) {
            Ok(Message::Answer { id, outcome }) => {
                if let Some(id) = id.as_u64() {
                    self.answer(id, outcome.map_err(Fault::Refused));
                }
            }
            Ok(Message::Request { id, method, .. }) => {
                let shared = Arc::clone(self);
                let answer = Message::answer_of_client(id, &method);
                // A server that does not read must not keep us from reading.
                tokio::spawn(async move { shared.send(&answer).await });
            }
            Ok(Message::Notification { .. }) => {}
            Err(error) => self.noise.note(line, &error),
        }
    }
}

async fn read(mut lines: Lines, shared: Arc<Shared>) {
    loop {
        match lines.next().await {
            Line::Whole(line) => shared.take(&line),
            Line::Dropped(skimmed) => match skimmed.id() {
                Some(id) => shared.answer(id, Err(Fault::TooLarge)),
                None => shared.noise.note_dropped(),
            },
            // Dropping the senders tells everybody.
            Line::End => return drop(shared.waiting().take()),
        }
    }
}
