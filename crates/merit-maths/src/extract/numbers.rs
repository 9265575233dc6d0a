//! The last number of a text, and the number an announced answer starts with, each with the words that belong to it: a
//! scale (`1.5 million`), a known unit (`5 miles`), a second amount (`2 hours 30 minutes`).

use super::{Found, Notation};
use crate::compare::is_known_unit;
use crate::parse::scale;
use crate::{Budget, CandidateKind, Exhausted, qualifiers};
use std::borrow::Cow;
use std::ops::Range;

/// The last number that is not part of a word, as `2` is of `H2O`.
pub(super) fn last<'t>(text: &'t str, budget: &mut Budget) -> Result<Option<Found<'t>>, Exhausted> {
    let Some(number) = last_before(text, text.len(), 0) else { return Ok(None) };
    let amount = measured(text, &number, budget)?;
    if amount == number {
        return Ok(Some(found(text, qualified(text, amount, 0, text.len()))));
    }
    // The amount before it, where nothing but `and` or a comma stands between.
    let before = text[..amount.start].trim_end();
    let before = before.strip_suffix("and").or_else(|| before.strip_suffix(',')).unwrap_or(before).trim_end();
    if let Some(first) = last_before(text, before.len(), before.len().saturating_sub(FAR)) {
        let first = measured(text, &first, budget)?;
        if first.end == before.len() {
            return Ok(Some(both(text, first, amount)));
        }
    }
    Ok(Some(found(text, qualified(text, amount, 0, text.len()))))
}

/// How far apart two amounts of one answer begin at most.
const FAR: usize = 30;

/// The last number that ends before `to` and not before `from`.
fn last_before(text: &str, mut to: usize, from: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    while let Some(last) = bytes[from.min(to)..to].iter().rposition(u8::is_ascii_digit) {
        let range = number_around(bytes, from + last);
        if !text[..range.start].ends_with(char::is_alphabetic) {
            return Some(range);
        }
        to = range.start;
    }
    None
}

/// The first number of an announced answer.
pub(super) fn leading<'t>(
    text: &'t str,
    from: usize,
    sentence: &str,
    budget: &mut Budget,
) -> Result<Option<Found<'t>>, Exhausted> {
    let Some(number) = first_after(text, from, from + sentence.len()) else { return Ok(None) };
    let amount = measured(text, &number, budget)?;
    if amount != number {
        let rest = text[amount.end..from + sentence.len()].trim_start();
        let rest = rest.strip_prefix("and ").or_else(|| rest.strip_prefix(", ")).unwrap_or(rest).trim_start();
        let at = from + sentence.len() - rest.len();
        if let Some(second) = first_after(text, at, from + sentence.len()).filter(|s| s.start == at) {
            let end = measured(text, &second, budget)?;
            if end != second {
                return Ok(Some(both(text, amount, end)));
            }
        }
    }
    Ok(Some(found(text, qualified(text, amount, from, from + sentence.len()))))
}

fn first_after(text: &str, from: usize, to: usize) -> Option<Range<usize>> {
    let bytes = &text.as_bytes()[..to];
    let mut last = from + bytes[from..].iter().position(u8::is_ascii_digit)?;
    while let Some(next) = continues(bytes, last) {
        last = next;
    }
    Some(number_around(bytes, last))
}

/// The number with the words after it that are a scale or a known unit; the longest that are.
fn measured(text: &str, number: &Range<usize>, budget: &mut Budget) -> Result<Range<usize>, Exhausted> {
    const WORDS: usize = 4;
    let rest = &text[number.end..];
    let belongs = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '/' | '^' | '°' | '-' | '·' | '¢');
    let length =
        rest.char_indices().take(60).find(|(_, c)| !belongs(*c)).map_or(rest.len().min(60), |(at, _)| at);
    let piece = rest.get(..length).unwrap_or_default();
    let mut ends: Vec<usize> = piece.match_indices(' ').map(|(at, _)| at).chain([piece.len()]).collect();
    ends.dedup();
    let ends: Vec<usize> = ends.into_iter().filter(|end| *end > 0).take(WORDS).collect();
    for end in ends.into_iter().rev() {
        let words = piece[..end].trim_start_matches([' ', '-']);
        let unit = after_scale(words);
        // A word like `in` or `a` is a unit only where nothing goes on after it.
        let doubtful = unit.chars().count() < 3 && piece[end..].trim_start().starts_with(char::is_alphabetic);
        let scaled = unit.len() < words.len() && unit.is_empty();
        if scaled || !unit.is_empty() && !doubtful && is_one(unit) && is_known_unit(unit, budget)? {
            return Ok(number.start..number.end + end);
        }
    }
    Ok(number.clone())
}

/// Whether words make one unit, as `square metres` and `miles per hour` do and `metres in` does not.
fn is_one(unit: &str) -> bool {
    const FIRST: [&str; 9] =
        ["per", "square", "cubic", "sq", "cu", "degree", "degrees", "nautical", "metric"];
    const SECOND: [&str; 7] = ["per", "squared", "cubed", "Celsius", "Fahrenheit", "celsius", "fahrenheit"];
    let words: Vec<&str> = unit.split(' ').collect();
    crate::units::find(unit, crate::units::Reading::Answer).is_some()
        || words.windows(2).all(|pair| FIRST.contains(&pair[0]) || SECOND.contains(&pair[1]))
}

/// What is left of words once the scales before them are gone.
fn after_scale(mut words: &str) -> &str {
    loop {
        let (first, rest) = words.split_once(' ').unwrap_or((words, ""));
        if scale(first).is_none() {
            return words;
        }
        words = rest.trim_start();
    }
}

/// Two amounts that add up, as one candidate.
fn both(text: &str, first: Range<usize>, second: Range<usize>) -> Found<'_> {
    let joined = format!("{} {}", &text[first.clone()], &text[second.clone()]);
    Found { text: Cow::Owned(joined), ..found(text, first.start..second.end) }
}

/// An amount with the words beside it, between `from` and `to`, that make another one of it: `minus 4`, `4 or five`.
fn qualified(text: &str, amount: Range<usize>, from: usize, to: usize) -> Range<usize> {
    const LONGEST: usize = 60;
    let mut first = from.max(amount.start.saturating_sub(LONGEST)).min(amount.start);
    while !text.is_char_boundary(first) {
        first += 1;
    }
    let mut last = to.min(amount.end + LONGEST).max(amount.end);
    while !text.is_char_boundary(last) {
        last -= 1;
    }
    let line = |words: &'_ str| words.rfind('\n').map_or(0, |at| at + 1);
    first += line(&text[first..amount.start]);
    let rest = text[amount.end..last].lines().next().unwrap_or("");
    let start = qualifiers::before(&text[first..amount.start]).map_or(amount.start, |(_, at)| first + at);
    start..amount.end + qualifiers::after(rest).unwrap_or(0)
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
