//! The verifiers of text over records, and their verdicts in words.
//!
//! One check per record: `reference` or `references` are held against the metric of the settings, `sources` call for the check of
//! citations, `spans` with `reference_spans` for that of spans. Two checks of one text have no common score; a reward of two
//! terms has.

use super::{
    CitationConfig, CitationDetail, CitationVerifier, CitedSentence, Metric, NoOptions, Normalise, Source,
    Span, SpanConfig, SpanDetail, SpanVerifier, TextConfig, TextConfigError, TextDetail, TextVerifier,
};
use merit_core::printable::{count, piece};
use merit_core::{Conclusion, Envelope, Judgement, Verifier};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The metric and its settings at the top, the other checks in tables of their own.
#[derive(Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TextChecks {
    pub metric: Metric,
    /// What is done to both texts first. Absent: what suits the metric.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub normalise: Option<Normalise>,
    /// A score of at least this passes.
    pub pass_at: f64,
    /// A longer response is refused. Absent: what suits the metric.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_chars: Option<usize>,
    /// What a citation must hold up to.
    pub citations: CitationConfig,
    /// Absent: records with spans cannot be judged, since nothing says what is measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spans: Option<SpanConfig>,
}

impl Default for TextChecks {
    /// The strictest metric there is.
    fn default() -> Self {
        let TextConfig { metric, normalise, pass_at, max_chars } =
            TextConfig::new(Metric::Exact(NoOptions {}));
        Self { metric, normalise, pass_at, max_chars, citations: CitationConfig::default(), spans: None }
    }
}

/// Judges records of text by whichever check they call for.
#[derive(Debug)]
pub struct TextRecords {
    metric: TextVerifier,
    citations: CitationVerifier,
    spans: Option<SpanVerifier>,
}

/// A text, and what it is held against.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TextRecord<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, alias = "policy")]
    settings: Option<&'a RawValue>,
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

/// What whichever check it was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "check", rename_all = "kebab-case")]
pub enum TextFinding {
    Metric(TextDetail),
    Citations(CitationDetail),
    Spans(SpanDetail),
}

impl Verifier for TextRecords {
    type Settings = TextChecks;
    type Record<'a> = TextRecord<'a>;
    type Detail = TextFinding;

    fn compile(checks: TextChecks) -> Result<Self, String> {
        let TextChecks { metric, normalise, pass_at, max_chars, citations, spans } = checks;
        let words = |e: TextConfigError| e.to_string();
        Ok(Self {
            metric: TextVerifier::compile(TextConfig { metric, normalise, pass_at, max_chars })
                .map_err(words)?,
            citations: CitationVerifier::compile(citations).map_err(|e| format!("`citations`: {e}"))?,
            spans: spans.map(SpanVerifier::compile).transpose().map_err(|e| format!("`spans`: {e}"))?,
        })
    }

    fn envelope<'a>(record: &Self::Record<'a>) -> Envelope<'a> {
        Envelope { id: record.id, settings: record.settings }
    }

    fn judge(&self, record: &TextRecord<'_>) -> Result<Judgement<TextFinding>, String> {
        let has_references = record.reference.is_some() || record.references.is_some();
        let has_spans = record.spans.is_some() || record.reference_spans.is_some();
        match (has_references, record.sources.as_deref(), has_spans) {
            (false, Some(sources), false) => {
                Ok(self.citations.verify(record.response()?, sources).map(TextFinding::Citations))
            }
            (false, None, true) => self.marked(record),
            (_, None, false) => self.measured(record),
            _ => {
                Err("give references, `sources` or spans, one of them; each is a check of its own".to_owned())
            }
        }
    }

    fn explain(judgement: &Judgement<TextFinding>) -> Vec<String> {
        let measured = matches!(judgement.conclusion, Conclusion::Pass | Conclusion::Fail);
        match &judgement.detail {
            TextFinding::Metric(detail) => {
                vec![piece(&detail.explain(&judgement.conclusion, judgement.score))]
            }
            _ if !measured => vec![piece(&judgement.conclusion.to_string())],
            TextFinding::Citations(detail) => citations(detail),
            TextFinding::Spans(detail) => vec![format!(
                "{} characters marked by both, {} by the response, {} by the reference",
                detail.common, detail.response, detail.reference
            )],
        }
    }
}

impl TextRecord<'_> {
    fn response(&self) -> Result<&str, String> {
        self.response.as_deref().ok_or_else(|| "missing field `response`".to_owned())
    }
}

impl TextRecords {
    fn measured(&self, record: &TextRecord<'_>) -> Result<Judgement<TextFinding>, String> {
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
        Ok(verdict.map(TextFinding::Metric))
    }

    fn marked(&self, record: &TextRecord<'_>) -> Result<Judgement<TextFinding>, String> {
        let unsaid = "the settings do not say how spans are measured; e.g. `spans = { measure = \"iou\", pass_at = 0.5 }`";
        let verifier = self.spans.as_ref().ok_or(unsaid)?;
        let (Some(ours), Some(theirs)) = (&record.spans, &record.reference_spans) else {
            return Err("give both `spans` and `reference_spans`".to_owned());
        };
        if record.response.is_some() {
            return Err("a check of spans does not look at `response`; leave it out".to_owned());
        }
        Ok(verifier.verify(ours, theirs).map(TextFinding::Spans))
    }
}

fn citations(detail: &CitationDetail) -> Vec<String> {
    let first = format!(
        "{}, {:.0}% cite nothing, {:.0}% cite and do not stand",
        count(detail.claims, "claim"),
        detail.uncited_share * 100.0,
        detail.unsupported_share * 100.0
    );
    std::iter::once(first).chain(detail.sentences.iter().map(sentence)).collect()
}

fn sentence(sentence: &CitedSentence) -> String {
    let support = sentence.support.map_or_else(String::new, |support| format!(", support {support:.2}"));
    let cites = sentence.cites.iter().map(|cite| format!(" [{}]", piece(cite))).collect::<String>();
    format!("{:?}{support}: `{}`{cites}", sentence.standing, piece(&sentence.text))
}
