//! How a text compares with its references, or what it looks like: exact match, F1, ROUGE, length-aware BLEU, containment,
//! length, repetition or balance, as the check's `metric` says.
//!
//! The value is the metric's score, or 1 where it passes. Over-long, empty and many-answered responses are refused by the
//! check and worth 0; look-alikes of other scripts never count as equal. A reference that is blank or too long is the
//! grader's failure.

use merit_reward::prelude::*;
use merit_verify::text::{Metric, TextConfig as Check, TextVerifier, explain};
use schemars::JsonSchema;

/// A text metric against references: exact, F1, ROUGE, length-aware BLEU, contains and others.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Text {
    /// Which text is measured.
    #[serde(default)]
    pub reading: Reading,
    /// What it is compared with; of several the best counts. Refused for metrics that compare with nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<Reference>,
    /// What of the verdict is the value.
    #[serde(default)]
    pub pay: Pay,
    /// What is measured, and how.
    pub check: Check,
}

impl Component for Text {
    const ABOUT: About = About {
        name: "text",
        summary: "A text metric against references: exact, F1, ROUGE, length-aware BLEU, contains and others.",
        paper: "Atom-Searcher: Enhancing Agentic Deep Research via Fine-Grained Atomic Thought Reward (2025), arXiv:2508.12800",
    };
    const EXAMPLE: &'static str = r#"
reading = "answer"
reference = "answer"
pay = "score"
check = { metric = { type = "f1" }, max_chars = 300 }
"#;

    fn check(&self) -> Result<(), Refusal> {
        self.reading.check()
    }
}

impl PreparedTerm for Text {
    type Prepared = Prepared;

    fn kind(&self) -> TermKind {
        // Metrics that compare with nothing count; the others judge.
        let counts = matches!(self.check.metric, Metric::Length(_) | Metric::Repetition(_));
        TermKind { judges: !counts, ..TermKind::VERDICT }
    }

    fn prepare(&self) -> Result<Prepared, Refusal> {
        let verifier = TextVerifier::compile(self.check.clone());
        let verifier = verifier.map_err(|why| Refusal::new(format!("`check`: {why}")))?;
        let reference = match (&self.reference, verifier.needs_references()) {
            (Some(_), false) => {
                let why = "`reference` does nothing with this metric, which compares with nothing; remove it";
                return Err(Refusal::new(why));
            }
            (None, false) => None,
            (given, true) => Some(given.clone().unwrap_or_default()),
        };
        reference.as_ref().map_or(Ok(()), Reference::check)?;
        Ok(Prepared { reference, verifier })
    }

    fn evaluate(&self, with: &Prepared, context: &EvalContext<'_>) -> Result<TermResult, TermResult> {
        let episode = context.episode;
        let references = match &with.reference {
            None => Vec::new(),
            Some(from) => {
                let texts = from.texts(episode).filter(|texts| !texts.is_empty());
                texts.ok_or_else(|| TermResult::not_applicable(from.missing()))?
            }
        };
        let text = self.reading.judged(episode)?;
        let verdict = with.verifier.verify(&text, &references);
        Ok(TermResult::judged(&verdict, self.pay, Evidence::new("compared", explain(&verdict))))
    }
}

/// The verifier and what it compares with.
pub struct Prepared {
    /// Absent: the metric compares with nothing.
    reference: Option<Reference>,
    verifier: TextVerifier,
}
