//! What an answer is kept under.

use merit_core::canonical;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::fmt;

/// The hash of a question and the number of the sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) question: [u8; 32],
    pub(crate) sample: u64,
}

impl Key {
    pub(crate) fn new(question: &Value, sample: u64) -> Self {
        let mut hash = Sha256::new();
        hash.update(b"merit answer v1\n");
        hash.update(canonical(question).as_bytes());
        Self { question: hash.finalize().into(), sample }
    }

    /// The question's hash in hexadecimal digits.
    pub(crate) fn hex(&self) -> String {
        merit_core::hex(&self.question)
    }

    /// A number that tells questions apart well enough for a stream of pauses.
    pub(crate) fn head(&self) -> u64 {
        let mut head = [0; 8];
        head.copy_from_slice(&self.question[..8]);
        u64::from_le_bytes(head)
    }

    pub(crate) fn parse(hex: &str, sample: u64) -> Option<Self> {
        let mut question = [0; 32];
        if hex.len() != 64 || !hex.is_ascii() {
            return None;
        }
        for (place, byte) in question.iter_mut().enumerate() {
            *byte = u8::from_str_radix(hex.get(2 * place..2 * place + 2)?, 16).ok()?;
        }
        Some(Self { question, sample })
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.hex(), self.sample)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_order_of_fields_does_not_matter_and_everything_else_does() {
        let key = |text: &str, sample| Key::new(&serde_json::from_str(text).unwrap(), sample);
        assert_eq!(key(r#"{"a":1,"b":[{"c":2,"d":3}]}"#, 0), key(r#"{"b":[{"d":3,"c":2}],"a":1}"#, 0));
        assert_ne!(key(r#"{"a":[1,2]}"#, 0), key(r#"{"a":[2,1]}"#, 0));
        assert_ne!(key(r#"{"a":1}"#, 0), key(r#"{"a":1}"#, 1));
    }

    #[test]
    fn keys_have_a_fixed_definition() {
        // Golden: a change here orphans every recorded answer.
        let key = Key::new(&json!({ "path": "models", "body": null }), 3);
        assert!(key.to_string().starts_with("11c2e80371b1a799"), "{key}");
        assert_eq!(Key::parse(&key.hex(), 3), Some(key));
        assert_eq!(Key::parse("zz", 3), None);
    }
}
