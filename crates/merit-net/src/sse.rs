//! Server-sent events: bytes in, in pieces of any size, events out, each within a bound. Pure.
//!
//! What is kept is the data of each event and the last id. Comments and names are read over.

/// Takes bytes and gives the data of events.
#[derive(Debug)]
pub struct Events {
    /// Most bytes of one event.
    limit: usize,
    /// The line in progress.
    line: Vec<u8>,
    /// The data of the event in progress; absent before its first line.
    data: Option<Vec<u8>>,
    last_id: Option<String>,
    /// Whether the last byte was a carriage return, whose line feed belongs to the same end of line.
    returned: bool,
}

impl Events {
    /// A reader of events of at most `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self { limit, line: Vec::new(), data: None, last_id: None, returned: false }
    }

    /// The data of every event that `bytes` completes; nothing when one is longer than the limit.
    pub fn push(&mut self, bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
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
            if self.line.len() + self.data.as_ref().map_or(0, Vec::len) > self.limit {
                return None;
            }
        }
        Some(done)
    }

    /// What is left when the stream has ended: an event that was not closed.
    pub fn rest(&mut self) -> Option<Vec<u8>> {
        if !self.line.is_empty() {
            let _ = self.end_line();
        }
        self.data.take()
    }

    /// The id of the last event that gave one: where to go on when the stream breaks off.
    pub fn last_id(&self) -> Option<&str> {
        self.last_id.as_deref()
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

    fn check(bytes: &[u8], closed: &[&str], rest: Option<&str>) {
        for cut in 1..=bytes.len() {
            let mut events = Events::new(100);
            let got = bytes.chunks(cut).flat_map(|piece| events.push(piece).unwrap());
            let got: Vec<String> = got.map(|data| String::from_utf8(data).unwrap()).collect();
            assert_eq!(got, closed, "in pieces of {cut}");
            assert_eq!(events.rest(), rest.map(|rest| rest.as_bytes().to_vec()), "in pieces of {cut}");
        }
    }

    #[test]
    fn events_are_the_same_however_the_bytes_are_cut() {
        check(b"data: {\"a\":1}\n\ndata:2\n\n", &["{\"a\":1}", "2"], None);
        check(b"data: a\r\n\r\ndata: b\r\n\r\n", &["a", "b"], None);
        check(b"data: a\r\rdata: b\r\r", &["a", "b"], None);
        check(": ping\n\nevent: x\nid: 7\ndata: é\ndata: f\n\n: ping\n\n".as_bytes(), &["é\nf"], None);
        check(b"data: unclosed", &[], Some("unclosed"));
        check(b"data:\n\n", &[""], None);
        check(b"\n\n: nothing\n\n", &[], None);
    }

    #[test]
    fn an_event_is_measured_from_empty_line_to_empty_line() {
        let mut events = Events::new(8);
        for _ in 0..10 {
            assert!(events.push(b"data: 45\r\n\r\n").is_some());
        }
        let mut events = Events::new(9);
        assert!(events.push(b"data: 456\n").is_some());
        assert!(events.push(b"data: 7").is_none(), "the second line belongs to the same event");
    }

    #[test]
    fn the_last_id_is_kept() {
        let mut events = Events::new(100);
        events.push(b"id: 7\ndata: a\n\nid: 8\n\ndata: b\n\n").unwrap();
        assert_eq!(events.last_id(), Some("8"));
    }
}
