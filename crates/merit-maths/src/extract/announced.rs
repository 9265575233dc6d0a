//! Answers announced in words, "the answer is …", and the `####` line of GSM8K.

use super::{Found, Notation, delimited};
use crate::{Budget, CandidateKind, Exhausted, Extraction};
use std::borrow::Cow;

/// What follows `####` on its line, the last such line.
pub(super) fn after_hashes<'t>(text: &'t str, all: &mut Vec<Found<'t>>) {
    let Some(at) = text.rfind("####") else { return };
    let from = at + "####".len();
    let line = text[from..].lines().next().unwrap_or("");
    if let Some(found) = piece(text, from, line) {
        all.push(Found { stated: true, ..found });
    }
}

/// Words that announce an answer, in lower case. What follows the last of them is the answer.
const ANNOUNCEMENTS: [&str; 8] =
    ["answer is", "answers are", "answer:", "answer is:", "answer**:", "answer:**", "answer =", "answer**"];

/// What follows the last announcement: mathematics at once, or what comes after the last "is" of its sentence.
pub(super) fn find<'t>(
    text: &'t str,
    extraction: &Extraction,
    all: &mut Vec<Found<'t>>,
    budget: &mut Budget,
) -> Result<(), Exhausted> {
    let Some(from) = last_announcement(text) else { return Ok(()) };
    let content = text[from..].trim_start_matches([' ', '\t', '*', ':', '\n', '\r', '=']);
    let line = content.lines().next().unwrap_or("");
    let sentence = &line[..sentence_end(line)];
    let skipped = if starts_mathematics(sentence) { 0 } else { after_is(sentence) };
    let from = text.len() - content.len() + skipped;
    let sentence = &sentence[skipped..];
    // An environment may go on over several lines.
    let environment = sentence.starts_with("\\begin{");
    let to = if environment { text.len() } else { from + line.len() - skipped };
    let delimited = ["$", "\\(", "\\["].iter().any(|open| sentence.starts_with(open));
    if (delimited || environment)
        && extraction.latex
        && let Some(found) = delimited::first(text, from, to)
    {
        all.push(Found { stated: true, ..found });
        return Ok(());
    }
    if !extraction.plain {
        return Ok(());
    }
    let piece = piece(text, from, sentence);
    let number = super::numbers::leading(text, from, sentence, budget)?;
    // In a sentence of words the number is the answer; in a formula it is a part of it.
    if super::words::is_mathematics(sentence) {
        all.extend(piece);
        all.extend(number);
    } else {
        all.extend(number);
        all.extend(piece);
    }
    Ok(())
}

fn starts_mathematics(sentence: &str) -> bool {
    let first = sentence.split(' ').next().unwrap_or("");
    first.starts_with(|c: char| !c.is_alphabetic()) || first.chars().count() == 1
}

/// The position after the last "is" or "are"; the start where there is none.
fn after_is(sentence: &str) -> usize {
    let after = |word: &str| sentence.rfind(word).map(|at| at + word.len());
    after(" is ").max(after(" are ")).unwrap_or(0)
}

/// Where the last announcement ends. Found through the rarer word, so that long texts cost one pass.
fn last_announcement(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = bytes.len();
    while let Some(found) = rfind_answer(&bytes[..at]) {
        let matches =
            |a: &str| bytes.get(found..found + a.len()).is_some_and(|b| b.eq_ignore_ascii_case(a.as_bytes()));
        if let Some(longest) = ANNOUNCEMENTS.iter().filter(|a| matches(a)).map(|a| a.len()).max() {
            let end = found + longest;
            // "the answer is clear" and "the answer is that" announce nothing by themselves, but what follows is read.
            return text.is_char_boundary(end).then_some(end);
        }
        at = found;
    }
    None
}

fn rfind_answer(bytes: &[u8]) -> Option<usize> {
    const WORD: &[u8] = b"answer";
    (0..=bytes.len().checked_sub(WORD.len())?)
        .rev()
        .find(|at| bytes[*at..at + WORD.len()].eq_ignore_ascii_case(WORD))
}

/// The end of the first sentence: a full stop before a space or at the end, but not one inside a number.
fn sentence_end(line: &str) -> usize {
    let mut stops = line.match_indices(['.', '!', '?']).map(|(at, _)| at);
    let ends = |at: &usize| line[at + 1..].chars().next().is_none_or(|c| c.is_whitespace() || c == '*');
    stops.find(ends).unwrap_or(line.len())
}

/// A piece of a line as a candidate, without the marks around it.
fn piece<'t>(text: &'t str, from: usize, line: &str) -> Option<Found<'t>> {
    let marks = [' ', '\t', '*', '_', '"', '`', '\r'];
    let start = from + line.len() - line.trim_start_matches(marks).len();
    let length =
        line.trim_start_matches(marks).trim_end_matches(marks).trim_end_matches(['.', ' ', '*']).len();
    let trimmed = text.get(start..start + length).filter(|t| !t.is_empty())?;
    let delimited = trimmed.matches('$').count() > 1;
    let notation = if trimmed.contains('\\') || delimited { Notation::Latex } else { Notation::Plain };
    let range = start..start + length;
    Some(Found { kind: CandidateKind::Plain, text: Cow::Borrowed(trimmed), range, notation, stated: false })
}
