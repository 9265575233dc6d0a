//! Does a text cite what it says? Markers that name a source, sentences that the source supports, quotes that stand there.
//!
//! In: a response with markers such as `[1]`, and the sources. Out: each sentence with what it cites, how far its best cited
//! source supports it, and its standing; the score is the share of claims that stand. Support is judged by an
//! [`Entailer`](crate::similarity::Entailer): `lexical` by default, any other through `verify_with`.

mod config;
mod markers;
mod verdict;
mod verifier;

pub use config::{CitationConfig, CitationMarkers, Labels};
pub use verdict::{CitationDetail, CitationVerdict, CitedSentence, CitedStanding};
pub use verifier::{CitationVerifier, Source};
