//! Messages as lines over a process's standard streams.
//!
//! Reading is bounded: a line over [`MAX_MESSAGE`] is dropped as it arrives and answered, to whoever waits for it, with an error of
//! our own. Lines that are no messages (programs print to their standard output) are skipped and remembered for the report of a
//! deadline that they may explain.

use crate::notes::{Noise, too_large};
use crate::skimmed::Skimmed;
use rmcp::model::ServerJsonRpcMessage;
use rmcp::service::{RoleClient, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use std::future::Future;
use std::io;
use std::sync::Arc;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::Mutex;

/// The longest message taken in, in bytes.
pub const MAX_MESSAGE: usize = 16 << 20;

/// The two streams of a server.
pub(crate) struct Lines<R, W> {
    input: BufReader<R>,
    output: Arc<Mutex<Option<W>>>,
    /// What has been read of the line in progress; kept here since `receive` may be dropped half-way.
    line: Vec<u8>,
    /// Present while a line over the limit is being dropped.
    dropping: Option<Skimmed>,
    noise: Arc<Noise>,
}

enum Step {
    /// A whole line is in `line`.
    Line,
    /// The end of a dropped line.
    Dropped(Skimmed),
    End,
}

impl<R: AsyncRead + Send + Unpin, W> Lines<R, W> {
    pub(crate) fn new(input: R, output: W, noise: Arc<Noise>) -> Self {
        let output = Arc::new(Mutex::new(Some(output)));
        Self {
            input: BufReader::with_capacity(64 << 10, input),
            output,
            line: Vec::new(),
            dropping: None,
            noise,
        }
    }

    async fn step(&mut self) -> Step {
        loop {
            let Ok(available) = self.input.fill_buf().await else { return Step::End };
            if available.is_empty() {
                return Step::End;
            }
            let newline = available.iter().position(|byte| *byte == b'\n');
            let length = newline.map_or(available.len(), |at| at + 1);
            let piece = available.get(..length).unwrap_or_default();
            match &mut self.dropping {
                Some(skimmed) => skimmed.push(piece),
                None if self.line.len() + length > MAX_MESSAGE => {
                    let mut skimmed = Skimmed::default();
                    skimmed.push(&self.line);
                    skimmed.push(piece);
                    self.line = Vec::new();
                    self.dropping = Some(skimmed);
                }
                None => self.line.extend_from_slice(piece),
            }
            self.input.consume(length);
            if newline.is_some() {
                return self.dropping.take().map_or(Step::Line, Step::Dropped);
            }
        }
    }

    fn parse(&mut self) -> Option<ServerJsonRpcMessage> {
        let line = self.line.trim_ascii();
        let message = match line {
            [] => None,
            _ => serde_json::from_slice(line).map_err(|error| self.noise.note(line, &error)).ok(),
        };
        self.line.clear();
        // One long line should not hold its memory for the life of the connection.
        self.line.shrink_to(1 << 20);
        message
    }
}

impl<R, W> Transport<RoleClient> for Lines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let output = Arc::clone(&self.output);
        async move {
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            let mut output = output.lock().await;
            let Some(stream) = output.as_mut() else { return Err(io::ErrorKind::NotConnected.into()) };
            stream.write_all(&line).await?;
            stream.flush().await
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            match self.step().await {
                Step::End => return None,
                Step::Line => {
                    if let Some(message) = self.parse() {
                        return Some(message);
                    }
                }
                Step::Dropped(skimmed) => match skimmed.id() {
                    Some(id) => return Some(too_large(id)),
                    None => self.noise.note_dropped(),
                },
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.output.lock().await.take();
        Ok(())
    }
}
