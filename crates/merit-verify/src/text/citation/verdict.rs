//! What a citation check says, sentence by sentence.

use crate::text::{Quote, Refusal};
use serde::{Deserialize, Serialize};

/// The conclusion with every sentence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CitationVerdict {
    /// What it came to.
    pub conclusion: CitationConclusion,
    /// Share of claims that stand. Absent when nothing could be judged by no fault of the response.
    pub score: Option<f64>,
    /// Sentences that claim something.
    pub claims: usize,
    /// Share of claims that cite nothing.
    pub uncited_share: f64,
    /// Share of claims that cite but do not stand.
    pub unsupported_share: f64,
    /// Every sentence in order.
    pub sentences: Vec<CitedSentence>,
}

/// What a citation check came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum CitationConclusion {
    /// Enough claims stand, and no citation is dangling and no quote wrong.
    Pass,
    /// Not so.
    Fail,
    /// The response was not measured, by its own doing; it scores 0.
    Refused {
        /// Why.
        why: Refusal,
    },
    /// The sources cannot be used: the task is at fault.
    BadSources {
        /// Why.
        why: SourceFault,
    },
    /// The entailer failed: nobody knows.
    GraderFailed {
        /// What it said.
        why: String,
    },
}

/// Why sources cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SourceFault {
    /// There is none.
    Missing,
    /// Two have the same id.
    SameId,
    /// Together they are longer than is looked at.
    TooLong,
}

/// One sentence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CitedSentence {
    /// Where it starts, in bytes of the response.
    pub at: usize,
    /// Its beginning.
    pub text: String,
    /// The labels it cites.
    pub cites: Vec<String>,
    /// Those of them that name no source.
    pub dangling: Vec<String>,
    /// How far its best cited source supports it. Absent: it cites none, or claims nothing.
    pub support: Option<f64>,
    /// Its quoted spans that were looked up.
    pub quotes: Vec<Quote>,
    /// What it came to.
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
