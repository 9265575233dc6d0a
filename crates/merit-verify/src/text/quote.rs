//! Quoted spans, which must stand word for word in the source that is named.

use super::words::words;
use serde::{Deserialize, Serialize};

/// A quoted span of a response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quote {
    /// What stands between the quotation marks.
    pub text: String,
    /// Where it starts, in bytes of the response.
    pub at: usize,
    /// The cited source that has it word for word. Absent: none of them.
    pub found_in: Option<String>,
}

/// The quoted spans of at least `min_words` words in `text`, with the byte each starts at.
pub(crate) fn quotes(text: &str, min_words: usize) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut open: Option<(usize, char)> = None;
    for (at, c) in text.char_indices() {
        match open {
            Some((start, close)) if c == close => {
                let inside = text.get(start..at).unwrap_or_default();
                if words(inside).count() >= min_words {
                    found.push((start, inside));
                }
                open = None;
            }
            Some(_) => {}
            None => open = closing(c).map(|close| (at + c.len_utf8(), close)),
        }
    }
    found
}

fn closing(c: char) -> Option<char> {
    match c {
        '“' => Some('”'),
        '"' => Some('"'),
        '«' => Some('»'),
        '「' => Some('」'),
        _ => None,
    }
}

/// Whether `source`, with white space collapsed, has the quote word for word. A comma or full stop that the writer put
/// before the closing mark is not part of it.
pub(crate) fn stands_in(collapsed_source: &str, quote: &str) -> bool {
    let quote = collapse(quote);
    let bare = quote.trim_end_matches([',', '.']);
    !bare.is_empty() && (collapsed_source.contains(&quote) || collapsed_source.contains(bare))
}

/// Runs of white space as one blank.
pub(crate) fn collapse(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in words(text) {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_enough_spans_are_found() {
        let text = "He said “it was a dark night” and \"ok\".";
        assert_eq!(quotes(text, 3), [(11, "it was a dark night")]);
        assert_eq!(quotes(text, 1).len(), 2);
        assert!(quotes("an “open one", 1).is_empty());
    }

    #[test]
    fn only_white_space_may_differ() {
        let source = collapse("It was a\n dark   night.");
        assert!(stands_in(&source, "was a dark night,"));
        assert!(!stands_in(&source, "was a Dark night"));
        assert!(!stands_in(&source, "."));
    }
}
