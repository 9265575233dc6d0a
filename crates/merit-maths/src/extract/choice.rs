//! Letter choices: `(B)`, `**B**`, `B.`, a boxed letter, "the answer is B".

use super::{Found, Notation, boxed, look};
use crate::{Budget, CandidateKind, Exhausted};
use std::borrow::Cow;

/// Adds the choice a text commits to: the last box if that holds one letter, else the last letter that stands as a choice.
pub(super) fn find<'t>(
    text: &'t str,
    last: char,
    all: &mut Vec<Found<'t>>,
    budget: &mut Budget,
) -> Result<(), Exhausted> {
    let mut boxes = Vec::new();
    boxed::find(text, &mut boxes, budget)?;
    look(text, budget)?;
    if let Some(first) = boxes.first() {
        if let Some(letter) = letter(&first.text, last) {
            let found =
                Found { kind: CandidateKind::Choice, notation: Notation::Letter(letter), ..first.clone() };
            all.insert(0, found);
        }
        return Ok(());
    }
    if let Some((at, letter)) = last_marked(text, last) {
        let range = at..at + letter.len_utf8();
        let piece = Cow::Borrowed(&text[range.clone()]);
        let notation = Notation::Letter(letter);
        all.insert(0, Found { kind: CandidateKind::Choice, text: piece, range, notation, stated: true });
    }
    Ok(())
}

/// The letter a text is, dressed or bare, if it is one of the choices.
pub(crate) fn letter(text: &str, last: char) -> Option<char> {
    let mut bare = text.trim();
    for command in ["\\textbf", "\\text", "\\mathrm", "\\mathbf"] {
        if let Some(inside) = bare.strip_prefix(command) {
            bare = inside.trim_start().strip_prefix('{').and_then(|b| b.strip_suffix('}'))?;
        }
    }
    let bare = bare.trim_matches([' ', '(', ')', '[', ']', '*', '.', ':', '$', '{', '}']);
    let mut chars = bare.chars();
    let only = chars.next().filter(|_| chars.as_str().is_empty())?.to_ascii_uppercase();
    ('A'..=last).contains(&only).then_some(only)
}

/// The last capital letter that stands as a choice: in brackets, in bold, before a full stop or bracket at the start of a
/// line, alone on a line, or after an announcement.
fn last_marked(text: &str, last: char) -> Option<(usize, char)> {
    let bytes = text.as_bytes();
    let around = |i: usize| {
        let before = text[..i].trim_end_matches(' ');
        let after = &text[i + 1..];
        let bracketed = text[..i].ends_with(['(', '[']) && after.starts_with([')', ']']);
        let bold =
            text[..i].ends_with("**") && (after.starts_with("**") || after.starts_with(['.', ')', ':']));
        let line_start = before.is_empty() || before.ends_with('\n');
        let line_end =
            after.trim_start_matches(' ').is_empty() || after.trim_start_matches(' ').starts_with('\n');
        let listed = line_start && (line_end || after.starts_with(['.', ')', ':']));
        let announced = ["answer is", "answer:", "answer", "choice", "option", "answer:**", "answer**:"]
            .iter()
            .any(|word| ends_with_word(before, word));
        let alone = !after.starts_with(|c: char| c.is_alphanumeric() || c == '\'')
            && !text[..i].ends_with(|c: char| c.is_alphanumeric());
        bracketed || bold || listed && alone || announced && alone
    };
    let choice = |i: usize| ('A'..=last).contains(&char::from(bytes[i]));
    (0..bytes.len()).rev().filter(|i| choice(*i)).find(|i| around(*i)).map(|i| (i, char::from(bytes[i])))
}

fn ends_with_word(text: &str, word: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() >= word.len() && bytes[bytes.len() - word.len()..].eq_ignore_ascii_case(word.as_bytes())
}
