//! Whether the answer marks the same characters as the reference: overlap over union, or F1, of the marked characters.
//!
//! The answer is a JSON list of `{"start": …, "end": …}`, counted in characters, the end not included; anything else is a
//! parse failure. A span that is empty or reversed is worth 0 with all others. Marking everything costs precision, and
//! marking the same twice gains nothing. A reference that is no such list, or an empty one, is the grader's failure.

use merit_reward::prelude::*;
use merit_reward::terms::excerpt;
use merit_verify::json::{Limits, parse};
use merit_verify::text::{Span, SpanConfig as Check, SpanVerifier};
use schemars::JsonSchema;
use serde::Deserialize;

/// How far the answer marks the same characters as the reference.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spans {
    /// Where the list is looked for.
    #[serde(default)]
    pub reading: Reading,
    /// The right spans: a list of tables with `start` and `end`.
    #[serde(default = "spans")]
    pub reference: Reference,
    /// What of the verdict is the value.
    #[serde(default)]
    pub pay: Pay,
    /// The overlap that is measured, and from where on it passes.
    pub check: Check,
}

impl Component for Spans {
    const ABOUT: About = About {
        name: "spans",
        summary: "How far the answer marks the same characters as the reference.",
        paper: "",
    };
    const EXAMPLE: &'static str = r#"
reference = { pointer = "/spans" }
check = { measure = "iou", pass_at = 0.5 }
"#;

    fn check(&self) -> Result<(), Refusal> {
        self.reading.check()?;
        self.reference.check()
    }
}

impl PreparedTerm for Spans {
    type Prepared = SpanVerifier;

    fn kind(&self) -> TermKind {
        TermKind::PARSED_VERDICT
    }

    fn prepare(&self) -> Result<SpanVerifier, Refusal> {
        SpanVerifier::compile(self.check).map_err(|why| Refusal::new(format!("`check`: {why}")))
    }

    fn evaluate(&self, verifier: &SpanVerifier, context: &EvalContext<'_>) -> Result<TermResult, TermResult> {
        let episode = context.episode;
        let from = &self.reference;
        let value = from.of(episode).filter(|value| !value.is_null());
        let value = value.ok_or_else(|| TermResult::not_applicable(from.missing()))?;
        let wanted = match (from, value.as_str()) {
            (Reference::Answer, Some(text)) => read(text),
            _ => Vec::deserialize(value.as_ref()).map_err(|why| why.to_string()),
        };
        let wanted =
            wanted.map_err(|why| TermResult::broken(format!("the reference is no list of spans: {why}")))?;
        let text = self.reading.judged(episode)?;
        let given = read(&text).map_err(|why| {
            TermResult::parse_failure(why, Evidence::new("parsed", format!("`{}`", excerpt(&text))))
        })?;
        let verdict = verifier.verify(&given, &wanted);
        let compared = format!(
            "{} spans mark {} characters, the reference {}, {} of them in common",
            given.len(),
            verdict.response,
            verdict.reference,
            verdict.common
        );

        Ok(TermResult::judged(&verdict, self.pay, Evidence::new("compared", compared)))
    }
}

fn spans() -> Reference {
    Reference::Pointer("/spans".to_owned())
}

fn read(text: &str) -> Result<Vec<Span>, String> {
    let parsed = parse(text, &Limits::default());
    let strict = parsed.is_strict();
    let value = parsed.value.filter(|_| strict).ok_or_else(|| "it is not strict JSON".to_owned())?;
    Vec::deserialize(&value).map_err(|why| format!("it is no list of spans: {why}"))
}
