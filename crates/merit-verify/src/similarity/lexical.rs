//! Entailment read off the words: how much of the hypothesis' content the premise covers.
//!
//!   p = covered / content words of the hypothesis, times 0.2 for a number the premise does not have, times 0.2 for a
//!   negation on one side only (judged on the premise sentence that covers most)
//!
//! It is lexical: paraphrase scores low, and a premise with the right words in the wrong relation scores high. Plurals
//! and common endings are cut off before words are compared; numbers must be equal in value as written.

use super::{Entailer, EntailerError};
use crate::text::Normalise;
use crate::text::words::{is_negation, is_stop_word, words};
use merit_core::About;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

pub(super) const ABOUT: About = About {
    name: "lexical",
    summary: "share of the hypothesis' content words in the premise, cut for wrong numbers and negation; no model",
    paper: "",
};

/// What is left of the score when a number or a negation does not fit.
const MISMATCH: f64 = 0.2;

/// The entailer `lexical`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Lexical;

/// What the number rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LexicalEvidence {
    /// Content words of the hypothesis, numbers included.
    pub content: usize,
    /// How many of them the premise has.
    pub covered: usize,
    /// Numbers of the hypothesis that the premise does not have.
    pub wrong_numbers: Vec<String>,
    /// One side denies what the other says.
    pub negation_differs: bool,
    /// Probability of entailment that these findings come to.
    pub probability: f64,
}

impl Entailer for Lexical {
    fn about(&self) -> About {
        ABOUT
    }

    fn entail(&self, pairs: &[(&str, &str)]) -> Result<Vec<f64>, EntailerError> {
        let mut last: Option<(&str, Premise)> = None;
        let mut found = Vec::with_capacity(pairs.len());
        for (premise, hypothesis) in pairs {
            let read = match last.take() {
                Some((text, read)) if text == *premise => read,
                _ => Premise::read(premise),
            };
            found.push(read.judge(hypothesis).probability);
            last = Some((premise, read));
        }
        Ok(found)
    }
}

impl Lexical {
    /// One pair, with what the number rests on.
    pub fn explain(&self, premise: &str, hypothesis: &str) -> LexicalEvidence {
        Premise::read(premise).judge(hypothesis)
    }
}

/// The words of a premise, as a whole and sentence by sentence.
struct Premise {
    words: HashSet<String>,
    sentences: Vec<Sentence>,
}

struct Sentence {
    words: HashSet<String>,
    negated: bool,
}

impl Premise {
    fn read(text: &str) -> Self {
        let pieces = crate::text::sentence::sentences(text, |_| None);
        let sentences: Vec<Sentence> =
            pieces.into_iter().map(|range| Sentence::read(text.get(range).unwrap_or_default())).collect();
        let words = sentences.iter().flat_map(|sentence| sentence.words.iter().cloned()).collect();
        Self { words, sentences }
    }

    fn judge(&self, hypothesis: &str) -> LexicalEvidence {
        let Sentence { words, negated } = Sentence::read(hypothesis);
        let content = words.len();
        let covered = words.iter().filter(|word| self.words.contains(*word)).count();
        let mut wrong_numbers: Vec<String> =
            words.iter().filter(|word| is_number(word) && !self.words.contains(*word)).cloned().collect();
        wrong_numbers.sort();
        let overlap =
            |sentence: &Sentence| words.iter().filter(|word| sentence.words.contains(*word)).count();
        // The first of several equally good sentences.
        let mut nearest: Option<(usize, bool)> = None;
        for sentence in &self.sentences {
            let shared = overlap(sentence);
            if nearest.is_none_or(|(best, _)| shared > best) {
                nearest = Some((shared, sentence.negated));
            }
        }
        let negation_differs = nearest.is_some_and(|(shared, there)| shared > 0 && there != negated);
        let mut probability = if content == 0 { 0.0 } else { covered as f64 / content as f64 };
        if !wrong_numbers.is_empty() {
            probability *= MISMATCH;
        }
        if negation_differs {
            probability *= MISMATCH;
        }
        LexicalEvidence { content, covered, wrong_numbers, negation_differs, probability }
    }
}

impl Sentence {
    fn read(text: &str) -> Self {
        let text = Normalise::running_text().apply(text);
        let negations = words(&text).filter(|word| is_negation(word)).count();
        let content = words(&text).filter(|word| !is_stop_word(word) && !is_negation(word));
        Self { words: content.map(stem).collect(), negated: negations % 2 == 1 }
    }
}

fn is_number(word: &str) -> bool {
    word.chars().any(char::is_numeric)
}

/// Cuts plurals and common endings of words of at least five letters.
fn stem(word: &str) -> String {
    let long_enough = |stem: &&str| stem.chars().count() >= 3;
    if is_number(word) || !word.is_ascii() || word.len() < 5 {
        return word
            .strip_suffix('s')
            .filter(|s| s.len() >= 3 && !s.ends_with('s') && !is_number(s))
            .unwrap_or(word)
            .to_owned();
    }
    let cut =
        ["ing", "ies", "ed", "es", "s"].iter().find_map(|end| word.strip_suffix(end).filter(long_enough));
    cut.unwrap_or(word).trim_end_matches('e').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(premise: &str, hypothesis: &str, covered: usize, content: usize, probability: f64) {
        let got = Lexical.explain(premise, hypothesis);
        let close = (got.probability - probability).abs() < 1e-12;
        assert!(
            close && (got.covered, got.content) == (covered, content),
            "{premise:?} / {hypothesis:?}: {got:?}"
        );
    }

    #[test]
    fn covered_content_words_count() {
        check("The tower opened in Paris in 1889.", "The tower opened in 1889", 3, 3, 1.0);
        check("The tower is in Paris.", "The tower is in Lyon", 1, 2, 0.5);
        check("Nothing of the kind.", "The tower is tall", 0, 2, 0.0);
    }

    #[test]
    fn a_wrong_number_cuts_the_score() {
        // tower, 330, metres, tall: three of four covered, times 0.2.
        check("The tower is 330 metres tall.", "The tower is 300 metres tall", 3, 4, 0.75 * 0.2);
    }

    #[test]
    fn a_negation_on_one_side_cuts_the_score() {
        check("The tower is not open.", "The tower is open", 2, 2, 0.2);
        check("The tower isn't open.", "The tower is not open", 2, 2, 1.0);
        check("It never rains. The tower is open.", "The tower is open", 2, 2, 1.0);
    }

    #[test]
    fn endings_do_not_matter() {
        check("She was painting houses.", "She painted a house", 2, 2, 1.0);
    }

    #[test]
    fn a_hypothesis_without_content_follows_from_nothing() {
        check("Anything.", "it is the", 0, 0, 0.0);
    }
}
