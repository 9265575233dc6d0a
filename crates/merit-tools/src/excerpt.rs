//! Texts cut to what an agent should read: a refusal is short, and an excerpt has no control characters.

use crate::ToolAnswer;
use crate::conformance::MAX_REFUSAL_LENGTH;

/// At most `bytes` bytes of `text`, cut between characters, with `…` in place of what is left out.
pub(crate) fn excerpt(text: &str, bytes: usize) -> String {
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    if text.len() <= bytes {
        return text.chars().map(plain).collect();
    }
    let kept = head(text, bytes.saturating_sub('…'.len_utf8()));
    kept.chars().map(plain).chain(['…']).collect()
}

/// The longest beginning of `text` within `bytes` bytes.
pub(crate) fn head(text: &str, bytes: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes)).unwrap_or_default()
}

/// A text of at most `most` characters: what is longer loses its middle and says so.
pub(crate) fn middle_cut(text: &str, most: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let marker = format!("\n… {} characters left out …\n", count - most);
    let kept = most.saturating_sub(marker.chars().count());
    let (head, tail) = (kept - kept / 2, kept / 2);
    let start: String = text.chars().take(head).collect();
    let end: String = text.chars().skip(count - tail).collect();
    format!("{start}{marker}{end}")
}

/// A refusal in at most as many bytes as the contract allows.
pub(crate) fn refused(why: impl AsRef<str>) -> ToolAnswer {
    ToolAnswer::Refused(excerpt(why.as_ref(), MAX_REFUSAL_LENGTH))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_between_characters() {
        assert_eq!(excerpt("a\nb", 10), "a b");
        assert_eq!(excerpt("ééééé", 9), "ééé…");
        assert_eq!(excerpt("ééééé", 8), "éé…");
        assert_eq!(excerpt("abc", 0), "…");
        assert_eq!(head("é", 1), "");
        assert_eq!(refused("x".repeat(500)), ToolAnswer::Refused(format!("{}…", "x".repeat(197))));
    }

    #[test]
    fn a_long_text_keeps_both_ends_and_says_what_is_missing() {
        let text = format!("{}é{}", "a".repeat(300), "z".repeat(300));
        let shown = middle_cut(&text, 100);
        assert!(shown.chars().count() <= 100, "{shown}");
        assert!(
            shown.starts_with("aaa") && shown.ends_with("zzz") && shown.contains("501 characters left out")
        );
        assert_eq!(middle_cut("short", 100), "short");
    }
}
