//! Server-sent events, each bounded.

use crate::lines::MAX_MESSAGE;
use crate::notes::too_large;
use bytes::Bytes;
use futures::stream::{BoxStream, StreamExt as _, once};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use rmcp::model::RequestId;
use sse_stream::{Error as SseError, Sse, SseStream};

/// Events as they come.
pub(crate) type Events = BoxStream<'static, Result<Sse, SseError>>;

/// Why a stream of events ended early.
#[derive(Debug, thiserror::Error)]
enum Cut {
    #[error("an event has more than {MAX_MESSAGE} bytes")]
    TooLarge,
    #[error("{0}")]
    Body(#[from] hyper::Error),
}

/// Counts the bytes of the event in progress.
#[derive(Debug, Default)]
struct Meter {
    event: usize,
    line: usize,
}

impl Meter {
    /// Whether every event so far is within the limit.
    fn admits(&mut self, chunk: &[u8], limit: usize) -> bool {
        for byte in chunk {
            match (byte, self.line) {
                (b'\r', _) => {}
                // An empty line ends an event.
                (b'\n', 0) => self.event = 0,
                (b'\n', _) => self.line = 0,
                _ => {
                    self.line += 1;
                    self.event += 1;
                }
            }
            if self.event > limit {
                return false;
            }
        }
        true
    }
}

/// The events of a body. One over the limit ends the stream; when the stream answers a request, that request is told so.
pub(crate) fn events(body: Incoming, answers: Option<RequestId>) -> Events {
    let mut meter = Meter::default();
    let mut open = true;
    let chunks = body.into_data_stream().map(move |chunk: Result<Bytes, hyper::Error>| {
        let chunk = chunk?;
        if meter.admits(&chunk, MAX_MESSAGE) { Ok(chunk) } else { Err(Cut::TooLarge) }
    });
    // Nothing is read after the first failure.
    let chunks = chunks.take_while(move |chunk| {
        let more = open;
        open &= chunk.is_ok();
        async move { more }
    });
    let stream = SseStream::from_bytes_stream(chunks);
    let Some(id) = answers else { return stream.boxed() };
    stream.flat_map(move |event| once(in_place(event, id.clone()))).boxed()
}

/// An event that is too large, replaced by the error that its request waits for.
async fn in_place(event: Result<Sse, SseError>, id: RequestId) -> Result<Sse, SseError> {
    match event {
        Err(SseError::Body(cause)) if cause.is::<Cut>() && cause.to_string() == Cut::TooLarge.to_string() => {
            let data = serde_json::to_string(&too_large(id)).unwrap_or_default();
            Ok(Sse::default().data(data))
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_measured_from_empty_line_to_empty_line() {
        let mut meter = Meter::default();
        for _ in 0..10 {
            assert!(meter.admits(b"data: 45\r\n\r\n", 8));
        }
        assert!(meter.admits(b"data: 45\n", 8));
        assert!(!meter.admits(b"6", 8), "the second line belongs to the same event");
    }
}
