//! Tokens of strict JSON (RFC 8259): where a string or a number ends, and what an escaped string says.
//!
//! Works on bytes of valid UTF-8; every position it returns lies on a character boundary, since it only stops at ASCII.

use std::borrow::Cow;

/// The first position at or after `at` that is not white space.
pub(crate) fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while matches!(bytes.get(at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
        at += 1;
    }
    at
}

/// The position of the quote that ends the string whose text starts at `at`, and whether it holds escapes.
pub(crate) fn string_end(bytes: &[u8], mut at: usize) -> Result<(usize, bool), &'static str> {
    let mut is_escaped = false;
    loop {
        match bytes.get(at) {
            Some(b'"') => return Ok((at, is_escaped)),
            Some(b'\\') => {
                is_escaped = true;
                at += 2;
            }
            Some(0..=0x1f) => return Err("a control character inside a string"),
            Some(_) => at += 1,
            None => return Err("a string without its closing quote"),
        }
    }
}

/// The position after the number that starts at `at`; `None` when there is no well-formed number.
pub(crate) fn number_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    if bytes.get(at) == Some(&b'-') {
        at += 1;
    }
    match bytes.get(at)? {
        b'0' => at += 1,
        b'1'..=b'9' => at = digits_end(bytes, at),
        _ => return None,
    }
    if bytes.get(at) == Some(&b'.') {
        at = some_digits(bytes, at + 1)?;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        at += 1;
        if matches!(bytes.get(at), Some(b'+' | b'-')) {
            at += 1;
        }
        at = some_digits(bytes, at)?;
    }
    // `01` and `1.2.3` are one broken token, not a number followed by something.
    let runs_on =
        matches!(bytes.get(at), Some(b'0'..=b'9' | b'.' | b'+' | b'-' | b'a'..=b'z' | b'A'..=b'Z' | b'_'));
    (!runs_on).then_some(at)
}

fn digits_end(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(u8::is_ascii_digit) {
        at += 1;
    }
    at
}

fn some_digits(bytes: &[u8], at: usize) -> Option<usize> {
    let end = digits_end(bytes, at);
    (end > at).then_some(end)
}

/// What the text between two quotes says; refuses unknown escapes and surrogates that do not pair.
pub(crate) fn unescape(raw: &str) -> Result<Cow<'_, str>, &'static str> {
    if !raw.contains('\\') {
        return Ok(Cow::Borrowed(raw));
    }
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(cut) = rest.find('\\') {
        text.push_str(rest.get(..cut).unwrap_or_default());
        let (c, used) = escape(rest.get(cut + 1..).unwrap_or_default())?;
        text.push(c);
        rest = rest.get(cut + 1 + used..).unwrap_or_default();
    }
    text.push_str(rest);
    Ok(Cow::Owned(text))
}

/// The character that the escape after a backslash stands for, and how many bytes it takes.
pub(crate) fn escape(after: &str) -> Result<(char, usize), &'static str> {
    let plain = match after.bytes().next() {
        Some(b'"') => '"',
        Some(b'\\') => '\\',
        Some(b'/') => '/',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => return unicode_escape(after),
        _ => return Err("an unknown escape in a string"),
    };
    Ok((plain, 1))
}

fn unicode_escape(after: &str) -> Result<(char, usize), &'static str> {
    let unit = hex4(after, 1).ok_or("a \\u escape without four hex digits")?;
    if let Some(c) = char::from_u32(unit) {
        return Ok((c, 5));
    }
    let low = (after.get(5..7) == Some("\\u")).then(|| hex4(after, 7)).flatten();
    match (unit, low) {
        (0xd800..=0xdbff, Some(low @ 0xdc00..=0xdfff)) => {
            let code = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
            char::from_u32(code).map(|c| (c, 11)).ok_or("a lone surrogate in a string")
        }
        _ => Err("a lone surrogate in a string"),
    }
}

fn hex4(text: &str, at: usize) -> Option<u32> {
    let digits = text.get(at..at + 4)?;
    digits.bytes().all(|b| b.is_ascii_hexdigit()).then(|| u32::from_str_radix(digits, 16).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_follow_the_grammar_of_json() {
        for good in ["0", "-0", "10", "1.5", "1e5", "1E+5", "-2.25e-10"] {
            assert_eq!(number_end(good.as_bytes(), 0), Some(good.len()), "{good}");
        }
        for bad in ["", "-", "01", "1.", ".5", "+1", "1e", "1e+", "0x1", "1_000", "NaN", "1.2.3"] {
            assert_eq!(number_end(bad.as_bytes(), 0), None, "{bad}");
        }
    }

    #[test]
    fn escapes_are_read_and_lone_surrogates_refused() {
        assert_eq!(unescape(r"a\n\u00e9\ud83d\ude00"), Ok(Cow::Owned("a\né😀".to_owned())));
        for (why, bad) in [
            ("a lone surrogate in a string", &[r"\ud83d", r"\ud83d\n", r"\ude00", r"\ud83d\ud83d"][..]),
            ("an unknown escape in a string", &[r"\x", "\\"]),
            ("a \\u escape without four hex digits", &[r"\u12g4", r"\u"]),
        ] {
            for text in bad {
                assert_eq!(unescape(text), Err(why), "{text}");
            }
        }
    }
}
