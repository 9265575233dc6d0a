//! The verifier over records: a reference and a response a line, and its verdict in words.

use crate::verify_asked;
use merit_core::printable::{count, piece};
use merit_core::{Conclusion, Envelope, Verifier};
use merit_maths::{Asked, MathsConfig, Side, Verdict};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

#[derive(Debug, Clone)]
pub struct MathsVerifier(MathsConfig);

/// A reference and a response.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MathsRecord<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, alias = "policy")]
    settings: Option<&'a RawValue>,
    #[serde(borrow)]
    gold: Cow<'a, str>,
    #[serde(borrow)]
    response: Cow<'a, str>,
    /// The task's words, which may say what form is wanted. Absent: the reference alone says.
    #[serde(borrow, default, alias = "prompt")]
    question: Option<Cow<'a, str>>,
}

impl Verifier for MathsVerifier {
    type Settings = MathsConfig;
    type Record<'a> = MathsRecord<'a>;
    type Detail = merit_maths::Comparison;

    fn compile(config: MathsConfig) -> Result<Self, String> {
        config.check().map_err(|e| e.to_string())?;
        Ok(Self(config))
    }

    fn envelope<'a>(record: &Self::Record<'a>) -> Envelope<'a> {
        Envelope { id: record.id, settings: record.settings }
    }

    fn judge(&self, record: &MathsRecord<'_>) -> Result<Verdict, String> {
        let asked = record.question.as_deref().map(|question| Asked { question, may_restate: false });
        Ok(verify_asked(&record.gold, &record.response, asked, &self.0))
    }

    fn explain(verdict: &Verdict) -> Vec<String> {
        let mut lines = side("reference", &verdict.gold);
        lines.extend(side("response", &verdict.response));
        let conclusion = match verdict.conclusion {
            Conclusion::Pass => "the same answer",
            Conclusion::Fail | Conclusion::Refused { .. } => "another answer",
            Conclusion::Unreadable { .. } => "no answer",
            Conclusion::BadReference { .. } => "the reference is at fault",
            Conclusion::GraderFailed { .. } | Conclusion::NotApplicable { .. } => "undecided",
        };
        let (rule, steps) = (&verdict.rule, verdict.steps);
        lines.push(format!("{conclusion}: {} (rule `{rule}`, {steps} steps)", piece(&verdict.why)));
        lines
    }
}

fn side(name: &str, side: &Side) -> Vec<String> {
    if side.candidates.is_empty() {
        return vec![format!("{name}: nothing looks like an answer")];
    }
    let others = side.candidates.len() - usize::from(side.chosen.is_some());
    let mut lines: Vec<String> = Vec::new();
    for (i, candidate) in side.candidates.iter().enumerate().take(6) {
        let kind = format!("{:?}", candidate.kind).to_lowercase();
        let read = match &candidate.parsed {
            Some(parsed) => format!("reads `{}`", piece(parsed)),
            None => "cannot be read".to_owned(),
        };
        let taken = if side.chosen == Some(i) { "" } else { "not taken: " };
        lines.push(format!(
            "{name}: {taken}{kind} `{}` at byte {} {read}",
            piece(&candidate.text),
            candidate.at
        ));
    }
    if side.candidates.len() > lines.len() {
        lines.push(format!("{name}: {} not taken in all", count(others, "candidate")));
    }
    lines
}
