//! Is this text right? Exact match, overlap, format and citation checks of a response against references, with evidence.
//!
//! In: a response, its references (or sources, or spans), and a compiled config. Out: a verdict: what it came to, a score,
//! and the numbers it rests on. Pure, thread-safe, and bounded: over-long text is refused before any work that grows
//! faster than its length. A new metric is one file, one variant of [`Metric`] and one arm in `verifier.rs`.

mod balance;
mod bleu;
mod check;
mod citation;
mod config;
mod contains;
mod lcs;
mod length;
mod look_alike;
mod normalise;
mod overlap;
mod quote;
mod record;
mod repetition;
mod rouge;
pub(crate) mod sentence;
mod span;
mod string_match;
mod verdict;
mod verifier;
pub(crate) mod words;

pub use balance::{BalanceProblem, MarkerPair};
pub use check::TextConfigError;
pub use citation::{
    CitationConfig, CitationDetail, CitationMarkers, CitationVerdict, CitationVerifier, CitedSentence,
    CitedStanding, Labels, Source,
};
pub use config::{
    BalanceConfig, ContainsConfig, LengthConfig, LengthUnit, Metric, NoOptions, RepetitionConfig,
    RougeConfig, RougeReport, RougeVariant, StringConfig, StringRule, TextConfig, TokenConfig, Tokens,
};
pub use look_alike::{LookAlike, LookAlikeKind};
pub use normalise::{Normalise, Punctuation};
pub use quote::Quote;
pub use record::{TextChecks, TextFinding, TextRecord, TextRecords};
pub use span::{Span, SpanConfig, SpanDetail, SpanMeasure, SpanVerdict, SpanVerifier};
pub use verdict::{Refusal, TextDetail, TextEvidence, TextVerdict, explain};
pub use verifier::{MAX_TEXT_BYTES, TextVerifier};
