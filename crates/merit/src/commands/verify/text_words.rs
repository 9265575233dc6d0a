//! Verdicts on citations and spans, for people.

use crate::terminal::{count, piece};
use merit_verify::text::{CitationConclusion, CitationVerdict, CitedSentence, SpanConclusion, SpanVerdict};

pub(super) fn citations(verdict: &CitationVerdict) -> Vec<String> {
    let first = match &verdict.conclusion {
        CitationConclusion::Pass | CitationConclusion::Fail => format!(
            "{}, {:.0}% cite nothing, {:.0}% cite and do not stand",
            count(verdict.claims, "claim"),
            verdict.uncited_share * 100.0,
            verdict.unsupported_share * 100.0
        ),
        CitationConclusion::Refused { why } => format!("the response was not measured: {why:?}"),
        CitationConclusion::BadSources { why } => format!("the sources are at fault: {why:?}"),
        CitationConclusion::GraderFailed { why } => format!("the grader failed: {}", piece(why)),
    };
    std::iter::once(first).chain(verdict.sentences.iter().map(sentence)).collect()
}

fn sentence(sentence: &CitedSentence) -> String {
    let support = sentence.support.map_or_else(String::new, |support| format!(", support {support:.2}"));
    let cites = sentence.cites.iter().map(|cite| format!(" [{}]", piece(cite))).collect::<String>();
    format!("{:?}{support}: `{}`{cites}", sentence.standing, piece(&sentence.text))
}

pub(super) fn spans(verdict: &SpanVerdict) -> Vec<String> {
    vec![match verdict.conclusion {
        SpanConclusion::Refused { span } => format!("span {span} of the response is empty or reversed"),
        SpanConclusion::BadReference { span } => {
            format!("the reference is at fault: span {span} is missing, empty or reversed")
        }
        SpanConclusion::Pass | SpanConclusion::Fail => format!(
            "{} characters marked by both, {} by the response, {} by the reference",
            verdict.common, verdict.response, verdict.reference
        ),
    }]
}
