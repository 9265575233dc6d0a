//! What makes two calls the same.
//!
//! Strictly: the same tool with the same settings, on the same task, after the same calls of the same source with the same
//! answers, asked in the same words. Loosely: a tool of this name, asked the same but for the order of JSON keys and idle white space.
//! Every part of a key is hashed with its length, so that no two lists of parts run into each other.

use crate::{Arguments, ToolAnswer, ToolSpec};
use merit_core::canonical;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::fmt;

/// A SHA-256 of what it stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(pub [u8; 32]);

impl Fingerprint {
    /// Of a text, as content.
    pub fn of_text(text: &str) -> Self {
        Self(Sha256::digest(text.as_bytes()).into())
    }

    /// Of several parts; `purpose` keeps hashes of different meaning apart.
    pub(super) fn of(purpose: &str, parts: &[&[u8]]) -> Self {
        let mut hash = Sha256::new();
        for part in [&[purpose.as_bytes()], parts].concat() {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        Self(hash.finalize().into())
    }

    /// Reads what `Display` writes.
    pub fn parse(hex: &str) -> Option<Self> {
        let digits: Vec<u8> =
            hex.chars().map(|c| c.to_digit(16).and_then(|d| u8::try_from(d).ok())).collect::<Option<_>>()?;
        let bytes: Vec<u8> = digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect();
        if digits.len().is_multiple_of(2) { Self::from_slice(&bytes) } else { None }
    }

    pub(super) fn from_slice(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// The kind of an answer in one word, and its text.
pub(super) fn parts(answer: &ToolAnswer) -> (&'static str, &str) {
    match answer {
        ToolAnswer::Ok(text) => ("ok", text),
        ToolAnswer::Refused(text) => ("refused", text),
        ToolAnswer::TimedOut(text) => ("timed-out", text),
        ToolAnswer::Broken(text) => ("broken", text),
    }
}

/// Sixteen hexadecimal digits of an answer. A session that is made again from its calls keeps them, and sees whether the tool answers
/// as before.
pub(crate) fn digest(answer: &ToolAnswer) -> String {
    let (kind, text) = parts(answer);
    let hash = Sha256::new().chain_update(kind).chain_update([0]).chain_update(text).finalize();
    merit_core::hex(&hash[..8])
}

/// The answer that [`parts`] took apart. Absent: no such kind.
pub(super) fn answer(kind: &str, text: String) -> Option<ToolAnswer> {
    Some(match kind {
        "ok" => ToolAnswer::Ok(text),
        "refused" => ToolAnswer::Refused(text),
        "timed-out" => ToolAnswer::TimedOut(text),
        "broken" => ToolAnswer::Broken(text),
        _ => return None,
    })
}

/// The loose key of a call.
pub(super) fn loose(card: &ToolSpec, input: &str) -> Fingerprint {
    Fingerprint::of("loose", &[card.name.as_bytes(), normal(&card.arguments, input).as_bytes()])
}

/// The input without what does not matter. What JSON means is kept by sorting keys; of text, only white space at its ends
/// and runs of it are noise, and neither inside quotes nor in text of several lines, where it may mean something.
fn normal(arguments: &Arguments, input: &str) -> String {
    match arguments {
        Arguments::Json { .. } => match serde_json::from_str::<Value>(input) {
            Ok(value) => canonical(&value),
            Err(_) => input.trim().to_owned(),
        },
        Arguments::Text { .. } if input.trim().contains('\n') => {
            let lines: Vec<&str> = input.lines().map(str::trim_end).collect();
            lines.join("\n").trim_matches('\n').to_owned()
        }
        Arguments::Text { .. } => folded(input.trim()),
    }
}

/// One line with every run of white space outside quotes as one space.
fn folded(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let (mut quote, mut escaped) = (None, false);
    for c in line.chars() {
        if quote.is_none() && c.is_whitespace() {
            if !out.ends_with(' ') {
                out.push(' ');
            }
            continue;
        }
        quote = match quote {
            None if matches!(c, '"' | '\'' | '`') => Some(c),
            Some(open) if open == c && !escaped => None,
            same => same,
        };
        escaped = c == '\\' && !escaped && quote.is_some();
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn text() -> ToolSpec {
        ToolSpec::text("search", "", "query", "words", "x")
    }

    fn same(card: &ToolSpec, one: &str, other: &str) -> bool {
        loose(card, one) == loose(card, other)
    }

    #[test]
    fn idle_white_space_does_not_make_another_call() {
        assert!(same(&text(), " red  shoes\n", "red shoes"));
        assert!(same(&text(), "a = 1  \nb = 2\n", "a = 1\nb = 2"));
        assert!(!same(&text(), "red shoes", "redshoes"));
    }

    #[test]
    fn white_space_that_may_mean_something_does() {
        assert!(!same(&text(), "print('a  b')", "print('a b')"));
        assert!(!same(&text(), r#"say "it\"s  x""#, r#"say "it\"s x""#));
        assert!(!same(&text(), "if x:\n    a()\nb()", "if x:\n    a()\n    b()"));
    }

    #[test]
    fn json_is_compared_by_meaning() {
        let card = ToolSpec::json("search", "", json!({ "type": "object" }), &json!({}));
        assert!(same(&card, r#"{ "b": 1, "a": "x" }"#, r#"{"a":"x","b":1}"#));
        assert!(!same(&card, r#"{"a":"x  y"}"#, r#"{"a":"x y"}"#));
        assert!(!same(&text(), r#"{ "b": 1, "a": 2 }"#, r#"{ "a": 2, "b": 1 }"#), "a text is no JSON");
    }

    #[test]
    fn parts_do_not_run_into_each_other() {
        assert_ne!(Fingerprint::of("p", &[b"ab", b"c"]), Fingerprint::of("p", &[b"a", b"bc"]));
        assert_ne!(Fingerprint::of("p", &[b"a"]), Fingerprint::of("q", &[b"a"]));
    }

    #[test]
    fn a_fingerprint_reads_back_and_nothing_else_does() {
        let print = Fingerprint::of_text("x");
        assert_eq!(Fingerprint::parse(&print.to_string()), Some(print));
        for bad in ["", "00", "zz", &"0".repeat(63), &"0".repeat(65), &"é".repeat(32)] {
            assert_eq!(Fingerprint::parse(bad), None, "{bad}");
        }
    }
}
