//! How a text compares with its references, or what it looks like: exact match, F1, ROUGE, length-aware BLEU, containment,
//! length, repetition or balance, as the check's `metric` says.
//!
//! The value is the metric's score, or 1 where it passes. Over-long, empty and many-answered responses are refused by the
//! check and worth 0; look-alikes of other scripts never count as equal. A reference that is blank or too long is the
//! grader's failure.

use super::pay::Pay;
use super::reading::{Reading, Reference};
use crate::term::{Finding, Nature, Settings, Term, TermConfig, View, term_config};
use crate::{Component, Problem};
use merit_core::{About, Episode, Evidence};
use merit_verify::text::{Metric, TextConfig as Check, TextVerifier, explain};

pub(crate) const TEXT: Component = Component {
    about: About {
        name: "text",
        summary: "A text metric against references: exact, F1, ROUGE, length-aware BLEU, contains and others.",
        paper: "Atom-Searcher: Enhancing Agentic Deep Research via Fine-Grained Atomic Thought Reward (2025), arXiv:2508.12800",
    },
    example: r#"
type = "text"
reading = "answer"
reference = "answer"
pay = "score"
check = { metric = { type = "f1" }, max_chars = 300 }
"#,
};

term_config! {
    /// `text`
    pub struct TextConfig of TEXT {
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
}

impl TermConfig for TextConfig {
    fn settings(&self) -> Settings {
        self.common()
    }

    /// Metrics that compare with nothing count; the others judge.
    fn nature(&self) -> Nature {
        let counts = matches!(self.check.metric, Metric::Length(_) | Metric::Repetition(_));
        Nature { judges: !counts, ..Nature::VERDICT }
    }

    fn term(&self) -> Result<Box<dyn Term>, Problem> {
        self.reading.check()?;
        let verifier = TextVerifier::compile(self.check.clone());
        let verifier = verifier.map_err(|why| Problem::Setting(format!("`check`: {why}")))?;
        let reference = match (&self.reference, verifier.needs_references()) {
            (Some(_), false) => {
                let text =
                    "`reference` does nothing with this metric, which compares with nothing; remove it";
                return Err(Problem::Setting(text.to_owned()));
            }
            (None, false) => None,
            (given, true) => Some(given.clone().unwrap_or_default()),
        };
        reference.as_ref().map_or(Ok(()), Reference::check)?;
        Ok(Box::new(Text { reading: self.reading.clone(), reference, pay: self.pay, verifier }))
    }
}

struct Text {
    reading: Reading,
    /// Absent: the metric compares with nothing.
    reference: Option<Reference>,
    pay: Pay,
    verifier: TextVerifier,
}

impl Term for Text {
    fn look(&self, view: &View<'_>) -> Finding {
        self.judge(view.episode).unwrap_or_else(|finding| finding)
    }
}

impl Text {
    fn judge(&self, episode: &Episode) -> Result<Finding, Finding> {
        let references = match &self.reference {
            None => Vec::new(),
            Some(from) => {
                let texts = from.texts(episode).filter(|texts| !texts.is_empty());
                texts.ok_or_else(|| Finding::not_applicable(from.missing()))?
            }
        };
        let text = self.reading.judged(episode)?;
        let verdict = self.verifier.verify(&text, &references);
        Ok(Finding::judged(&verdict, self.pay, Evidence::new("compared", explain(&verdict))))
    }
}
