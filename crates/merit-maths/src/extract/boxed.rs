//! `\boxed{…}` and `\fbox{…}`: the last one, with those that stand beside it, then the earlier ones.

use super::{Found, Notation, words};
use crate::CandidateKind;
use std::borrow::Cow;
use std::ops::Range;

/// Most boxes that are looked at; earlier ones cannot be the answer.
const MOST: usize = 32;

struct Box {
    whole: Range<usize>,
    inside: Range<usize>,
}

/// Adds the boxes, the last first.
pub(super) fn find<'t>(text: &'t str, all: &mut Vec<Found<'t>>) {
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

/// The last boxes of the text in order; a box inside a box belongs to the outer one, an unclosed one is none.
fn boxes(text: &str) -> Vec<Box> {
    let mut boxes: Vec<Box> = Vec::new();
    for command in ["\\boxed", "\\fbox"] {
        for (start, _) in text.rmatch_indices(command).take(MOST) {
            if let Some(found) = closed(text, start, start + command.len()) {
                boxes.push(found);
            }
        }
    }
    boxes.sort_by_key(|b| b.whole.start);
    let mut end = 0;
    boxes.retain(|b| {
        let outer = b.whole.start >= end;
        if outer {
            end = b.whole.end;
        }
        outer
    });
    boxes
}

/// The box whose command ends at `after`: `{…}` balanced, or one character.
fn closed(text: &str, start: usize, after: usize) -> Option<Box> {
    let rest = &text[after..];
    let open = after + rest.len() - rest.trim_start().len();
    if !text[open..].starts_with('{') {
        let one = text[open..].chars().next().filter(char::is_ascii_digit)?;
        let inside = open..open + one.len_utf8();
        return Some(Box { whole: start..inside.end, inside });
    }
    let mut depth = 0_usize;
    let mut escaped = false;
    for (i, byte) in text[open..].bytes().enumerate() {
        match byte {
            b'\\' => {
                escaped = !escaped;
                continue;
            }
            b'{' if !escaped => depth += 1,
            b'}' if !escaped => depth -= 1,
            _ => {}
        }
        escaped = false;
        if depth == 0 {
            return Some(Box { whole: start..open + i + 1, inside: open + 1..open + i });
        }
    }
    None
}
