//! Mathematics between delimiters: `$…$`, `$$…$$`, `\(…\)`, `\[…\]`, and matrices and cases that stand without any.

use super::{Found, Notation, words};
use crate::CandidateKind;
use std::borrow::Cow;
use std::collections::VecDeque;
use std::ops::Range;

/// A delimited piece: with its delimiters, and inside them.
struct Span {
    whole: Range<usize>,
    inside: Range<usize>,
}

/// Most pieces that are remembered; only the last ones can be the answer.
const MOST: usize = 12;

/// The last piece, with those that it is joined to.
pub(super) fn last(text: &str) -> Option<Found<'_>> {
    let spans = spans(text, 0, text.len());
    let mut from = spans.len().checked_sub(1)?;
    while from > 0 && words::only_joins(&text[spans[from - 1].whole.end..spans[from].whole.start]) {
        from -= 1;
    }
    Some(group(text, &spans[from..]))
}

/// The first piece between two positions, with those that are joined to it.
pub(super) fn first(text: &str, from: usize, to: usize) -> Option<Found<'_>> {
    let spans = spans(text, from, to);
    let mut end = 1;
    while end < spans.len() && words::only_joins(&text[spans[end - 1].whole.end..spans[end].whole.start]) {
        end += 1;
    }
    spans.get(..end).map(|spans| group(text, spans))
}

/// The only mathematics of a text, where the words around it hold no number.
pub(super) fn only(text: &str) -> Option<Found<'_>> {
    let found = last(text)?;
    let outside = [&text[..found.range.start], &text[found.range.end..]];
    let bare = |part: &&str| !part.contains(|c: char| c.is_ascii_digit() || matches!(c, '$' | '\\' | '='));
    outside.iter().all(bare).then_some(found)
}

fn group<'t>(text: &'t str, spans: &[Span]) -> Found<'t> {
    let inside = |span: &Span| text.get(span.inside.clone()).unwrap_or("").trim();
    let joined = match spans {
        [one] => Cow::Borrowed(inside(one)),
        several => Cow::Owned(several.iter().map(inside).collect::<Vec<_>>().join(", ")),
    };
    let range = spans.first().map_or(0, |s| s.whole.start)..spans.last().map_or(0, |s| s.whole.end);
    Found { kind: CandidateKind::Latex, text: joined, range, notation: Notation::Latex, stated: false }
}

/// The last pieces from `from` to `to`, in order.
fn spans(text: &str, from: usize, to: usize) -> Vec<Span> {
    let bytes = &text.as_bytes()[..to];
    let mut spans = VecDeque::new();
    let mut closers = Closers::default();
    let mut at = from;
    while let Some(offset) = bytes[at..].iter().position(|b| matches!(b, b'$' | b'\\')) {
        let start = at + offset;
        if spans.len() > MOST {
            spans.pop_front();
        }
        let close: &[u8] = match (bytes[start], bytes.get(start + 1)) {
            (b'$', Some(b'$')) => b"$$",
            (b'$', _) => b"$",
            (_, Some(b'[')) => b"\\]",
            (_, Some(b'(')) => b"\\)",
            _ if bytes[start..].starts_with(b"\\begin{") => {
                at = start + b"\\begin{".len();
                if let Some(end) = closers.environment(text, start, to) {
                    spans.extend([Span { whole: start..end, inside: start..end }]);
                    at = end;
                }
                continue;
            }
            // Any other command or an escaped character: both are passed.
            _ => {
                at = (start + 2).min(bytes.len());
                continue;
            }
        };
        let inside = start + close.len();
        match closers.next(bytes, inside, close) {
            Some(end) => {
                if !text[inside..end].trim().is_empty() {
                    spans.push_back(Span { whole: start..end + close.len(), inside: inside..end });
                }
                at = end + close.len();
            }
            None => at = inside,
        }
    }
    spans.into()
}

/// Where each closing delimiter next stands, remembered so that all searches together pass the text once.
#[derive(Default)]
struct Closers {
    /// For `$$`, `\]` and `\)`: a position before which there is none, and whether one stands there.
    known: [(usize, bool); 3],
    /// The end of a line that has no more closing dollar sign.
    no_dollar_to: usize,
    /// For each kind of environment: the end of a text that has no more end of one.
    no_end_to: [usize; 8],
}

impl Closers {
    /// The end of the matrix or cases that begin at `start`. Those of one kind within one another are not looked into.
    fn environment(&mut self, text: &str, start: usize, to: usize) -> Option<usize> {
        const NAMES: [&str; 8] =
            ["pmatrix", "bmatrix", "Bmatrix", "vmatrix", "matrix", "smallmatrix", "array", "cases"];
        let inside = start + "\\begin{".len();
        let which = NAMES
            .iter()
            .position(|name| text[inside..].strip_prefix(name).is_some_and(|r| r.starts_with('}')))?;
        if start < self.no_end_to[which] {
            return None;
        }
        let close = format!("\\end{{{}}}", NAMES[which]);
        let end = text[inside..to].find(&close).map(|at| inside + at + close.len());
        if end.is_none() {
            self.no_end_to[which] = to;
        }
        end
    }

    /// The first `close` at or after `from` that is not escaped; a single dollar sign must stand on the same line.
    fn next(&mut self, bytes: &[u8], from: usize, close: &[u8]) -> Option<usize> {
        let slot = match close {
            b"$$" => 0,
            b"\\]" => 1,
            b"\\)" => 2,
            _ if from < self.no_dollar_to => return None,
            _ => {
                return dollar(bytes, from).map_err(|end| self.no_dollar_to = end).ok();
            }
        };
        let (at, found) = self.known[slot];
        if found && at >= from {
            return Some(at);
        }
        let mut at = from.max(at);
        while at + close.len() <= bytes.len() {
            if bytes[at..].starts_with(close) && (at == from || bytes[at - 1] != b'\\') {
                self.known[slot] = (at, true);
                return Some(at);
            }
            at += 1;
        }
        self.known[slot] = (bytes.len(), false);
        None
    }
}

/// The first dollar sign on the line that is not escaped; where there is none, the end of the line.
fn dollar(bytes: &[u8], from: usize) -> Result<usize, usize> {
    let mut at = from;
    while let Some(offset) = bytes[at..].iter().position(|b| matches!(b, b'$' | b'\n')) {
        at += offset;
        match bytes[at] {
            b'\n' => return Err(at),
            _ if at > from && bytes[at - 1] == b'\\' => at += 1,
            _ => return Ok(at),
        }
    }
    Err(bytes.len())
}
