//! Words on a terminal: of a text from outside nothing is obeyed, and nothing hides.

/// The most characters shown of one piece.
const MOST_CHARS: usize = 200;

/// The beginning of a text, on one line.
pub fn piece(text: &str) -> String {
    let mut shown: String = text.chars().take(MOST_CHARS).flat_map(written_out).collect();
    if text.chars().nth(MOST_CHARS).is_some() {
        shown.push('…');
    }
    shown
}

/// At most the first `chars` characters of a text, with an ellipsis where more was left out.
///
/// ```
/// use merit_core::printable::beginning;
/// assert_eq!((beginning("naïve", 3), beginning("naïve", 5)), ("naï…".to_owned(), "naïve".to_owned()));
/// ```
pub fn beginning(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// A whole text with its lines.
pub fn lines(text: &str) -> String {
    let kept = |c: char| if c == '\n' { Shown::One(Some(c)) } else { written_out(c) };
    text.chars().flat_map(kept).collect()
}

/// `1 error`, `2 errors`.
pub fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// A character, or its name where a terminal would obey it or show nothing.
enum Shown {
    One(Option<char>),
    Named(std::char::EscapeDefault),
}

impl Iterator for Shown {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        match self {
            Self::One(c) => c.take(),
            Self::Named(name) => name.next(),
        }
    }
}

fn written_out(c: char) -> Shown {
    if c.is_control() || is_hidden(c) { Shown::Named(c.escape_default()) } else { Shown::One(Some(c)) }
}

/// Characters without a shape of their own, some of which turn the writing around.
fn is_hidden(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_is_obeyed_or_hidden() {
        let text = "a\u{1b}[2J\n\u{202e}b é";
        assert_eq!(piece(text), "a\\u{1b}[2J\\n\\u{202e}b é");
        assert_eq!(lines(text), "a\\u{1b}[2J\n\\u{202e}b é");
    }

    #[test]
    fn a_piece_has_an_end() {
        assert_eq!(piece(&"é".repeat(1000)).chars().count(), MOST_CHARS + 1);
        assert_eq!(piece(&"é".repeat(MOST_CHARS)).chars().count(), MOST_CHARS);
    }
}
