//! The last number of a text, and the number an announced answer starts with.

use super::{Found, Notation};
use crate::CandidateKind;
use std::borrow::Cow;
use std::ops::Range;

/// The last number that is not part of a word, as `2` is of `H2O`.
pub(super) fn last(text: &str) -> Option<Found<'_>> {
    let bytes = text.as_bytes();
    let mut to = bytes.len();
    while let Some(last) = bytes[..to].iter().rposition(u8::is_ascii_digit) {
        let range = number_around(bytes, last);
        if !text[..range.start].ends_with(char::is_alphabetic) {
            return Some(found(text, range));
        }
        to = range.start;
    }
    None
}

/// The first number of an announced answer.
pub(super) fn leading<'t>(text: &'t str, from: usize, sentence: &str) -> Option<Found<'t>> {
    let first = sentence.bytes().position(|b| b.is_ascii_digit())?;
    let bytes = &text.as_bytes()[..from + sentence.len()];
    let mut last = from + first;
    while let Some(next) = continues(bytes, last) {
        last = next;
    }
    Some(found(text, number_around(bytes, last)))
}

/// The next digit of the same number, over one separator.
fn continues(bytes: &[u8], at: usize) -> Option<usize> {
    let digit = |i: usize| bytes.get(i).is_some_and(u8::is_ascii_digit);
    match bytes.get(at + 1)? {
        b'0'..=b'9' => Some(at + 1),
        b'.' | b',' | b'/' if digit(at + 2) => Some(at + 2),
        _ => None,
    }
}

fn found(text: &str, range: Range<usize>) -> Found<'_> {
    let piece = Cow::Borrowed(&text[range.clone()]);
    Found { kind: CandidateKind::LastNumber, text: piece, range, notation: Notation::Plain, stated: false }
}

/// The number whose last digit is at `last`: digits, points, commas and strokes between digits, a sign before, a percent
/// sign after.
fn number_around(bytes: &[u8], last: usize) -> Range<usize> {
    let mut from = last;
    while from > 0 {
        let before = bytes[from - 1];
        let joins = matches!(before, b'.' | b',' | b'/') && from > 1 && bytes[from - 2].is_ascii_digit();
        if !(before.is_ascii_digit() || joins || before == b'.' && bytes[from].is_ascii_digit()) {
            break;
        }
        from -= 1;
    }
    let sign = from > 0 && bytes[from - 1] == b'-';
    let subtraction = from > 1 && (bytes[from - 2].is_ascii_alphanumeric() || bytes[from - 2] == b')');
    if sign && !subtraction {
        from -= 1;
    }
    let mut to = last + 1;
    if bytes.get(to) == Some(&b'%') {
        to += 1;
    }
    from..to
}
