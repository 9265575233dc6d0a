//! Bytes of tokens to text on a terminal: characters appear when they are whole, and nothing in them is obeyed.

use crate::out;
use merit_core::printable;

/// Bytes that are not yet a whole character.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    held: Vec<u8>,
}

impl Pieces {
    /// Prints what is whole by now.
    pub(super) fn put(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        match self.take(bytes) {
            text if text.is_empty() => Ok(()),
            text => show(&text),
        }
    }

    /// Prints what is left, whole or not.
    pub(super) fn finish(&mut self) -> std::io::Result<()> {
        match std::mem::take(&mut self.held) {
            held if held.is_empty() => Ok(()),
            held => show(&String::from_utf8_lossy(&held)),
        }
    }

    /// The text that is whole by now; what may still become a character is held back.
    fn take(&mut self, bytes: &[u8]) -> String {
        self.held.extend_from_slice(bytes);
        let mut text = String::new();
        loop {
            match std::str::from_utf8(&self.held) {
                Ok(whole) => {
                    text.push_str(whole);
                    self.held.clear();
                    return text;
                }
                Err(error) => {
                    let whole = error.valid_up_to();
                    text.push_str(&String::from_utf8_lossy(&self.held[..whole]));
                    let Some(bad) = error.error_len() else {
                        self.held.drain(..whole);
                        return text;
                    };
                    text.push(char::REPLACEMENT_CHARACTER);
                    self.held.drain(..whole + bad);
                }
            }
        }
    }
}

/// Prints text of a model. Tabs are text, too.
pub(super) fn show(text: &str) -> std::io::Result<()> {
    out::text(text.split('\t').map(printable::lines).collect::<Vec<_>>().join("\t"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pieces: &[&[u8]], want: &[&str]) {
        let mut held = Pieces::default();
        let got: Vec<String> = pieces.iter().map(|piece| held.take(piece)).collect();
        assert_eq!(got, want);
    }

    #[test]
    fn a_character_appears_when_it_is_whole() {
        check(&[b"caf\xc3", b"\xa9!", b"\xf0\x9f", b"\x98", b"\x80"], &["caf", "é!", "", "", "😀"]);
    }

    #[test]
    fn bytes_that_never_become_a_character_are_shown_as_such_and_hold_nothing_up() {
        check(&[b"a\xffb", b"\xc3", b"c"], &["a\u{fffd}b", "", "\u{fffd}c"]);
    }
}
