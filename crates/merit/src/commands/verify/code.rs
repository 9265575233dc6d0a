//! `merit verify code`: does the program pass its tests?

use super::verifier::{Common, Judged, Verifier};
use crate::terminal::piece;
use merit_verify::code::{CodeConfig, CodeError, CodeVerdict, CodeVerifier, Test, TestOutcome};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;

pub(super) struct Code {
    verifier: CodeVerifier,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Record<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    policy: Option<&'a RawValue>,
    #[serde(borrow)]
    response: Cow<'a, str>,
    #[serde(default)]
    tests: Vec<Test>,
    #[serde(default)]
    hidden: Vec<Test>,
}

/// What came of the tests, or why nobody can tell.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Said {
    Verdict(CodeVerdict),
    Failure { grader_failed: String },
}

impl Verifier for Code {
    type Policy = CodeConfig;
    type Record<'a> = Record<'a>;
    type Verdict = Said;

    fn compile(config: CodeConfig) -> Result<Self, String> {
        Ok(Self { verifier: CodeVerifier::compile(config).map_err(|e| e.to_string())? })
    }

    fn common<'a>(record: &Self::Record<'a>) -> Common<'a> {
        Common { id: record.id, policy: record.policy }
    }

    fn judge(&self, record: &Record<'_>) -> Result<Judged<Said>, String> {
        if record.tests.is_empty() && record.hidden.is_empty() {
            return Err("there is nothing to try: give `tests`, `hidden` or both".to_owned());
        }
        match self.verifier.verify(&record.response, &record.tests, &record.hidden) {
            Ok(verdict) => Ok(Judged {
                passed: Some(verdict.all_passed()),
                score: Some(verdict.share()),
                verdict: Said::Verdict(verdict),
            }),
            Err(CodeError::Config(why)) => Err(why),
            Err(why) => {
                let verdict = Said::Failure { grader_failed: why.to_string() };
                Ok(Judged { passed: None, score: None, verdict })
            }
        }
    }

    fn explain(said: &Said) -> Vec<String> {
        let verdict = match said {
            Said::Verdict(verdict) => verdict,
            Said::Failure { grader_failed } => {
                return vec![format!("the grader failed: {}", piece(grader_failed))];
            }
        };
        let mut lines = vec![format!("{} of {} tests passed", verdict.passed, verdict.total)];
        if let Some(why) = &verdict.unusable {
            lines.push(piece(why).to_string());
            return lines;
        }
        for (kind, outcomes) in [("test", &verdict.visible), ("hidden test", &verdict.hidden)] {
            let failed = outcomes.iter().enumerate().filter(|(_, outcome)| **outcome != TestOutcome::Passed);
            lines.extend(
                failed.map(|(at, outcome)| format!("{kind} {}: {}", at + 1, piece(&outcome.to_string()))),
            );
        }
        lines
    }
}
