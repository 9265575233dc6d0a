//! Whether what should be true follows from the policy's note, by an entailer: a probability.
//!
//! The note is the premise, the reference the hypothesis: build it from the right answer, never from the policy's own. A note
//! that merely repeats the hypothesis and rests on none of `grounds` is an echo and worth 0, as are over-long and empty
//! notes. The entailer is named; the one built in counts words. One that cannot answer is the grader's failure.

use crate::sources::{Found, Sources};
use merit_reward::prelude::*;
use merit_verify::similarity::{EntailmentConfig as Check, EntailmentVerdict, EntailmentVerifier};
use schemars::JsonSchema;

/// Whether the reference follows from the policy's note, by a named entailer.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Entailment {
    /// The policy's text that the reference should follow from.
    #[serde(default)]
    pub reading: Reading,
    /// What should follow from it; of several the best counts.
    #[serde(default)]
    pub reference: Reference,
    /// The texts that the note was taken from. Absent: they are unknown, and every note in the hypothesis's words is an echo.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grounds: Option<Sources>,
    /// What of the verdict is the value.
    #[serde(default)]
    pub pay: Pay,
    /// Who judges, and what is probable enough.
    pub check: Check,
}

impl Component for Entailment {
    const ABOUT: About = About {
        name: "entailment",
        summary: "Whether the reference follows from the policy's note, by a named entailer.",
        paper: "EviNote-RAG: Enhancing RAG Models via Answer-Supportive Evidence Notes (2025), arXiv:2509.00877",
    };
    const EXAMPLE: &'static str = r#"
reading = { tag = "summary" }
reference = { pointer = "/statement" }
grounds = { tool = "search" }
check = { entailer = "lexical", pass_at = 0.7 }
"#;

    fn check(&self) -> Result<(), Refusal> {
        self.reading.check()?;
        self.reference.check()?;
        self.grounds.as_ref().map_or(Ok(()), |grounds| grounds.check("grounds"))
    }
}

impl PreparedTerm for Entailment {
    type Prepared = EntailmentVerifier;

    fn kind(&self) -> TermKind {
        TermKind::VERDICT
    }

    fn prepare(&self) -> Result<EntailmentVerifier, Refusal> {
        EntailmentVerifier::compile(self.check.clone()).map_err(|why| Refusal::new(format!("`check`: {why}")))
    }

    fn evaluate(
        &self,
        verifier: &EntailmentVerifier,
        context: &EvalContext<'_>,
    ) -> Result<TermResult, TermResult> {
        let episode = context.episode;
        let from = &self.reference;
        let hypotheses = from.texts(episode).filter(|texts| !texts.is_empty());
        let hypotheses = hypotheses.ok_or_else(|| TermResult::not_applicable(from.missing()))?;
        let grounds: Vec<String> = match self.grounds.as_ref().map(|grounds| grounds.of(episode)) {
            Some(Found::Sources(sources)) => sources.into_iter().map(|source| source.text).collect(),
            Some(Found::Bad(why)) => return Err(TermResult::broken(why)),
            Some(Found::Missing(why)) => return Err(TermResult::not_applicable(why)),
            Some(Found::NoneAsked(_)) | None => Vec::new(),
        };
        let note = self.reading.judged(episode)?;
        let verdict = verifier.verify(&note, &hypotheses, &grounds);
        Ok(TermResult::judged(&verdict, self.pay, Evidence::new("asked", asked(&verdict))))
    }
}

fn asked(verdict: &EntailmentVerdict) -> String {
    let (note, hypothesis) = &verdict.excerpts;
    let loose = verdict
        .ungrounded_share
        .map_or_else(String::new, |share| format!("; {share:.2} of its words rest on nothing shown"));
    let score = verdict.score.unwrap_or_default();
    format!("`{}`: from `{note}` follows `{hypothesis}` by {score:.4}{loose}", verdict.entailer)
}
