//! Server-sent events of a body, each within a bound.

use crate::fault::Fault;
use crate::lines::MAX_MESSAGE;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use std::collections::VecDeque;

/// The events of a body, as they come.
pub(crate) struct Events {
    body: Incoming,
    reader: merit_net::Events,
    ready: VecDeque<Vec<u8>>,
}

impl Events {
    pub(crate) fn new(body: Incoming) -> Self {
        Self { body, reader: merit_net::Events::new(MAX_MESSAGE), ready: VecDeque::new() }
    }

    /// The data of the next event that has some; nothing at the end of the body.
    pub(crate) async fn next(&mut self) -> Result<Option<Vec<u8>>, Fault> {
        loop {
            if let Some(data) = self.ready.pop_front() {
                return Ok(Some(data));
            }
            let Some(frame) = self.body.frame().await else { return Ok(None) };
            let frame = frame.map_err(|error| Fault::Http(format!("the answer breaks off: {error}")))?;
            if let Ok(bytes) = frame.into_data() {
                self.ready.extend(self.reader.push(&bytes).ok_or(Fault::TooLarge)?);
            }
        }
    }

    /// The id of the last event that gave one: where to go on when the body breaks off.
    pub(crate) fn last_id(&self) -> Option<&str> {
        self.reader.last_id()
    }
}
