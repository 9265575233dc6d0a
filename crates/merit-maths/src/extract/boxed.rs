//! `\boxed{…}` and `\fbox{…}`: the last one, with those that stand beside it, then the earlier ones.

use super::{Found, Notation, look, words};
use crate::{Budget, CandidateKind, Exhausted};
use std::borrow::Cow;
use std::ops::Range;

/// Most boxes that are looked at; earlier ones cannot be the answer.
const MOST: usize = 32;

struct Box {
    whole: Range<usize>,
    inside: Range<usize>,
}

/// Adds the boxes, the last first.
pub(super) fn find<'t>(
    text: &'t str,
    all: &mut Vec<Found<'t>>,
    budget: &mut Budget,
) -> Result<(), Exhausted> {
    look(text, budget)?;
    let boxes = boxes(text);
    let mut from = boxes.len();
    while from > 0 {
        let to = from;
        from -= 1;
        while from > 0 && words::only_joins(&text[boxes[from - 1].whole.end..boxes[from].whole.start]) {
            from -= 1;
        }
        all.push(group(text, &boxes[from..to]));
    }
    if let Some(last) = all.first_mut() {
        last.stated = true;
    }
    Ok(())
}

/// Boxes side by side as one candidate: one content, or a list of the distinct ones.
fn group<'t>(text: &'t str, boxes: &[Box]) -> Found<'t> {
    let mut contents: Vec<&str> = Vec::with_capacity(boxes.len());
    for content in boxes.iter().map(|b| text[b.inside.clone()].trim()) {
        if !contents.contains(&content) {
            contents.push(content);
        }
    }
    let range = boxes.first().map_or(0, |b| b.whole.start)..boxes.last().map_or(0, |b| b.whole.end);
    let joined = match contents.as_slice() {
        [one] if percent_follows(&text[range.end..]) && !one.ends_with('%') => {
            Cow::Owned(format!("{one}\\%"))
        }
        [one] => Cow::Borrowed(*one),
        several => Cow::Owned(several.join(", ")),
    };
    Found { kind: CandidateKind::Boxed, text: joined, range, notation: Notation::Latex, stated: false }
}

/// Whether a percent sign or word stands right after a box, past its delimiters.
fn percent_follows(after: &str) -> bool {
    let after = after.trim_start_matches(['$', ' ']);
    let after = after.strip_prefix("\\)").or_else(|| after.strip_prefix("\\]")).unwrap_or(after).trim_start();
    ["%", "\\%", "percent"].iter().any(|sign| after.starts_with(sign))
}

/// The last boxes of the text in order; a box inside a box belongs to the outer one, an unclosed one is none. One pass: every
/// brace is put on the stack once and taken off once.
fn boxes(text: &str) -> Vec<Box> {
    let bytes = text.as_bytes();
    let mut boxes: Vec<Box> = Vec::new();
    // Open braces: where each stands, and where its box begins if it has one.
    let mut open: Vec<(usize, Option<usize>)> = Vec::new();
    let mut at = 0;
    while let Some(offset) = bytes[at..].iter().position(|b| matches!(b, b'\\' | b'{' | b'}')) {
        let here = at + offset;
        at = here + 1;
        match bytes[here] {
            b'{' => open.push((here, None)),
            b'}' => {
                if let Some((brace, Some(start))) = open.pop() {
                    add(&mut boxes, Box { whole: start..at, inside: brace + 1..here });
                }
            }
            _ => match command(&text[here..]) {
                Some(length) => {
                    let rest = text[here + length..].trim_start();
                    at = text.len() - rest.len();
                    match rest.bytes().next() {
                        Some(b'{') => {
                            open.push((at, Some(here)));
                            at += 1;
                        }
                        Some(b'0'..=b'9') => {
                            add(&mut boxes, Box { whole: here..at + 1, inside: at..at + 1 });
                            at += 1;
                        }
                        _ => {}
                    }
                }
                // An escaped character is no brace.
                None => at = here + 1 + text[here + 1..].chars().next().map_or(0, char::len_utf8),
            },
        }
    }
    boxes.split_off(boxes.len().saturating_sub(MOST))
}

/// The length of the box command that a text begins with.
fn command(text: &str) -> Option<usize> {
    ["\\boxed", "\\fbox"].into_iter().find(|command| text.starts_with(command)).map(str::len)
}

fn add(boxes: &mut Vec<Box>, found: Box) {
    while boxes.last().is_some_and(|inner| inner.whole.start > found.whole.start) {
        boxes.pop();
    }
    boxes.push(found);
}
