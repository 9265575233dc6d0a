//! The end of a stream of bytes, kept within a cap.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// How much is kept, in bytes.
const KEPT: usize = 4096;

/// The last [`KEPT`] bytes of what was pushed.
#[derive(Debug, Default)]
pub(crate) struct Tail(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    bytes: VecDeque<u8>,
    cut: bool,
}

impl Tail {
    pub(crate) fn push(&self, chunk: &[u8]) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.bytes.extend(chunk.iter().skip(chunk.len().saturating_sub(KEPT)));
        let excess = kept.bytes.len().saturating_sub(KEPT);
        kept.cut |= excess > 0 || chunk.len() > KEPT;
        kept.bytes.drain(..excess);
    }

    /// For the end of an error message; empty when nothing was pushed.
    pub(crate) fn in_words(&self) -> String {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes: Vec<u8> = kept.bytes.iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes);
        let text = text.trim();
        match (text.is_empty(), kept.cut) {
            (true, _) => String::new(),
            (false, true) => format!("\nits standard error ends: …{text}"),
            (false, false) => format!("\nits standard error: {text}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_end_is_kept() {
        let tail = Tail::default();
        assert_eq!(tail.in_words(), "");
        tail.push(b"boom\n");
        assert_eq!(tail.in_words(), "\nits standard error: boom");
        tail.push(&vec![b'x'; 10 * KEPT]);
        tail.push(b"end");
        let words = tail.in_words();
        assert!(words.starts_with("\nits standard error ends: …xx") && words.ends_with("xend"), "{words}");
        assert!(words.len() < KEPT + 100);
    }
}
