//! Other people's text, cut at whole characters for an error message.

/// The longest prefix of at most `limit` bytes.
pub fn head(text: &str, limit: usize) -> &str {
    text.get(..text.floor_char_boundary(limit)).unwrap_or_default()
}

/// `text` in one line of at most about `limit` bytes, for error messages.
pub fn glimpse(text: &str, limit: usize) -> String {
    let line: String = head(text, limit).chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.len() > limit { format!("{line}…") } else { line }
}

/// An error and its causes on one line, without repeating what an outer text already says.
pub fn in_a_chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        let words = next.to_string();
        if !text.contains(&words) {
            text = format!("{text}: {words}");
        }
        cause = next.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_never_splits_a_character() {
        assert_eq!(head("aé", 2), "a");
        assert_eq!(head("aé", 3), "aé");
        assert_eq!(head("é", 0), "");
        assert_eq!(glimpse("a\nbc", 3), "a b…");
    }
}
