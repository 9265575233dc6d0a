//! How much of a text repeats itself: the share of word n-grams that occurred before.

use super::TextEvidence;
use super::overlap::sorted_ngrams;

/// One minus the share of repeats. A text with fewer than `n` words has no n-gram to repeat and scores 1.
pub(crate) fn repetition(words: &[&str], n: usize) -> (f64, TextEvidence) {
    let mut ngrams = sorted_ngrams(words, n);
    let total = ngrams.len();
    ngrams.dedup();
    let repeats = total - ngrams.len();
    let score = if total == 0 { 1.0 } else { 1.0 - repeats as f64 / total as f64 };
    (score, TextEvidence::Repetition { ngrams: total, repeats })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, n: usize, ngrams: usize, repeats: usize) {
        let words: Vec<&str> = text.split(' ').collect();
        assert_eq!(repetition(&words, n).1, TextEvidence::Repetition { ngrams, repeats }, "{text:?}");
    }

    #[test]
    fn what_occurred_before_is_a_repeat() {
        check("a b a b a b", 2, 5, 3); // ab ba ab ba ab
        check("a a a a", 1, 4, 3);
        check("a b c d", 2, 3, 0);
        check("a", 3, 0, 0);
    }
}
