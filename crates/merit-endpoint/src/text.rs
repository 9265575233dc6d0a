//! Other people's text, made short enough for an error message.

/// `text` in one line of at most about `limit` bytes, cut at a whole character.
pub(crate) fn glimpse(text: &str, limit: usize) -> String {
    let mut end = limit.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let head = text.get(..end).unwrap_or_default();
    let line: String = head.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.len() > end { format!("{line}…") } else { line }
}

/// An error and its causes on one line, without repeating what an outer text already says.
pub(crate) fn in_a_chain(error: &(dyn std::error::Error + 'static)) -> String {
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
        assert_eq!(glimpse("aé", 2), "a…");
        assert_eq!(glimpse("a\nb", 3), "a b");
    }
}
