//! Where an answer stands in a text: boxes, announced answers, mathematics between delimiters, the whole text, the last
//! number, a letter choice.
//!
//! In: a text and what the settings allow. Out: every candidate, best first, none inside a better one. A response commits to
//! its answer: the last box wins over everything before it, boxes side by side are one list, and what is stated outright
//! (boxed or announced) is not passed over for something that reads better.

mod announced;
mod boxed;
mod choice;
mod delimited;
mod numbers;
mod words;

use crate::{Budget, CandidateKind, Exhausted, Extraction};
use std::borrow::Cow;
use std::ops::Range;

pub(crate) use choice::letter;

/// A piece of text that may be the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found<'t> {
    pub(crate) kind: CandidateKind,
    pub(crate) text: Cow<'t, str>,
    /// Where it stands in the text, in bytes.
    pub(crate) range: Range<usize>,
    pub(crate) notation: Notation,
    /// Stated outright: if it cannot be read, nothing else is the answer.
    pub(crate) stated: bool,
}

/// How to parse a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Notation {
    Latex,
    Plain,
    /// A choice is its letter.
    Letter(char),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
    /// The reference, which may be the bare answer.
    Reference,
    Response,
}

/// The end of a text, at most `limit` bytes of it.
pub fn tail(text: &str, limit: usize) -> &str {
    let mut from = text.len().saturating_sub(limit);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    &text[from..]
}

/// The longest text that may as a whole be a response's answer, and the longest reference in words.
pub(crate) const SHORT: usize = 400;

/// Pays for one pass over a text. Every search here makes a fixed number of them.
fn look(text: &str, budget: &mut Budget) -> Result<(), Exhausted> {
    budget.spend(1 + text.len() as u64 / 64)
}

/// All candidates, best first.
pub(crate) fn candidates<'t>(
    text: &'t str,
    extraction: &Extraction,
    whose: Whose,
    budget: &mut Budget,
) -> Result<Vec<Found<'t>>, Exhausted> {
    let mut all = Vec::with_capacity(2);
    if extraction.boxed {
        boxed::find(text, &mut all, budget)?;
    }
    if extraction.plain {
        look(text, budget)?;
        announced::after_hashes(text, &mut all);
    }
    if let Some(last) = extraction.choices_to {
        choice::find(text, last, &mut all, budget)?;
    }
    let whole = whole(text, extraction, whose);
    if whose == Whose::Reference {
        all.extend(whole);
        look(text, budget)?;
        announced::find(text, extraction, &mut all, budget)?;
        look(text, budget)?;
        // A part of a reference is not the reference, unless it is all the mathematics there is.
        let formula = if extraction.latex { delimited::only(text) } else { None };
        all.extend(formula.map(|found| Found { stated: true, ..found }));
        return Ok(outermost(all));
    }
    look(text, budget)?;
    announced::find(text, extraction, &mut all, budget)?;
    look(text, budget)?;
    if words::is_mathematics(text) {
        all.extend(whole.clone());
    } else if let Some(led) = words::after_lead(text).filter(|led| words::is_mathematics(led)) {
        let before = text.len() - led.len();
        let shifted = |range: Range<usize>| range.start + before..range.end + before;
        let found = self::whole(led, extraction, whose);
        all.extend(found.map(|found| Found { range: shifted(found.range.clone()), ..found }));
    }
    implied(text, extraction, &mut all, budget)?;
    all.extend(whole.filter(|_| words::is_wording(text)));
    Ok(outermost(all))
}

/// The last formula and the last number, the later one first.
fn implied<'t>(
    text: &'t str,
    extraction: &Extraction,
    all: &mut Vec<Found<'t>>,
    budget: &mut Budget,
) -> Result<(), Exhausted> {
    look(text, budget)?;
    let formula = if extraction.latex { delimited::last(text) } else { None };
    look(text, budget)?;
    let number = if extraction.plain { numbers::last(text, budget)? } else { None };
    let number_first = match (&formula, &number) {
        (Some(formula), Some(number)) => number.range.start > formula.range.end,
        _ => false,
    };
    if number_first {
        all.extend(number);
        all.extend(formula);
    } else {
        all.extend(formula);
        all.extend(number);
    }
    Ok(())
}

/// The whole text, if it may be an answer: a response that is longer is prose.
fn whole<'t>(text: &'t str, extraction: &Extraction, whose: Whose) -> Option<Found<'t>> {
    let trimmed = text.trim();
    let notation = if trimmed.contains(['\\', '$']) { Notation::Latex } else { Notation::Plain };
    let allowed = if notation == Notation::Latex { extraction.latex } else { extraction.plain };
    if !allowed || trimmed.is_empty() || whose == Whose::Response && trimmed.len() > SHORT {
        return None;
    }
    let from = text.len() - text.trim_start().len();
    let range = from..from + trimmed.len();
    Some(Found { kind: CandidateKind::Plain, text: Cow::Borrowed(trimmed), range, notation, stated: false })
}

/// Drops every candidate that stands inside a better one.
fn outermost(all: Vec<Found<'_>>) -> Vec<Found<'_>> {
    let mut kept: Vec<Found<'_>> = Vec::with_capacity(all.len());
    for found in all {
        let inside = |k: &Found<'_>| k.range.start <= found.range.start && found.range.end <= k.range.end;
        if !kept.iter().any(inside) {
            kept.push(found);
        }
    }
    kept
}
