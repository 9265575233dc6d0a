//! `merit verify maths`: is it the same mathematics?

use super::verifier::{Common, Judged, Verifier};
use crate::terminal::{count, piece};
use merit_maths::{Conclusion, Policy, Side, Verdict, verify};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

pub(super) struct Maths(Policy);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Record<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    policy: Option<&'a RawValue>,
    #[serde(borrow)]
    gold: Cow<'a, str>,
    #[serde(borrow)]
    response: Cow<'a, str>,
}

impl Verifier for Maths {
    type Policy = Policy;
    type Record<'a> = Record<'a>;
    type Verdict = Verdict;

    fn compile(policy: Policy) -> Result<Self, String> {
        policy.check().map_err(|e| e.to_string())?;
        Ok(Self(policy))
    }

    fn common<'a>(record: &Self::Record<'a>) -> Common<'a> {
        Common { id: record.id, policy: record.policy }
    }

    fn judge(&self, record: &Record<'_>) -> Result<Judged<Verdict>, String> {
        let verdict = verify(&record.gold, &record.response, &self.0);
        let passed = match verdict.conclusion {
            Conclusion::Equal => Some(true),
            Conclusion::Different | Conclusion::NoAnswer => Some(false),
            Conclusion::BadReference | Conclusion::Undecided => None,
        };
        Ok(Judged { passed, score: passed.map(|right| f64::from(u8::from(right))), verdict })
    }

    fn explain(verdict: &Verdict) -> Vec<String> {
        let mut lines = side("reference", &verdict.gold);
        lines.extend(side("response", &verdict.response));
        let conclusion = match verdict.conclusion {
            Conclusion::Equal => "the same answer",
            Conclusion::Different => "another answer",
            Conclusion::NoAnswer => "no answer",
            Conclusion::BadReference => "the reference is at fault",
            Conclusion::Undecided => "undecided",
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
