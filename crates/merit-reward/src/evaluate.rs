//! What the parts of an expression come to, kept as a tree so that it can be explained.

use crate::term::{self, Settings};
use merit_core::TermScore;
use std::fmt::Write as _;

/// What a part comes to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Worth {
    Number(f64),
    NotApplicable(String),
    Unscorable(String),
    Broken(String),
}

impl Worth {
    fn text(&self) -> String {
        match self {
            Self::Number(value) => format!("= {value}"),
            Self::NotApplicable(why) => format!(": not applicable ({why})"),
            Self::Unscorable(why) => format!(": unscorable ({why})"),
            Self::Broken(why) => format!(": grader failed ({why})"),
        }
    }
}

/// A part that can be evaluated. Pure.
pub(crate) trait Expression: Send + Sync {
    fn evaluate(&self, facts: &Facts<'_>) -> Trace;
}

/// What an expression is evaluated over.
pub(crate) struct Facts<'a> {
    pub(crate) settings: Vec<&'a Settings>,
    pub(crate) scores: &'a [TermScore],
    pub(crate) step: u64,
}

impl Facts<'_> {
    /// The raw value of a term, or what stands in for it.
    pub(crate) fn raw(&self, term: usize) -> Worth {
        term::worth(&self.scores[term].outcome, self.settings[term].on_parse_failure)
    }
}

/// A part with what it came to and why.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Trace {
    pub(crate) label: String,
    pub(crate) worth: Worth,
    /// The parts below, each with the role it plays.
    pub(crate) parts: Vec<Trace>,
    pub(crate) notes: Vec<String>,
}

impl Trace {
    /// A number that is not finite is a broken grader, wherever it arises.
    pub(crate) fn new(label: impl Into<String>, worth: Worth, parts: Vec<Trace>) -> Self {
        let worth = match worth {
            Worth::Number(value) if !value.is_finite() => Worth::Broken(format!("it came to {value}")),
            other => other,
        };
        Self { label: label.into(), worth, parts, notes: Vec::new() }
    }

    pub(crate) fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// The same trace, labelled with the role it plays in the part above.
    pub(crate) fn in_role(mut self, role: &str) -> Self {
        self.label = format!("{role}: {}", self.label);
        self
    }

    pub(crate) fn render(&self, depth: usize, out: &mut String) {
        let pad = "  ".repeat(depth);
        let gap = if matches!(self.worth, Worth::Number(_)) { " " } else { "" };
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{pad}{}{gap}{}", self.label, self.worth.text());
        for note in &self.notes {
            let _ = writeln!(out, "{pad}  | {note}");
        }
        self.parts.iter().for_each(|part| part.render(depth + 1, out));
    }
}

/// The numbers among `parts`, or what the whole comes to when they cannot be combined.
pub(crate) fn numbers(parts: &[Trace]) -> Result<Vec<f64>, Worth> {
    if let Some(part) = parts.iter().find(|p| matches!(p.worth, Worth::Broken(_))) {
        return Err(part.worth.clone());
    }
    if let Some(part) = parts.iter().find(|p| matches!(p.worth, Worth::Unscorable(_))) {
        return Err(part.worth.clone());
    }
    let numbers: Vec<f64> = parts
        .iter()
        .filter_map(|p| if let Worth::Number(value) = p.worth { Some(value) } else { None })
        .collect();
    if numbers.is_empty() {
        return Err(Worth::NotApplicable("no part applies".to_owned()));
    }
    Ok(numbers)
}

/// A term in its place in the expression.
pub(crate) struct TermAt(pub(crate) usize);

impl Expression for TermAt {
    fn evaluate(&self, facts: &Facts<'_>) -> Trace {
        let score = &facts.scores[self.0];
        let worth = match facts.raw(self.0) {
            Worth::Number(raw) => Worth::Number(raw * score.weight),
            other => other,
        };
        let label = if score.weight == 1.0 {
            score.name.clone()
        } else {
            format!("{} (weight {})", score.name, score.weight)
        };
        let mut trace = Trace::new(label, worth, Vec::new());
        if let merit_core::TermOutcome::ParseFailure { why } = &score.outcome {
            trace = trace.note(format!("parse failure: {why}"));
        }
        score.evidence.iter().fold(trace, |t, e| t.note(format!("{}: {}", e.act, e.finding)))
    }
}
