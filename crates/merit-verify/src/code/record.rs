//! The verifier over records, each with a response and its tests; and its verdict in words.

use super::{CodeConfig, CodeError, CodeVerdict, CodeVerifier, Test, TestOutcome};
use merit_core::printable::piece;
use merit_core::{Conclusion, Envelope, Judgement, Verifier};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// A program and its tests.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CodeRecord<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, alias = "policy")]
    settings: Option<&'a RawValue>,
    #[serde(borrow)]
    response: Cow<'a, str>,
    #[serde(default)]
    tests: Vec<Test>,
    #[serde(default)]
    hidden: Vec<Test>,
}

impl Verifier for CodeVerifier {
    type Settings = CodeConfig;
    type Record<'a> = CodeRecord<'a>;
    /// Absent: it is unknown what came of the tests.
    type Detail = Option<CodeVerdict>;

    fn compile(config: CodeConfig) -> Result<Self, String> {
        Self::compile(config).map_err(|e| e.to_string())
    }

    fn envelope<'a>(record: &Self::Record<'a>) -> Envelope<'a> {
        Envelope { id: record.id, settings: record.settings }
    }

    fn judge(&self, record: &CodeRecord<'_>) -> Result<Judgement<Self::Detail>, String> {
        if record.tests.is_empty() && record.hidden.is_empty() {
            return Err("there is nothing to try: give `tests`, `hidden` or both".to_owned());
        }
        let conclusion = match self.verify(&record.response, &record.tests, &record.hidden) {
            Ok(verdict) => {
                return Ok(Judgement::scored(verdict.all_passed(), verdict.share(), Some(verdict)));
            }
            Err(CodeError::Config(why)) => return Err(why),
            Err(why @ (CodeError::Test { .. } | CodeError::Weak { .. })) => {
                Conclusion::bad_reference(why.to_string())
            }
            Err(why) => Conclusion::grader_failed(why.to_string()),
        };
        Ok(Judgement::unmeasured(conclusion, None))
    }

    fn explain(judgement: &Judgement<Self::Detail>) -> Vec<String> {
        let Some(verdict) = &judgement.detail else {
            return vec![piece(&judgement.conclusion.to_string())];
        };
        let mut lines = vec![format!("{} of {} tests passed", verdict.passed, verdict.total)];
        if let Some(why) = &verdict.unusable {
            lines.push(piece(why).to_string());
            return lines;
        }
        if let Some(impostor) = &verdict.unearned {
            lines.push(format!("nothing is earned: a program that {} passes as much", piece(impostor)));
        }
        for weak in &verdict.weak {
            let kind = if weak.hidden { "hidden test" } else { "test" };
            let (number, impostor) = (weak.number, piece(&weak.impostor));
            lines.push(format!("{kind} {number} is weak: a program that {impostor} passes it"));
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
