//! Units in common, counted as often as they occur on both sides: the core of F1, ROUGE-N and BLEU.

use super::TextEvidence;

/// How many units two sorted lists share, as multisets.
pub(crate) fn common<T: Ord>(a: &[T], b: &[T]) -> usize {
    let (mut i, mut j, mut shared) = (0, 0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        match x.cmp(y) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => {
                shared += 1;
                i += 1;
                j += 1;
            }
        }
    }
    shared
}

/// Precision, recall and their harmonic mean.
pub(crate) fn evidence(common: usize, response: usize, reference: usize) -> TextEvidence {
    let share = |of: usize| if of == 0 { 0.0 } else { common as f64 / of as f64 };
    let (precision, recall) = (share(response), share(reference));
    let f = if common == 0 { 0.0 } else { 2.0 * precision * recall / (precision + recall) };
    TextEvidence::Overlap { common, response, reference, precision, recall, f }
}

/// The n-grams of `tokens`, sorted.
pub(crate) fn sorted_ngrams<'a, 'b>(tokens: &'b [&'a str], n: usize) -> Vec<&'b [&'a str]> {
    let mut ngrams: Vec<_> = tokens.windows(n.max(1)).collect();
    ngrams.sort_unstable();
    ngrams
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_count_as_often_as_on_both_sides() {
        assert_eq!(common(&["a", "a", "b"], &["a", "a", "a", "c"]), 2);
        assert_eq!(common::<&str>(&[], &["a"]), 0);
    }

    #[test]
    fn ngrams_are_windows() {
        assert_eq!(sorted_ngrams(&["b", "a", "c"], 2), [&["a", "c"][..], &["b", "a"][..]]);
        assert!(sorted_ngrams(&["a"], 2).is_empty());
    }
}
