//! What a verification says: the conclusion, what was read on each side, and which rule decided.

use merit_core::{Conclusion, Judgement};
use serde::{Deserialize, Serialize};

/// What a verification came to: `Pass` for the same answer, `Fail` for another, `Unreadable` where the response has nothing that
/// could be one. A limit that was reached in comparing is `GraderFailed`, unless the response itself is what exceeds it.
pub type Verdict = Judgement<Comparison>;

/// What was compared, and how.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// What was read in the reference.
    pub gold: Side,
    /// What was read in the response.
    pub response: Side,
    /// The rule that decided, e.g. `exact-rational`, `normal-form`, `numeric-identity`, `interval`, `text`.
    pub rule: String,
    pub why: String,
    /// Steps of the budget that the comparison took.
    pub steps: u64,
}

impl Comparison {
    /// The verdict, by a rule and for a reason.
    pub fn concluded(mut self, conclusion: Conclusion, rule: &str, why: String) -> Verdict {
        self.rule = rule.to_owned();
        self.why = why;
        Judgement::unmeasured(conclusion, self)
    }
}

/// One side of the comparison.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Side {
    /// Everything that could be the answer, best first.
    pub candidates: Vec<Candidate>,
    /// Which of them was compared, as a position in `candidates`. Absent: none could be read.
    pub chosen: Option<usize>,
}

/// A piece of text that may be the answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// How it was found.
    pub kind: CandidateKind,
    /// As it stands in the text.
    pub text: String,
    /// Byte offset in the text.
    pub at: usize,
    /// The parsed answer in one plain line. Absent: it could not be parsed.
    pub parsed: Option<String>,
}

/// How a candidate was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CandidateKind {
    /// In `\boxed{…}`.
    Boxed,
    /// Between mathematics delimiters.
    Latex,
    /// After words like "the answer is", or the whole text.
    Plain,
    LastNumber,
    /// A letter choice.
    Choice,
}
