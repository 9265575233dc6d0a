//! Whether the answer is the same mathematics as the reference: 1 or 0, by exact comparison within hard limits.
//!
//! Where the response has nothing that could be an answer, that is a parse failure. A reference that cannot be read and a
//! comparison that no limit could decide are the grader's failures, never a 0. Of several references any one will do.
//!
//! Equal is not enough: an answer that only gives the question's own formula back earns nothing, unless the reference is
//! written the same way. With `check.worked_out` a number must be worked out. Other spellings of an unworked formula are
//! equal mathematics, and are paid.

use super::pay::Pay;
use super::reading::{Reading, Reference, excerpt};
use super::restated::is_restated;
use crate::term::{Finding, Nature, Settings, Term, TermConfig, View, term_config};
use crate::{Component, Problem};
use merit_core::{About, Episode, Evidence};
use merit_maths::{Candidate, MathsConfig as Check, Side, Verdict};
use merit_maths_compat::verify;

pub(crate) const MATHS: Component = Component {
    about: About {
        name: "maths",
        summary: "1 where the answer is the same mathematics as the reference; 0 where it is not.",
        paper: "CoSineVerifier: Tool-Augmented Answer Verification for Computation-Oriented Scientific Questions (2025)",
    },
    example: r#"
type = "maths"
reading = "answer"
reference = "answer"
check = { units = "required", accept_rounded = 3, extract = { boxed = true, latex = true, plain = true } }
"#,
};

term_config! {
    /// `maths`
    pub struct MathsConfig of MATHS {
        /// Where the answer is looked for.
        #[serde(default)]
        pub reading: Reading,
        /// The right answer, or several of which any one will do.
        #[serde(default)]
        pub reference: Reference,
        /// What counts as the same answer.
        #[serde(default, alias = "policy")]
        pub check: Check,
        /// An answer of more characters is worth 0 unread. Absent: the check's limits decide.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub max_chars: Option<usize>,
        /// Pay an answer that is the question's own formula.
        #[serde(default)]
        pub allow_restated: bool,
    }
}

impl TermConfig for MathsConfig {
    fn settings(&self) -> Settings {
        self.common()
    }

    fn nature(&self) -> Nature {
        Nature::PARSED_VERDICT
    }

    fn term(&self) -> Result<Box<dyn Term>, Problem> {
        self.reading.check()?;
        self.reference.check()?;
        self.check.check().map_err(|why| Problem::Setting(format!("`check`: {why}")))?;
        if self.max_chars == Some(0) {
            return Err(Problem::NotPositive { field: "max_chars", value: 0.0 });
        }
        Ok(Box::new(Maths(self.clone())))
    }
}

struct Maths(MathsConfig);

impl Term for Maths {
    fn look(&self, view: &View<'_>) -> Finding {
        self.judge(view.episode).unwrap_or_else(|finding| finding)
    }
}

impl Maths {
    fn judge(&self, episode: &Episode) -> Result<Finding, Finding> {
        let MathsConfig { reading, reference, check, max_chars, .. } = &self.0;
        let missing = || Finding::not_applicable(reference.missing());
        let references = reference.texts(episode).filter(|texts| !texts.is_empty()).ok_or_else(missing)?;
        let text = reading.judged(episode)?;
        if let Some(most) = max_chars.filter(|most| text.chars().nth(*most).is_some()) {
            let finding = format!("the answer has more than {most} characters");
            return Ok(Finding::value(0.0, Evidence::new("parsed", finding)));
        }
        let mut undecided = None;
        let mut last = None;
        for gold in &references {
            let verdict = verify(gold, &text, check);
            match verdict.passed() {
                Some(true) => {
                    return Ok(match self.objection(episode, &verdict) {
                        Some(why) => Finding::verdict(false, Evidence::new("compared", why)),
                        None => finding(&verdict),
                    });
                }
                Some(false) => last = last.or(Some(verdict)),
                None => undecided = undecided.or(Some(verdict)),
            }
        }
        undecided.or(last).as_ref().map(finding).ok_or_else(missing)
    }

    /// Why an answer that is equal mathematics is none.
    fn objection(&self, episode: &Episode, verdict: &Verdict) -> Option<String> {
        let (answer, reference) = (chosen(&verdict.response)?, chosen(&verdict.gold)?);
        let restated = !self.0.allow_restated && is_restated(episode, &answer.text, &reference.text);
        restated.then(|| {
            format!("`{}` is equal, but it is the question's own formula given back", excerpt(&answer.text))
        })
    }
}

fn chosen(side: &Side) -> Option<&Candidate> {
    side.chosen.and_then(|at| side.candidates.get(at))
}

fn finding(verdict: &Verdict) -> Finding {
    let read = Evidence::new("parsed", format!("response: {}", shown(&verdict.response)));
    let compared = Evidence::new(
        "compared",
        format!("reference: {}; {} (rule `{}`)", shown(&verdict.gold), verdict.why, verdict.rule),
    );
    Finding::judged(verdict, Pay::Score, read).with_evidence(compared)
}

/// Which of the candidates was taken, and how it was read.
fn shown(side: &Side) -> String {
    let Some(taken) = chosen(side) else {
        return format!("none of {} candidates can be read", side.candidates.len());
    };
    let parsed = taken.parsed.as_deref().unwrap_or_default();
    let kind = format!("{:?}", taken.kind).to_lowercase();
    format!(
        "{kind} `{}` read as `{}`, of {} candidates",
        excerpt(&taken.text),
        excerpt(parsed),
        side.candidates.len()
    )
}
