//! The seam of a term: it looks at one episode and says what it found.
//!
//! A term's config names it, weighs it and makes it; [`run`] calls it and turns whatever goes wrong into a recorded
//! outcome. What enters the expression is the raw value, or what the parse-failure path puts in its place, times the weight.

use crate::evaluate::Worth;
use merit_core::{Episode, Evidence, TermOutcome, TermScore};
use serde::{Deserialize, Serialize};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What a parse failure enters the expression as. The score says `ParseFailure` whichever path is taken, and
/// [`crate::Scorer::summarise`] counts them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ParseFailurePath {
    /// This number stands in for the raw value. The default is `{ value = 0.0 }`: what the policy wrote was its own doing,
    /// and leaving it out would make unreadable output a way to escape judgement.
    Value(f64),
    /// The reward is unscorable: the episode neither earns nor trains. For output that the policy is not to blame for.
    Unscorable,
}

impl Default for ParseFailurePath {
    fn default() -> Self {
        Self::Value(0.0)
    }
}

/// What every term's config says.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Settings {
    pub(crate) name: String,
    pub(crate) weight: f64,
    pub(crate) on_parse_failure: ParseFailurePath,
}

/// The config of a term.
pub(crate) trait TermConfig {
    fn settings(&self) -> Settings;

    /// The term, ready to look at episodes.
    fn term(&self) -> Result<Box<dyn Term>, crate::Problem>;
}

/// Looks at one episode. Called once per episode and never for an episode that broke.
pub(crate) trait Term: Send + Sync {
    fn look(&self, episode: &Episode) -> Finding;
}

/// What a term found.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Finding {
    pub(crate) outcome: TermOutcome,
    /// One per turn, or empty.
    pub(crate) turns: Vec<Option<f64>>,
    pub(crate) evidence: Vec<Evidence>,
}

impl Finding {
    pub(crate) fn value(value: f64, evidence: Evidence) -> Self {
        Self { outcome: TermOutcome::Value { value }, turns: Vec::new(), evidence: vec![evidence] }
    }

    pub(crate) fn not_applicable(why: impl Into<String>) -> Self {
        let outcome = TermOutcome::NotApplicable { why: why.into() };
        Self { outcome, turns: Vec::new(), evidence: Vec::new() }
    }

    pub(crate) fn parse_failure(why: impl Into<String>, evidence: Evidence) -> Self {
        let outcome = TermOutcome::ParseFailure { why: why.into() };
        Self { outcome, turns: Vec::new(), evidence: vec![evidence] }
    }

    pub(crate) fn with_turns(mut self, turns: Vec<Option<f64>>) -> Self {
        self.turns = turns;
        self
    }

    fn broken(why: String) -> Self {
        Self { outcome: TermOutcome::GraderFailed { why }, turns: Vec::new(), evidence: Vec::new() }
    }
}

/// Lets `term` look, and catches whatever goes wrong.
pub(crate) fn run(settings: &Settings, term: &dyn Term, episode: &Episode) -> TermScore {
    let looked = catch_unwind(AssertUnwindSafe(|| term.look(episode)));
    let finding = match looked {
        Ok(finding) => sound(finding, episode.turns.len()),
        Err(panic) => Finding::broken(format!("it panicked: {}", panic_text(panic.as_ref()))),
    };
    TermScore {
        name: settings.name.clone(),
        outcome: finding.outcome,
        weight: settings.weight,
        turns: finding.turns,
        evidence: finding.evidence,
    }
}

fn sound(finding: Finding, turns: usize) -> Finding {
    if let TermOutcome::Value { value } = finding.outcome
        && !value.is_finite()
    {
        return Finding::broken(format!("it came to {value}"));
    }
    if finding.turns.iter().flatten().any(|value| !value.is_finite()) {
        return Finding::broken("a turn's value is not finite".to_owned());
    }
    if !finding.turns.is_empty() && finding.turns.len() != turns {
        return Finding::broken(format!("it gave {} values for {turns} turns", finding.turns.len()));
    }
    finding
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|s| (*s).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}

/// What a term's outcome is worth in the expression, before its weight.
pub(crate) fn worth(outcome: &TermOutcome, path: ParseFailurePath) -> Worth {
    match (outcome, path) {
        (TermOutcome::Value { value }, _) => Worth::Number(*value),
        (TermOutcome::NotApplicable { why }, _) => Worth::NotApplicable(why.clone()),
        (TermOutcome::ParseFailure { .. }, ParseFailurePath::Value(value)) => Worth::Number(value),
        (TermOutcome::ParseFailure { why }, ParseFailurePath::Unscorable) => Worth::Unscorable(why.clone()),
        (TermOutcome::GraderFailed { why }, _) => Worth::Broken(why.clone()),
    }
}

pub(crate) fn one() -> f64 {
    1.0
}
