//! Whether what should be true follows from the policy's note, by an entailer: a probability.
//!
//! The note is the premise, the reference the hypothesis: build it from the right answer, never from the policy's own. A note
//! that merely repeats the hypothesis and rests on none of `grounds` is an echo and worth 0, as are over-long and empty
//! notes. The entailer is named; the one built in counts words. One that cannot answer is the grader's failure.

use super::pay::Pay;
use super::reading::{Reading, Reference};
use super::sources::{Found, Sources};
use crate::term::{Finding, Nature, Settings, Term, TermConfig, View, term_config};
use crate::{Component, Problem};
use merit_core::{About, Episode, Evidence};
use merit_verify::similarity::{EntailmentConfig as Check, EntailmentVerdict, EntailmentVerifier};

pub(crate) const ENTAILMENT: Component = Component {
    about: About {
        name: "entailment",
        summary: "Whether the reference follows from the policy's note, by a named entailer.",
        paper: "EviNote-RAG: Enhancing RAG Models via Answer-Supportive Evidence Notes (2025), arXiv:2509.00877",
    },
    example: r#"
type = "entailment"
reading = { tag = "summary" }
reference = { pointer = "/statement" }
grounds = { tool = "search" }
check = { entailer = "lexical", pass_at = 0.7 }
"#,
};

term_config! {
    /// `entailment`
    pub struct EntailmentConfig of ENTAILMENT {
        /// The note.
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
}

impl TermConfig for EntailmentConfig {
    fn settings(&self) -> Settings {
        self.common()
    }

    fn nature(&self) -> Nature {
        Nature::VERDICT
    }

    fn term(&self) -> Result<Box<dyn Term>, Problem> {
        self.reading.check()?;
        self.reference.check()?;
        self.grounds.as_ref().map_or(Ok(()), |grounds| grounds.check("grounds"))?;
        let verifier = EntailmentVerifier::compile(self.check.clone());
        let verifier = verifier.map_err(|why| Problem::Setting(format!("`check`: {why}")))?;
        Ok(Box::new(Entailment { config: self.clone(), verifier }))
    }
}

struct Entailment {
    config: EntailmentConfig,
    verifier: EntailmentVerifier,
}

impl Term for Entailment {
    fn look(&self, view: &View<'_>) -> Finding {
        self.judge(view.episode).unwrap_or_else(|finding| finding)
    }
}

impl Entailment {
    fn judge(&self, episode: &Episode) -> Result<Finding, Finding> {
        let from = &self.config.reference;
        let hypotheses = from.texts(episode).filter(|texts| !texts.is_empty());
        let hypotheses = hypotheses.ok_or_else(|| Finding::not_applicable(from.missing()))?;
        let grounds: Vec<String> = match self.config.grounds.as_ref().map(|grounds| grounds.of(episode)) {
            Some(Found::Sources(sources)) => sources.into_iter().map(|source| source.text).collect(),
            Some(Found::Bad(why)) => return Err(Finding::broken(why)),
            Some(Found::Missing(why)) => return Err(Finding::not_applicable(why)),
            Some(Found::NoneAsked(_)) | None => Vec::new(),
        };
        let note = self.config.reading.judged(episode)?;
        let verdict = self.verifier.verify(&note, &hypotheses, &grounds);
        Ok(Finding::judged(&verdict, self.config.pay, Evidence::new("asked", asked(&verdict))))
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
