//! Do two sets of character spans mark the same text? Overlap over union or F1 of the marked characters.

use super::TextConfigError;
use super::check::within_one;
use merit_core::{Conclusion, Judgement};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most spans of either side.
const MAX_SPANS: usize = 100_000;

/// Characters from `start` up to but not including `end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Span {
    /// Place of the first character, from 0.
    pub start: usize,
    /// The one behind the last.
    pub end: usize,
}

/// What a span check measures, and from where on it passes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SpanConfig {
    /// What is measured.
    pub measure: SpanMeasure,
    /// A score of at least this passes.
    pub pass_at: f64,
}

/// What is measured of marked characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SpanMeasure {
    /// Characters marked by both over characters marked by either.
    Iou,
    /// Twice the characters marked by both over the sum of both.
    F1,
}

/// What a span check says. `Refused`: a span of the response is empty or reversed, or there are too many.
pub type SpanVerdict = Judgement<SpanDetail>;

/// How many characters are marked.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct SpanDetail {
    /// Characters marked by both.
    pub common: usize,
    /// Characters marked by the response; overlapping spans count once.
    pub response: usize,
    /// Characters marked by the reference.
    pub reference: usize,
}

#[derive(Debug, Clone, Copy)]
pub struct SpanVerifier {
    config: SpanConfig,
}

impl SpanVerifier {
    pub fn compile(config: SpanConfig) -> Result<Self, TextConfigError> {
        within_one("pass_at", config.pass_at)?;
        Ok(Self { config })
    }

    /// Compares the spans of a response with those of a reference.
    pub fn verify(&self, response: &[Span], reference: &[Span]) -> SpanVerdict {
        if let Some(span) = faulty(reference).or(reference.is_empty().then_some(0)) {
            let why = format!("span {span} of the reference is missing, empty or reversed");
            return Judgement::unmeasured(Conclusion::bad_reference(why), SpanDetail::default());
        }
        if let Some(span) = faulty(response) {
            let why = format!("span {span} is empty or reversed");
            return Judgement::unmeasured(Conclusion::refused(why), SpanDetail::default());
        }
        let (ours, theirs) = (merged(response), merged(reference));
        let (n, m, both) = (marked(&ours), marked(&theirs), marked_by_both(&ours, &theirs));
        let score = match self.config.measure {
            SpanMeasure::Iou => both as f64 / (n as f64 + m as f64 - both as f64),
            SpanMeasure::F1 => 2.0 * both as f64 / (n as f64 + m as f64),
        };
        let detail = SpanDetail { common: both, response: n, reference: m };
        Judgement::scored(score >= self.config.pass_at, score, detail)
    }
}

fn faulty(spans: &[Span]) -> Option<usize> {
    let crowded = (spans.len() > MAX_SPANS).then_some(MAX_SPANS);
    spans.iter().position(|span| span.start >= span.end).or(crowded)
}

/// Sorted and without overlaps.
fn merged(spans: &[Span]) -> Vec<Span> {
    let mut sorted = spans.to_vec();
    sorted.sort_unstable();
    let mut merged: Vec<Span> = Vec::new();
    for span in sorted {
        match merged.last_mut() {
            Some(last) if span.start <= last.end => last.end = last.end.max(span.end),
            _ => merged.push(span),
        }
    }
    merged
}

fn marked(spans: &[Span]) -> usize {
    spans.iter().map(|span| span.end - span.start).sum()
}

fn marked_by_both(a: &[Span], b: &[Span]) -> usize {
    let (mut i, mut j, mut both) = (0, 0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        both += x.end.min(y.end).saturating_sub(x.start.max(y.start));
        if x.end < y.end { i += 1 } else { j += 1 }
    }
    both
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(measure: SpanMeasure, ours: &[(usize, usize)], theirs: &[(usize, usize)], want: f64) {
        let spans = |list: &[(usize, usize)]| -> Vec<Span> {
            list.iter().map(|(start, end)| Span { start: *start, end: *end }).collect()
        };
        let verifier = SpanVerifier { config: SpanConfig { measure, pass_at: 0.5 } };
        assert_eq!(verifier.verify(&spans(ours), &spans(theirs)).score, Some(want));
    }

    #[test]
    fn characters_marked_by_both_count() {
        check(SpanMeasure::Iou, &[(0, 10)], &[(5, 15)], 5.0 / 15.0);
        check(SpanMeasure::F1, &[(0, 10)], &[(5, 15)], 0.5);
        check(SpanMeasure::Iou, &[(0, 2), (8, 10)], &[(0, 10)], 0.4);
        check(SpanMeasure::Iou, &[], &[(0, 10)], 0.0);
    }

    #[test]
    fn marking_the_same_twice_gains_nothing() {
        check(SpanMeasure::F1, &[(0, 5), (0, 5), (3, 5)], &[(0, 10)], 10.0 / 15.0);
    }

    #[test]
    fn whose_fault_a_bad_span_is() {
        let verifier = SpanVerifier { config: SpanConfig { measure: SpanMeasure::Iou, pass_at: 0.5 } };
        let (good, bad) = ([Span { start: 0, end: 1 }], [Span { start: 2, end: 1 }]);
        assert_eq!(verifier.verify(&bad, &good).conclusion.word(), "refused");
        assert_eq!(verifier.verify(&good, &bad).conclusion.word(), "bad reference");
        assert_eq!(verifier.verify(&good, &[]).score, None);
    }

    #[test]
    fn spans_to_the_end_of_the_number_line_do_not_overflow() {
        check(SpanMeasure::F1, &[(0, usize::MAX), (1, usize::MAX)], &[(0, usize::MAX)], 1.0);
    }
}
