//! Length-aware BLEU of short answers: the n-gram order follows the lengths, so that one- and two-word answers can score.
//!
//!   N = min(4, |ref|, |hyp|),  q = BP * exp((1/N) * sum_{n<=N} ln p_n),  BP = exp(1 - |ref|/|hyp|) if |hyp| < |ref| else 1
//!
//! with p_n the clipped precision of n-grams, as in progressive reward shaping. Any p_n of 0 makes q 0: there is no
//! smoothing. Padding is punished by precision, brevity by BP.

use super::TextEvidence;
use super::overlap::{common, sorted_ngrams};

/// The score against one reference.
pub(crate) fn bleu(response: &[&str], reference: &[&str]) -> (f64, TextEvidence) {
    let order = 4.min(response.len()).min(reference.len());
    let mut precisions = [0.0; 4];
    for (n, precision) in (1..=order).zip(&mut precisions) {
        let ours = sorted_ngrams(response, n);
        *precision = common(&ours, &sorted_ngrams(reference, n)) as f64 / ours.len() as f64;
    }
    let brevity = match response.len() {
        0 => 0.0,
        n if n < reference.len() => (1.0 - reference.len() as f64 / n as f64).exp(),
        _ => 1.0,
    };
    let counted = precisions.get(..order).unwrap_or_default();
    let score = if order == 0 || counted.contains(&0.0) {
        0.0
    } else {
        brevity * (counted.iter().map(|p| p.ln()).sum::<f64>() / order as f64).exp()
    };
    let evidence = TextEvidence::Bleu {
        order,
        precisions,
        brevity,
        response: response.len(),
        reference: reference.len(),
    };
    (score.min(1.0), evidence)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(response: &str, reference: &str, want: f64) {
        let (a, b): (Vec<_>, Vec<_>) = (response.split(' ').collect(), reference.split(' ').collect());
        let (score, _) = bleu(&a, &b);
        assert!((score - want).abs() < 1e-12, "{response:?} against {reference:?}: {score}, not {want}");
    }

    #[test]
    fn one_and_two_word_answers_score_in_full() {
        check("paris", "paris", 1.0);
        check("new york", "new york", 1.0);
        check("london", "paris", 0.0);
    }

    #[test]
    fn brevity_is_punished() {
        // N = min(4, 2, 1) = 1, p_1 = 1, BP = exp(1 - 2/1) = exp(-1).
        check("york", "new york", (-1.0_f64).exp());
    }

    #[test]
    fn padding_is_punished_by_precision() {
        // N = min(4, 2, 4) = 2, p_1 = 2/4, p_2 = 1/3, BP = 1: sqrt(1/6).
        check("in new york city", "new york", (1.0_f64 / 6.0).sqrt());
    }

    #[test]
    fn counts_are_clipped() {
        // N = min(4, 2, 3) = 2, p_1 = 1/3 after clipping, p_2 = 0.
        check("the the the", "the cat", 0.0);
        // N = 1: p_1 = 1/3.
        check("paris paris paris", "paris", 1.0 / 3.0);
    }

    #[test]
    fn all_four_orders_count() {
        // N = 4: p_1 = 4/5, p_2 = 3/4, p_3 = 2/3, p_4 = 1/2, BP = 1: their product is 1/5, so q = (1/5)^(1/4).
        check("a b c d x", "a b c d e", 0.2_f64.powf(0.25));
    }
}
