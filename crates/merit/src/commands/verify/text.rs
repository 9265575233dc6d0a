//! `merit verify text`: does the text match its references, stand on the sources it cites, or mark the right spans?
//!
//! One check per record: `reference` or `references` are held against the policy's metric, `sources` call for the check of
//! citations, `spans` with `reference_spans` for that of spans. Two checks of one text have no common score; a reward of two
//! terms has.

use super::text_words;
use super::verifier::{Common, Judged, Verifier};
use crate::terminal::piece;
use merit_verify::text::{
    CitationConclusion, CitationConfig, CitationVerdict, CitationVerifier, Metric, NoOptions, Normalise,
    Source, Span, SpanConclusion, SpanConfig, SpanVerdict, SpanVerifier, TextConfig, TextVerdict,
    TextVerifier,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The metric and its settings at the top, the other checks in tables of their own.
#[derive(Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct TextPolicy {
    metric: Metric,
    #[serde(skip_serializing_if = "Option::is_none")]
    normalise: Option<Normalise>,
    pass_at: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_chars: Option<usize>,
    citations: CitationConfig,
    /// Absent: records with spans cannot be judged, since nothing says what is measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    spans: Option<SpanConfig>,
}

impl Default for TextPolicy {
    /// The strictest metric there is.
    fn default() -> Self {
        let TextConfig { metric, normalise, pass_at, max_chars } =
            TextConfig::new(Metric::Exact(NoOptions {}));
        Self { metric, normalise, pass_at, max_chars, citations: CitationConfig::default(), spans: None }
    }
}

pub(super) struct Text {
    metric: TextVerifier,
    citations: CitationVerifier,
    spans: Option<SpanVerifier>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Record<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    policy: Option<&'a RawValue>,
    #[serde(borrow, default)]
    response: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    reference: Option<Cow<'a, str>>,
    #[serde(default)]
    references: Option<Vec<String>>,
    #[serde(default)]
    sources: Option<Vec<Source>>,
    #[serde(default)]
    spans: Option<Vec<Span>>,
    #[serde(default)]
    reference_spans: Option<Vec<Span>>,
}

/// The verdict of whichever check it was.
#[derive(Serialize)]
#[serde(tag = "check", rename_all = "kebab-case")]
pub(super) enum Verdict {
    Metric(TextVerdict),
    Citations(CitationVerdict),
    Spans(SpanVerdict),
}

impl Verifier for Text {
    type Policy = TextPolicy;
    type Record<'a> = Record<'a>;
    type Verdict = Verdict;

    fn compile(policy: TextPolicy) -> Result<Self, String> {
        let TextPolicy { metric, normalise, pass_at, max_chars, citations, spans } = policy;
        let words = |e: merit_verify::text::TextConfigError| e.to_string();
        Ok(Self {
            metric: TextVerifier::compile(TextConfig { metric, normalise, pass_at, max_chars })
                .map_err(words)?,
            citations: CitationVerifier::compile(citations).map_err(|e| format!("`citations`: {e}"))?,
            spans: spans.map(SpanVerifier::compile).transpose().map_err(|e| format!("`spans`: {e}"))?,
        })
    }

    fn common<'a>(record: &Self::Record<'a>) -> Common<'a> {
        Common { id: record.id, policy: record.policy }
    }

    fn judge(&self, record: &Record<'_>) -> Result<Judged<Verdict>, String> {
        let has_references = record.reference.is_some() || record.references.is_some();
        let has_spans = record.spans.is_some() || record.reference_spans.is_some();
        match (has_references, record.sources.as_deref(), has_spans) {
            (false, Some(sources), false) => Ok(self.cited(record.response()?, sources)),
            (false, None, true) => self.marked(record),
            (_, None, false) => self.measured(record),
            _ => {
                Err("give references, `sources` or spans, one of them; each is a check of its own".to_owned())
            }
        }
    }

    fn explain(verdict: &Verdict) -> Vec<String> {
        match verdict {
            Verdict::Metric(verdict) => vec![piece(&verdict.explain())],
            Verdict::Citations(verdict) => text_words::citations(verdict),
            Verdict::Spans(verdict) => text_words::spans(verdict),
        }
    }
}

impl Record<'_> {
    fn response(&self) -> Result<&str, String> {
        self.response.as_deref().ok_or_else(|| "missing field `response`".to_owned())
    }
}

impl Text {
    fn measured(&self, record: &Record<'_>) -> Result<Judged<Verdict>, String> {
        let response = record.response()?;
        let verdict = match (&record.reference, &record.references) {
            (Some(_), Some(_)) => Err("give `reference` or `references`, not both"),
            (None, None) if self.metric.needs_references() => {
                Err("the metric compares with references; give `reference` or `references`")
            }
            (Some(_), None) | (None, Some(_)) if !self.metric.needs_references() => {
                Err("the metric looks at the response alone; leave the references out")
            }
            (Some(reference), None) => Ok(self.metric.verify(response, &[reference])),
            (None, references) => Ok(self.metric.verify(response, references.as_deref().unwrap_or_default())),
        }?;
        Ok(Judged { passed: verdict.passed(), score: verdict.score, verdict: Verdict::Metric(verdict) })
    }

    fn cited(&self, response: &str, sources: &[Source]) -> Judged<Verdict> {
        let verdict = self.citations.verify(response, sources);
        let passed = match verdict.conclusion {
            CitationConclusion::Pass => Some(true),
            CitationConclusion::Fail | CitationConclusion::Refused { .. } => Some(false),
            CitationConclusion::BadSources { .. } | CitationConclusion::GraderFailed { .. } => None,
        };
        Judged { passed, score: verdict.score, verdict: Verdict::Citations(verdict) }
    }

    fn marked(&self, record: &Record<'_>) -> Result<Judged<Verdict>, String> {
        let unsaid = "the policy does not say how spans are measured; e.g. `spans = { measure = \"iou\", pass_at = 0.5 }`";
        let verifier = self.spans.as_ref().ok_or(unsaid)?;
        let (Some(ours), Some(theirs)) = (&record.spans, &record.reference_spans) else {
            return Err("give both `spans` and `reference_spans`".to_owned());
        };
        if record.response.is_some() {
            return Err("a check of spans does not look at `response`; leave it out".to_owned());
        }
        let verdict = verifier.verify(ours, theirs);
        let passed = match verdict.conclusion {
            SpanConclusion::Pass => Some(true),
            SpanConclusion::Fail | SpanConclusion::Refused { .. } => Some(false),
            SpanConclusion::BadReference { .. } => None,
        };
        Ok(Judged { passed, score: verdict.score, verdict: Verdict::Spans(verdict) })
    }
}
