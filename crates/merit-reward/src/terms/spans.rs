//! Whether the answer marks the same characters as the reference: overlap over union, or F1, of the marked characters.
//!
//! The answer is a JSON list of `{"start": …, "end": …}`, counted in characters, the end not included; anything else is a
//! parse failure. A span that is empty or reversed is worth 0 with all others. Marking everything costs precision, and
//! marking the same twice gains nothing. A reference that is no such list, or an empty one, is the grader's failure.

use super::pay::Pay;
use super::reading::{Reading, Reference, excerpt};
use crate::term::{Finding, Nature, Settings, Term, TermConfig, View, term_config};
use crate::{Component, Problem};
use merit_core::{About, Episode, Evidence};
use merit_verify::json::{Limits, parse};
use merit_verify::text::{Span, SpanConfig as Check, SpanVerifier};
use serde::Deserialize;

pub(crate) const SPANS: Component = Component {
    about: About {
        name: "spans",
        summary: "How far the answer marks the same characters as the reference.",
        paper: "",
    },
    example: r#"
type = "spans"
reference = { pointer = "/spans" }
check = { measure = "iou", pass_at = 0.5 }
"#,
};

term_config! {
    /// `spans`
    pub struct SpansConfig of SPANS {
        /// Where the list is looked for.
        #[serde(default)]
        pub reading: Reading,
        /// The right spans: a list of tables with `start` and `end`.
        #[serde(default = "spans")]
        pub reference: Reference,
        /// What of the verdict is the value.
        #[serde(default)]
        pub pay: Pay,
        /// What is measured.
        pub check: Check,
    }
}

fn spans() -> Reference {
    Reference::Pointer("/spans".to_owned())
}

impl TermConfig for SpansConfig {
    fn settings(&self) -> Settings {
        self.common()
    }

    fn nature(&self) -> Nature {
        Nature::PARSED_VERDICT
    }

    fn term(&self) -> Result<Box<dyn Term>, Problem> {
        self.reading.check()?;
        self.reference.check()?;
        let verifier = SpanVerifier::compile(self.check);
        let verifier = verifier.map_err(|why| Problem::Setting(format!("`check`: {why}")))?;
        Ok(Box::new(Spans { config: self.clone(), verifier }))
    }
}

struct Spans {
    config: SpansConfig,
    verifier: SpanVerifier,
}

impl Term for Spans {
    fn look(&self, view: &View<'_>) -> Finding {
        self.judge(view.episode).unwrap_or_else(|finding| finding)
    }
}

impl Spans {
    fn judge(&self, episode: &Episode) -> Result<Finding, Finding> {
        let from = &self.config.reference;
        let value = from.of(episode).filter(|value| !value.is_null());
        let value = value.ok_or_else(|| Finding::not_applicable(from.missing()))?;
        let wanted = match (from, value.as_str()) {
            (Reference::Answer, Some(text)) => read(text),
            _ => Vec::deserialize(value.as_ref()).map_err(|why| why.to_string()),
        };
        let wanted =
            wanted.map_err(|why| Finding::broken(format!("the reference is no list of spans: {why}")))?;
        let text = self.config.reading.judged(episode)?;
        let given = read(&text).map_err(|why| {
            Finding::parse_failure(why, Evidence::new("parsed", format!("`{}`", excerpt(&text))))
        })?;
        let verdict = self.verifier.verify(&given, &wanted);
        let compared = format!(
            "{} spans mark {} characters, the reference {}, {} of them in common",
            given.len(),
            verdict.response,
            verdict.reference,
            verdict.common
        );
        Ok(Finding::judged(&verdict, self.config.pay, Evidence::new("compared", compared)))
    }
}

fn read(text: &str) -> Result<Vec<Span>, String> {
    let parsed = parse(text, &Limits::default());
    let strict = parsed.is_strict();
    let value = parsed.value.filter(|_| strict).ok_or_else(|| "it is not strict JSON".to_owned())?;
    Vec::deserialize(&value).map_err(|why| format!("it is no list of spans: {why}"))
}
