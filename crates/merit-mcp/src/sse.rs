//! Server-sent events of a body, each within a bound.

use crate::fault::Fault;
use crate::lines::MAX_MESSAGE;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use std::collections::VecDeque;

/// The events of a body, as they come.
pub(crate) struct Events {
    body: Incoming,
    reader: Reader,
    ready: VecDeque<Vec<u8>>,
}

impl Events {
    pub(crate) fn new(body: Incoming) -> Self {
        Self { body, reader: Reader::default(), ready: VecDeque::new() }
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
                self.ready.extend(self.reader.push(&bytes, MAX_MESSAGE).ok_or(Fault::TooLarge)?);
            }
        }
    }

    /// The id of the last event that gave one: where to go on when the body breaks off.
    pub(crate) fn last_id(&self) -> Option<&str> {
        self.reader.last_id.as_deref()
    }
}

/// Takes bytes in pieces of any size and gives the data of events.
#[derive(Default)]
struct Reader {
    line: Vec<u8>,
    /// The data of the event in progress; absent before its first line.
    data: Option<Vec<u8>>,
    last_id: Option<String>,
    /// Whether the last byte was a carriage return, whose line feed belongs to the same end of line.
    returned: bool,
}

impl Reader {
    /// The data of every event that `bytes` completes; nothing when one is longer than `limit`.
    fn push(&mut self, bytes: &[u8], limit: usize) -> Option<Vec<Vec<u8>>> {
        let mut done = Vec::new();
        for &byte in bytes {
            let after_return = std::mem::take(&mut self.returned);
            match byte {
                b'\n' if after_return => {}
                b'\n' | b'\r' => {
                    self.returned = byte == b'\r';
                    done.extend(self.end_line());
                }
                _ => self.line.push(byte),
            }
            if self.line.len() + self.data.as_ref().map_or(0, Vec::len) > limit {
                return None;
            }
        }
        Some(done)
    }

    fn end_line(&mut self) -> Option<Vec<u8>> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            return self.data.take();
        }
        let after = |name: &[u8]| {
            let value = line.strip_prefix(name)?;
            Some(value.strip_prefix(b" ").unwrap_or(value))
        };
        if let Some(more) = after(b"data:") {
            match &mut self.data {
                Some(data) => {
                    data.push(b'\n');
                    data.extend_from_slice(more);
                }
                None => self.data = Some(more.to_vec()),
            }
        } else if let Some(id) = after(b"id:") {
            self.last_id = String::from_utf8(id.to_vec()).ok().filter(|id| !id.is_empty());
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], expected: &[&str]) {
        for cut in 1..=bytes.len() {
            let mut reader = Reader::default();
            let got = bytes.chunks(cut).flat_map(|piece| reader.push(piece, 100).unwrap());
            let got: Vec<String> = got.map(|data| String::from_utf8(data).unwrap()).collect();
            assert_eq!(got, expected, "in pieces of {cut}");
        }
    }

    #[test]
    fn events_are_the_same_however_the_bytes_are_cut() {
        check(b"data: {\"a\":1}\n\ndata:2\n\n", &["{\"a\":1}", "2"]);
        check(b"data: a\r\n\r\ndata: b\r\n\r\n", &["a", "b"]);
        check(": ping\n\nevent: x\nid: 7\ndata: é\ndata: f\n\n".as_bytes(), &["é\nf"]);
        check(b"data: unclosed", &[]);
    }

    #[test]
    fn an_event_is_measured_from_empty_line_to_empty_line() {
        let mut reader = Reader::default();
        for _ in 0..10 {
            assert!(reader.push(b"data: 45\r\n\r\n", 8).is_some());
        }
        assert!(reader.push(b"data: 456\n", 9).is_some());
        assert!(reader.push(b"data: 7", 9).is_none(), "the second line belongs to the same event");
    }

    #[test]
    fn the_last_id_is_kept() {
        let mut reader = Reader::default();
        reader.push(b"id: 7\ndata: a\n\nid: 8\n\ndata: b\n\n", 100).unwrap();
        assert_eq!(reader.last_id.as_deref(), Some("8"));
    }
}
