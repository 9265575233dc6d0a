//! What a text verification says. Numbers and positions rather than sentences, so that the exact path allocates nothing;
//! [`explain`] puts them into words.

use super::{BalanceProblem, LengthUnit, LookAlike};
use merit_core::{Conclusion, Judgement, Why};
use serde::{Deserialize, Serialize};

/// What a measurement came to; `Pass` where the score reaches `pass_at`.
pub type TextVerdict = Judgement<TextDetail>;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TextDetail {
    /// Position of the reference that scored best. Absent: none was used, or none scored.
    pub reference: Option<usize>,
    /// The numbers the score rests on, for the best reference.
    pub evidence: TextEvidence,
    /// Words of a response that was not a full match which look like something they are not. They never count as equal.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suspicious: Vec<LookAlike>,
}

/// Why a response was not measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// It has nothing but blanks.
    Empty,
    /// It has more characters than allowed.
    TooLong,
    /// It offers more candidates than allowed, or an option that is no reference.
    SeveralAnswers,
    /// The reference is too small a share of it.
    SmallShare,
    /// Every match stands behind a negation.
    Negated,
    /// Comparing it would take more work than allowed.
    TooMuchWork,
}

/// The numbers a score rests on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum TextEvidence {
    /// Nothing was measured.
    None,
    /// A match, or none, of the whole or a part.
    Match { matched: bool },
    Contains {
        /// Which word of the normalised response the match starts at. Absent: no match.
        at_word: Option<usize>,
        response_words: usize,
        reference_words: usize,
        /// Short list items that the response offers, the match included.
        candidates: usize,
    },
    /// Of `f1` and `rouge`.
    Overlap {
        common: usize,
        /// Units of the response.
        response: usize,
        /// Units of the reference.
        reference: usize,
        /// `common / response`.
        precision: f64,
        /// `common / reference`.
        recall: f64,
        f: f64,
    },
    Bleu {
        /// Longest n-gram counted.
        order: usize,
        /// Clipped precision of each order; 0 beyond `order`.
        precisions: [f64; 4],
        brevity: f64,
        /// Words of the response.
        response: usize,
        /// Words of the reference.
        reference: usize,
    },
    Length {
        /// How long the response is.
        length: usize,
        unit: LengthUnit,
    },
    Repetition {
        /// N-grams of the response.
        ngrams: usize,
        /// How many of them repeat an earlier one.
        repeats: usize,
    },
    Balance {
        /// Pairs that were opened and closed.
        pairs: usize,
        /// The first thing wrong. Absent: nothing.
        problem: Option<BalanceProblem>,
    },
}

impl TextDetail {
    pub(crate) fn new(reference: Option<usize>, evidence: TextEvidence) -> Self {
        Self { reference, evidence, suspicious: Vec::new() }
    }

    pub(crate) fn explain(&self, conclusion: &Conclusion, score: Option<f64>) -> String {
        let mut line = conclusion.to_string();
        if let Some(score) = score {
            line += &format!(", score {score:.4}");
        }
        if let Some(at) = self.reference {
            line += &format!(", reference {at}");
        }
        line += &self.evidence.text();
        for word in &self.suspicious {
            line += &format!("; suspicious: {}", word.explain());
        }
        line
    }
}

/// A verdict in one line.
pub fn explain(verdict: &TextVerdict) -> String {
    verdict.detail.explain(&verdict.conclusion, verdict.score)
}

impl From<Refusal> for Why {
    fn from(refusal: Refusal) -> Self {
        Self::Borrowed(match refusal {
            Refusal::Empty => "the response is empty",
            Refusal::TooLong => "the response is longer than allowed",
            Refusal::SeveralAnswers => "the response offers several answers",
            Refusal::SmallShare => "the answer is too small a share of the response",
            Refusal::Negated => "the response denies the answer",
            Refusal::TooMuchWork => "comparing the response would take more work than allowed",
        })
    }
}

impl TextEvidence {
    fn text(&self) -> String {
        match self {
            Self::None => String::new(),
            Self::Match { matched } => format!("; {}", if *matched { "it matches" } else { "no match" }),
            Self::Contains { at_word, response_words, reference_words, candidates } => {
                let found = at_word.map_or("no match".to_owned(), |at| format!("match at word {at}"));
                format!("; {found}, {reference_words} of {response_words} words, {candidates} candidates")
            }
            Self::Overlap { common, response, reference, precision, recall, f } => format!(
                "; {common} in common of {response} and {reference}: precision {precision:.4}, recall {recall:.4}, F {f:.4}"
            ),
            Self::Bleu { order, precisions, brevity, response, reference } => {
                let shown = precisions.get(..*order).unwrap_or_default();
                format!(
                    "; {response} words against {reference}: precisions {shown:.4?}, brevity {brevity:.4}"
                )
            }
            Self::Length { length, unit } => format!("; {length} {unit:?}").to_lowercase(),
            Self::Repetition { ngrams, repeats } => format!("; {repeats} of {ngrams} n-grams repeat"),
            Self::Balance { pairs, problem } => {
                format!("; {pairs} pairs{}", problem.map_or(String::new(), |p| format!(", {}", p.explain())))
            }
        }
    }
}
