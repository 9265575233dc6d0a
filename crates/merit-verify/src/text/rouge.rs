//! ROUGE (Lin, 2004): recall-oriented overlap of words, pairs of words, or the longest common subsequence.

use super::lcs::lcs_length;
use super::overlap::{common, evidence, sorted_ngrams};
use super::{RougeReport, RougeVariant, TextEvidence};

/// Measures against one reference. Absent: it would take too much work.
pub(crate) fn rouge(variant: RougeVariant, response: &[&str], reference: &[&str]) -> Option<TextEvidence> {
    let n = match variant {
        RougeVariant::One => 1,
        RougeVariant::Two => 2,
        RougeVariant::L => {
            return Some(evidence(lcs_length(response, reference)?, response.len(), reference.len()));
        }
    };
    let (ours, theirs) = (sorted_ngrams(response, n), sorted_ngrams(reference, n));
    Some(evidence(common(&ours, &theirs), ours.len(), theirs.len()))
}

/// The number that is the score.
pub(crate) fn score(report: RougeReport, evidence: &TextEvidence) -> f64 {
    match (report, evidence) {
        (RougeReport::Precision, TextEvidence::Overlap { precision, .. }) => *precision,
        (RougeReport::Recall, TextEvidence::Overlap { recall, .. }) => *recall,
        (RougeReport::F, TextEvidence::Overlap { f, .. }) => *f,
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(variant: RougeVariant, response: &str, reference: &str, want: (usize, usize, usize)) {
        let (a, b): (Vec<_>, Vec<_>) = (response.split(' ').collect(), reference.split(' ').collect());
        let Some(TextEvidence::Overlap { common, response, reference, .. }) = rouge(variant, &a, &b) else {
            panic!("no overlap");
        };
        assert_eq!((common, response, reference), want);
    }

    #[test]
    fn lins_example_of_police_and_gunman() {
        // "police kill the gunman" against "police killed the gunman": words police, the, gunman; pairs (the gunman).
        check(RougeVariant::One, "police kill the gunman", "police killed the gunman", (3, 4, 4));
        check(RougeVariant::Two, "police kill the gunman", "police killed the gunman", (1, 3, 3));
        check(RougeVariant::L, "police kill the gunman", "police killed the gunman", (3, 4, 4));
        // "the gunman kill police" keeps only "the gunman" in order.
        check(RougeVariant::L, "the gunman kill police", "police killed the gunman", (2, 4, 4));
    }

    #[test]
    fn one_word_has_no_pairs() {
        check(RougeVariant::Two, "a", "a", (0, 0, 0));
    }
}
