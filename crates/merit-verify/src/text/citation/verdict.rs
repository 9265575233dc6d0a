//! What a citation check says, sentence by sentence.

use crate::text::Quote;
use merit_core::Judgement;
use serde::{Deserialize, Serialize};

/// What a citation check says. `Pass`: enough claims stand, and no citation is dangling and no quote wrong. The score is the
/// share of claims that stand.
pub type CitationVerdict = Judgement<CitationDetail>;

/// Every sentence, and what became of the claims.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct CitationDetail {
    /// Sentences that claim something.
    pub claims: usize,
    /// Share of claims that cite nothing.
    pub uncited_share: f64,
    /// Share of claims that cite but do not stand.
    pub unsupported_share: f64,
    /// Every sentence in order.
    pub sentences: Vec<CitedSentence>,
}

/// A sentence of the answer, with what it cites and whether that supports it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CitedSentence {
    /// Where it starts, in bytes of the response.
    pub at: usize,
    /// The beginning of the sentence.
    pub text: String,
    pub cites: Vec<String>,
    /// Labels it cites that name no source.
    pub dangling: Vec<String>,
    /// How far its best cited source supports it. Absent: it cites none, or claims nothing.
    pub support: Option<f64>,
    /// Its quoted spans that were looked up.
    pub quotes: Vec<Quote>,
    /// Whether its sources support it.
    pub standing: CitedStanding,
}

/// What a sentence came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CitedStanding {
    /// It says too little to need a source.
    NoClaim,
    /// A source it cites supports it, and its quotes are right.
    Supported,
    /// It cites nothing.
    Uncited,
    /// It cites a source that does not exist.
    Dangling,
    /// It quotes what none of its sources says.
    Misquoted,
    /// It cites more sources than allowed.
    OverCited,
    /// None of its sources supports it far enough.
    Unsupported,
}
