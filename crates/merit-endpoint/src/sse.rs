//! Server-sent events: bytes in, in pieces of any size, events out. Pure.
//!
//! Only what this protocol uses is kept: the data of each event. Comments, names and ids are read over.

/// Takes bytes and gives events.
#[derive(Debug, Default)]
pub(crate) struct Events {
    /// The line in progress.
    line: Vec<u8>,
    /// The data of the event in progress.
    data: Vec<u8>,
    has_data: bool,
    /// Whether the last byte was a carriage return, whose line feed belongs to the same end of line.
    returned: bool,
}

impl Events {
    /// The data of every event that `bytes` completes.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Vec<Vec<u8>> {
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
        }
        done
    }

    /// What is left when the stream has ended: an event that nobody closed.
    pub(crate) fn rest(&mut self) -> Option<Vec<u8>> {
        if !self.line.is_empty() {
            let _ = self.end_line();
        }
        self.end_event()
    }

    fn end_line(&mut self) -> Option<Vec<u8>> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            return self.end_event();
        }
        if let Some(data) = line.strip_prefix(b"data:") {
            if self.has_data {
                self.data.push(b'\n');
            }
            self.data.extend_from_slice(data.strip_prefix(b" ").unwrap_or(data));
            self.has_data = true;
        }
        None
    }

    fn end_event(&mut self) -> Option<Vec<u8>> {
        std::mem::take(&mut self.has_data).then(|| std::mem::take(&mut self.data))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], expected: &[&str]) {
        for cut in 1..=bytes.len() {
            let mut events = Events::default();
            let mut got: Vec<Vec<u8>> = bytes.chunks(cut).flat_map(|piece| events.push(piece)).collect();
            got.extend(events.rest());
            let got: Vec<String> = got.into_iter().map(|data| String::from_utf8(data).unwrap()).collect();
            assert_eq!(got, expected, "in pieces of {cut}");
        }
    }

    #[test]
    fn events_are_the_same_however_the_bytes_are_cut() {
        check(b"data: {\"a\":1}\n\ndata:2\n\n", &["{\"a\":1}", "2"]);
        check(b"data: a\r\n\r\ndata: b\r\n\r\n", &["a", "b"]);
        check(b"data: a\r\rdata: b\r\r", &["a", "b"]);
        check(": ping\n\nevent: x\nid: 7\ndata: é\ndata: f\n\n: ping\n\n".as_bytes(), &["é\nf"]);
        check(b"data: unclosed", &["unclosed"]);
        check(b"data:\n\n", &[""]);
        check(b"\n\n: nothing\n\n", &[]);
    }
}
