//! The request number of a message that is too long to keep.
//!
//! An oversized answer is dropped as it arrives, but the call that waits for it should learn so. This reads a JSON object byte by
//! byte in constant memory and notes the number under the key `id` at its top level.

/// The longest key or number looked at; longer ones are not the one sought.
const MAX_WORD: usize = 20;

/// Reads on through one message.
#[derive(Debug, Default)]
pub(crate) struct Skimmed {
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// The string or number being read at the top level.
    word: Vec<u8>,
    /// The last string read at the top level, which a colon makes a key.
    key_is_id: bool,
    /// A colon was seen after `"id"`.
    value_is_id: bool,
    id: Option<u64>,
}

impl Skimmed {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if self.in_string { self.inside_string(byte) } else { self.outside_string(byte) }
        }
    }

    /// The number, when the message has one.
    pub(crate) fn id(&self) -> Option<u64> {
        self.id
    }

    fn inside_string(&mut self, byte: u8) {
        match (self.escaped, byte) {
            (true, _) => self.escaped = false,
            (false, b'\\') => self.escaped = true,
            (false, b'"') => {
                self.in_string = false;
                self.key_is_id = self.depth == 1 && self.word == b"id";
                self.word.clear();
                return;
            }
            _ => {}
        }
        self.note(byte);
    }

    fn outside_string(&mut self, byte: u8) {
        match byte {
            b'"' => {
                self.in_string = true;
                self.word.clear();
            }
            b'{' | b'[' => {
                self.depth = self.depth.saturating_add(1);
                self.key_is_id = false;
                self.value_is_id = false;
            }
            b'}' | b']' | b',' => {
                self.finish_number();
                if byte != b',' {
                    self.depth = self.depth.saturating_sub(1);
                }
            }
            b':' => {
                self.value_is_id = self.key_is_id;
                self.key_is_id = false;
                self.word.clear();
            }
            _ if byte.is_ascii_whitespace() => {}
            _ => self.note(byte),
        }
    }

    fn finish_number(&mut self) {
        if self.value_is_id && self.depth == 1 {
            self.id = std::str::from_utf8(&self.word).ok().and_then(|word| word.parse().ok());
        }
        self.value_is_id = false;
        self.word.clear();
    }

    fn note(&mut self, byte: u8) {
        if self.depth == 1 && self.word.len() <= MAX_WORD {
            self.word.push(byte);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(message: &str, expected: Option<u64>) {
        let mut whole = Skimmed::default();
        whole.push(message.as_bytes());
        assert_eq!(whole.id(), expected, "{message}");
        let mut piecewise = Skimmed::default();
        for byte in message.bytes() {
            piecewise.push(&[byte]);
        }
        assert_eq!(piecewise.id(), expected, "{message}, byte by byte");
    }

    #[test]
    fn the_number_is_found_wherever_it_stands() {
        check(r#"{"jsonrpc":"2.0","id":7,"result":{}}"#, Some(7));
        check(r#"{"result":{"id":3,"text":"\"id\":4"},"id" : 12 }"#, Some(12));
        check(r#"{"result":[{"id":3}],"x":"id","y":5}"#, None);
        check(r#"{"id":"7","result":{}}"#, None);
        check(r#"{"id":null}"#, None);
        check(r#"{"id":99999999999999999999999999}"#, None);
        check(r#"[{"id":1}]"#, None);
        check("garbage } ] , : \" \\", None);
    }
}
