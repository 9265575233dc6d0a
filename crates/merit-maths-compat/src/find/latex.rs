//! LaTeX in running text: the delimited pieces, several joined by "and", "or" or a comma, and plain boxes.

use super::text::{Meter, char_at, char_before, is_space, skip_digits, skip_space, starts};
use std::ops::Range;

/// One delimited piece: what is inside, and where it ends.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    pub(super) inside: Range<usize>,
    pub(super) percent: bool,
    pub(super) end: usize,
}

/// Whether a piece must contain a box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Context {
    Plain,
    Boxed,
}

/// A piece that starts at `at`, with its percent sign and the white space after it.
fn piece(text: &str, at: usize, context: Context, meter: &mut Meter<'_>) -> Option<Piece> {
    let (inside, end) = delimited(text, at, context, meter).or_else(|| match context {
        Context::Plain => fraction(text, at).map(|end| (at..end, end)),
        Context::Boxed => None,
    })?;
    let after = skip_space(text, end);
    match percent_end(text, after) {
        Some(end) => Some(Piece { inside, percent: true, end }),
        None => Some(Piece { inside, percent: false, end: after }),
    }
}

/// The end of a percent sign or word at `at`.
fn percent_end(text: &str, at: usize) -> Option<usize> {
    ["\\%", "%", "Percent", "percent", "Pct", "pct"]
        .iter()
        .find(|w| starts(text, at, w))
        .map(|w| at + w.len())
}

fn delimited(
    text: &str,
    at: usize,
    context: Context,
    meter: &mut Meter<'_>,
) -> Option<(Range<usize>, usize)> {
    let bytes = text.as_bytes();
    let escaped = at > 0 && bytes.get(at - 1) == Some(&b'\\');
    let found = match *bytes.get(at)? {
        b'$' if escaped => None,
        b'$' if bytes.get(at + 1) == Some(&b'$') => up_to(text, at + 2, "$$", true, meter),
        b'$' if char_before(text, at).is_some_and(|c| c.is_ascii_digit()) => None,
        b'$' => inline_dollar(bytes, at + 1),
        b'\\' if escaped => None,
        b'\\' if bytes.get(at + 1) == Some(&b'[') => up_to(text, at + 2, "\\]", true, meter),
        b'\\' if bytes.get(at + 1) == Some(&b'(') => up_to(text, at + 2, "\\)", false, meter),
        _ => bracket(text, at),
    }?;
    (context == Context::Plain || has_box(text, &found.0)).then_some(found)
}

/// From `from` to the first `close`, which must not follow a backslash; not empty; over lines only where `lines`.
fn up_to(
    text: &str,
    from: usize,
    close: &str,
    lines: bool,
    meter: &mut Meter<'_>,
) -> Option<(Range<usize>, usize)> {
    let bytes = text.as_bytes();
    let mut at = from;
    while at < bytes.len() {
        if bytes[at] == b'\n' && !lines {
            meter.spend(at - from);
            return None;
        }
        if starts(text, at, close) {
            return (at > from && bytes[at - 1] != b'\\').then_some((from..at, at + close.len()));
        }
        at += 1;
    }
    meter.spend(at - from);
    None
}

/// From `from` to the first dollar sign without a backslash, on one line.
fn inline_dollar(bytes: &[u8], from: usize) -> Option<(Range<usize>, usize)> {
    let mut at = from;
    loop {
        match *bytes.get(at)? {
            b'\n' => return None,
            b'$' if at > from && bytes[at - 1] == b'\\' => at += 1,
            b'$' => return (at > from).then_some((from..at, at + 1)),
            _ => at += 1,
        }
    }
}

/// White space, `[…]`, white space, on one line.
fn bracket(text: &str, at: usize) -> Option<(Range<usize>, usize)> {
    let space = char_at(text, at).filter(|c| is_space(*c))?;
    let open = at + space.len_utf8();
    if !starts(text, open, "[") {
        return None;
    }
    let length = text.get(open + 1..)?.find(['\n', '[', ']'])?;
    let close = open + 1 + length;
    let after = char_at(text, close + 1).filter(|c| is_space(*c))?;
    (length > 0 && starts(text, close, "]")).then(|| (open + 1..close, close + 1 + after.len_utf8()))
}

fn has_box(text: &str, inside: &Range<usize>) -> bool {
    const BOX: &str = "\\boxed{";
    let piece = text.get(inside.clone()).unwrap_or("");
    piece.find(BOX).is_some_and(|at| piece.as_bytes()[at + BOX.len()..].iter().skip(1).any(|b| *b == b'}'))
}

/// The end of a fraction of plain numbers, `-\frac{1}{2}`, at `at`.
fn fraction(text: &str, at: usize) -> Option<usize> {
    let at = if starts(text, at, "-") { at + 1 } else { at };
    if !starts(text, at, "\\frac") {
        return None;
    }
    braced_number(text, braced_number(text, at + "\\frac".len())?)
}

fn braced_number(text: &str, at: usize) -> Option<usize> {
    let from = at + 1;
    let digits = if starts(text, from, "-") { from + 1 } else { from };
    let mut end = skip_digits(text, digits);
    if !starts(text, at, "{") || end == digits {
        return None;
    }
    if starts(text, end, ".") || starts(text, end, ",") {
        let decimals = skip_digits(text, end + 1);
        if decimals > end + 1 {
            end = decimals;
        }
    }
    starts(text, end, "}").then_some(end + 1)
}

/// Pieces at `at` joined by "and", "or" or a comma. `accept` is asked with all of them, then with fewer, until it says yes.
pub(super) fn joined(
    text: &str,
    at: usize,
    context: Context,
    meter: &mut Meter<'_>,
    accept: &mut dyn FnMut(&[Piece]) -> bool,
) -> bool {
    const MOST: usize = 6;
    let Some(first) = piece(text, at, context, meter) else { return false };
    let mut pieces = vec![first];
    while pieces.len() < MOST {
        let end = pieces.last().map_or(at, |p| p.end);
        match next_piece(text, end, context, meter) {
            Some(next) => pieces.push(next),
            None => break,
        }
    }
    while !pieces.is_empty() {
        if accept(&pieces) {
            return true;
        }
        pieces.pop();
    }
    false
}

fn next_piece(text: &str, end: usize, context: Context, meter: &mut Meter<'_>) -> Option<Piece> {
    let at = skip_space(text, end);
    let after =
        [",and", "and", ",or", "or", ","].iter().find(|w| starts(text, at, w)).map(|w| at + w.len())?;
    starts_after_space(text, after).into_iter().find_map(|start| piece(text, start, context, meter))
}

/// Where something after optional white space may begin: after all of it, or at its last character.
pub(super) fn starts_after_space(text: &str, at: usize) -> impl IntoIterator<Item = usize> + use<> {
    let end = skip_space(text, at);
    let before = char_before(text, end).filter(|_| end > at).map(|c| end - c.len_utf8());
    [Some(end), before].into_iter().flatten()
}
