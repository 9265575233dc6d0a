//! What the tolerant reader does with text that is not JSON: each repair is noted as a fault.
//!
//! Single quotes, words without quotes, Python's literals, NaN, broken escapes, raw line breaks in strings, strings and
//! brackets that never close, comments. A repair may earn credit for structure; it never makes a text valid.

use super::lex;
use super::parse::Reader;
use serde_json::Value;

/// The letters, digits, `_`, `-` and `$` at the start of `text`.
pub(super) fn word(text: &str) -> &str {
    let end =
        text.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '$'))).unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}

/// The length of the comment at the start of `text`.
pub(super) fn comment(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    text.starts_with("/*")
        .then(|| text.get(2..).and_then(|body| body.find("*/")).map_or(text.len(), |at| at + 4))
}

/// Whether the text so far ends with a comma and white space.
pub(super) fn ends_with_comma(read: &[u8]) -> bool {
    read.iter().rev().find(|b| !b.is_ascii_whitespace()) == Some(&b',')
}

/// A string that is not strict: it ends at its own quote, or with the text.
pub(super) fn string(reader: &mut Reader<'_>) -> String {
    let quote = if reader.peek() == Some(b'\'') { '\'' } else { '"' };
    if quote == '\'' {
        reader.fault("a string in single quotes");
    }
    reader.at += 1;
    let mut text = String::new();
    while let Some(c) = reader.rest().chars().next() {
        if c == quote {
            reader.at += 1;
            return text;
        }
        if c == '\\' {
            text.push(escaped(reader, quote));
            continue;
        }
        if c < ' ' {
            reader.fault("a control character inside a string");
        }
        reader.at += c.len_utf8();
        text.push(c);
    }
    reader.fault("a string without its closing quote");
    text
}

/// The character behind a backslash; what no escape stands for is kept as it is, or replaced.
fn escaped(reader: &mut Reader<'_>, quote: char) -> char {
    let after = reader.rest().get(1..).unwrap_or_default();
    match (lex::escape(after), after.chars().next()) {
        (Ok((c, used)), _) => {
            reader.at += 1 + used;
            c
        }
        (Err(_), Some(c)) if c == quote => {
            reader.at += 1 + c.len_utf8();
            c
        }
        (Err(what), _) => {
            reader.fault(what);
            reader.at += 1;
            char::REPLACEMENT_CHARACTER
        }
    }
}

/// A scalar that is not strict: Python's literals, NaN and infinities (as null), loose numbers, bare words.
pub(super) fn scalar(reader: &mut Reader<'_>) -> Option<Value> {
    let rest = reader.rest();
    if let Some((number, used)) = loose_number(rest) {
        reader.fault("a number that JSON does not allow");
        reader.at += used;
        return Some(number);
    }
    let token = word(rest);
    let (value, what) = match token {
        "" => return None,
        "True" => (Value::Bool(true), "`True` instead of `true`"),
        "False" => (Value::Bool(false), "`False` instead of `false`"),
        "None" | "undefined" => (Value::Null, "a word that JSON does not know, read as null"),
        "NaN" | "Infinity" | "-Infinity" => (Value::Null, "a number that JSON does not know, read as null"),
        word => (Value::String(word.to_owned()), "a word without quotes"),
    };
    reader.fault(what);
    reader.at += token.len();
    Some(value)
}

/// Numbers such as `+1`, `01`, `.5` and `1.`.
fn loose_number(text: &str) -> Option<(Value, usize)> {
    let used =
        text.find(|c: char| !matches!(c, '0'..='9' | '+' | '-' | '.' | 'e' | 'E')).unwrap_or(text.len());
    let token = text.get(..used)?;
    let has_digit = token.bytes().any(|b| b.is_ascii_digit());
    let number: f64 = if has_digit { token.parse().ok()? } else { return None };
    let follows_word = text.get(used..).is_some_and(|rest| !word(rest).is_empty());
    let whole = number.fract() == 0.0 && number.abs() < 9.0e15;
    let value = if whole {
        Some(Value::from(number as i64))
    } else {
        serde_json::Number::from_f64(number).map(Value::Number)
    };
    value.filter(|_| !follows_word).map(|value| (value, used))
}
