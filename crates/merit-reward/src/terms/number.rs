//! One spelling for each decimal number, at any length, without floats.

/// The canonical spelling of an integer or decimal: no plus sign, no idle zeros, no negative zero. `None` where the text
/// is not one; thousands separators, exponents and units are not part of a number here.
pub fn canonical(text: &str) -> Option<String> {
    let text = text.trim();
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let plain = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    if (whole.is_empty() && part.is_empty()) || !plain(whole) || !plain(part) {
        return None;
    }
    let whole = whole.trim_start_matches('0');
    let part = part.trim_end_matches('0');
    let mut out = String::with_capacity(text.len() + 1);
    if negative && !(whole.is_empty() && part.is_empty()) {
        out.push('-');
    }
    out.push_str(if whole.is_empty() { "0" } else { whole });
    if !part.is_empty() {
        out.push('.');
        out.push_str(part);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::canonical;

    #[test]
    fn each_number_has_one_spelling() {
        let spelled = [
            ("7", "7"),
            ("+007", "7"),
            (" 7.50 ", "7.5"),
            (".5", "0.5"),
            ("5.", "5"),
            ("-0.0", "0"),
            ("-03.10", "-3.1"),
            ("123456789012345678901234567890", "123456789012345678901234567890"),
        ];
        for (text, want) in spelled {
            assert_eq!(canonical(text).as_deref(), Some(want), "{text}");
        }
    }

    #[test]
    fn what_is_not_a_plain_decimal_is_not_a_number() {
        for text in
            ["", ".", "-", "+", "--1", "1e3", "1,000", "1.2.3", "0x10", "seven", "٣", "5 cm", "- 5", "−5"]
        {
            assert_eq!(canonical(text), None, "{text}");
        }
    }
}
