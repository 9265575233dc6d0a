//! From a text to its answers: the first match that can be parsed, and the text of the first match.

use super::find::{self, Found, LatexPiece, Match};
use super::grammar::build::{COMPLEX, number};
use super::normalize::{Boxes, normalize};
use super::{grammar, python};
use merit_maths::{
    Budget, Candidate, CandidateKind, Exhausted, Expr, ExtractionMode, FallbackMode, MathVerifyOptions, Side,
};
use std::fmt;

#[derive(Debug, Clone)]
pub(super) enum Answer {
    Value(Expr),
    Text(String),
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(value) => write!(f, "`{}`", shown(value)),
            Self::Text(text) => write!(f, "the text `{text}`"),
        }
    }
}

/// A value in one line, without the marks only this module needs.
fn shown(value: &Expr) -> String {
    value.to_string().replace(COMPLEX, "")
}

/// Finds and parses. The side lists every match that was tried.
pub(super) fn read(
    text: &str,
    options: &MathVerifyOptions,
    budget: &mut Budget,
) -> Result<(Side, Vec<Answer>), Exhausted> {
    let patterns = find::patterns(&options.targets);
    let mut side = Side::default();
    let mut answers = Vec::new();
    let mut first_text: Option<String> = None;
    for group in patterns.chunk_by(|a, b| a.priority == b.priority) {
        let mut tried = false;
        for found in find::matches(text, group, budget)? {
            tried = true;
            let (value, written) = parsed(text, &found, budget)?;
            side.candidates.push(candidate(text, &found, value.as_ref()));
            if first_text.is_none() && !written.is_empty() {
                first_text = Some(written);
            }
            if let Some(value) = value {
                side.chosen = Some(side.candidates.len() - 1);
                answers.push(value);
                break;
            }
            if options.extraction == ExtractionMode::FirstMatch {
                break;
            }
        }
        if !answers.is_empty() || (tried && options.extraction == ExtractionMode::FirstMatch) {
            break;
        }
    }
    if let (FallbackMode::FirstMatch, Some(text)) = (options.fallback, first_text) {
        side.chosen = side.chosen.or(Some(0));
        answers.push(Answer::Text(text));
    }
    Ok((side, answers))
}

fn candidate(text: &str, found: &Match, value: Option<&Answer>) -> Candidate {
    let (kind, range) = match &found.found {
        Found::Latex(pieces) => {
            let boxed = pieces.iter().any(|p| p.bare_box || text[p.text.clone()].contains("\\boxed"));
            let from = pieces.first().map_or(found.start, |p| p.text.start);
            let to = pieces.last().map_or(found.end, |p| p.text.end);
            (if boxed { CandidateKind::Boxed } else { CandidateKind::Latex }, from..to)
        }
        Found::Number(integer, decimal, _) => (CandidateKind::LastNumber, integer.start..decimal.end),
        Found::Expr(range) => (CandidateKind::Plain, range.clone()),
        Found::String(range, _) => (CandidateKind::Choice, range.clone()),
    };
    let parsed = value.map(|value| match value {
        Answer::Value(value) => shown(value),
        Answer::Text(text) => text.clone(),
    });
    Candidate { kind, text: text[range.clone()].to_owned(), at: range.start, parsed }
}

/// What a match is worth, and its text.
fn parsed(text: &str, found: &Match, budget: &mut Budget) -> Result<(Option<Answer>, String), Exhausted> {
    match &found.found {
        Found::Latex(pieces) => latex(text, pieces, budget),
        Found::Number(integer, decimal, percent) => {
            let written = plain_number(&text[integer.clone()], &text[decimal.clone()]);
            let value = number(&written).map(|value| as_percent(value, *percent));
            Ok((value.map(Answer::Value), written))
        }
        Found::Expr(range) => {
            let written = &text[range.clone()];
            let source = written.replace('\n', " ").replace('^', "**");
            Ok((python::arithmetic(&source, budget)?.map(Answer::Value), written.to_owned()))
        }
        Found::String(range, lower) => {
            let written = text[range.clone()].to_owned();
            let value = if *lower { written.to_lowercase() } else { written.clone() };
            Ok((Some(Answer::Text(value)), written))
        }
    }
}

/// Digits without separators and leading noughts, the decimals after a point.
fn plain_number(integer: &str, decimal: &str) -> String {
    let digits: String = integer.chars().filter(|c| !matches!(c, ' ' | ',')).collect();
    let digits = digits.trim_start_matches('0');
    let digits = if digits.is_empty() { "0" } else { digits };
    format!("{digits}{}", decimal.replace(',', "."))
}

fn as_percent(value: Expr, percent: bool) -> Expr {
    if percent { Expr::Percent(Box::new(value)) } else { value }
}

/// Pieces of LaTeX: one is itself, several are a set, if all of them parse.
fn latex(
    text: &str,
    pieces: &[LatexPiece],
    budget: &mut Budget,
) -> Result<(Option<Answer>, String), Exhausted> {
    let mut values = Vec::new();
    let mut written = Vec::new();
    for piece in pieces {
        let boxes = if piece.bare_box { Boxes::Last } else { Boxes::All };
        let normalized = normalize(&text[piece.text.clone()], boxes, budget)?;
        let value = parse_latex(&normalized, budget)?.map(|value| as_percent(value, piece.percent));
        values.push(value);
        written.push(normalized);
    }
    if values.len() > 1 && values.iter().all(Option::is_some) {
        let elements = values.into_iter().flatten().flat_map(|value| match value {
            // The empty set is an element like any other, not a list of none.
            Expr::Set(elements) if !elements.is_empty() => elements,
            other => vec![other],
        });
        return Ok((Some(Answer::Value(Expr::Set(elements.collect()))), written.join(" and ")));
    }
    let first = values.into_iter().next().flatten();
    Ok((first.map(Answer::Value), written.into_iter().next().unwrap_or_default()))
}

/// Parses the whole, or else only what follows the last equals sign.
fn parse_latex(latex: &str, budget: &mut Budget) -> Result<Option<Expr>, Exhausted> {
    if let Some(value) = grammar::parse(latex, budget)? {
        return Ok(Some(value));
    }
    match last_equation(latex) {
        Some(last) => grammar::parse(last, budget),
        None => Ok(None),
    }
}

/// What follows the last equals sign of at least two, where nothing is listed.
fn last_equation(latex: &str) -> Option<&str> {
    if latex.contains([',', ';']) {
        return None;
    }
    let is_split = |at: usize| !latex[..at].ends_with(['\\', '<', '!', '>']);
    let mut signs = latex.match_indices('=').map(|(at, _)| at).filter(|at| is_split(*at));
    let first = signs.next()?;
    signs.next_back().filter(|last| *last > first).map(|last| &latex[last + 1..])
}
