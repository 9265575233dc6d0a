//! How good numbers are as predictions: ranking and calibration of chances, correlation of two series.
//!
//! Pairs are a prediction and whether it came true. Pure; nothing here knows what was predicted.

/// The chance that a case that came true was given more than one that did not, ties half; 0.5 without both kinds.
pub fn auroc(pairs: &[(f64, bool)]) -> f64 {
    merit_core::stats::auroc(pairs).unwrap_or(0.5)
}

/// The Brier score: the mean of `(p − y)²`; 0 of none.
pub fn brier(pairs: &[(f64, bool)]) -> f64 {
    let error = |(p, hit): &(f64, bool)| (p - f64::from(*hit)).powi(2);
    pairs.iter().map(error).sum::<f64>() / pairs.len().max(1) as f64
}

/// Expected calibration error over `bins` bins of equal width: the mean distance of what a bin was given from what came true in
/// it, by how many fell into it; 0 of none.
pub fn ece(pairs: &[(f64, bool)], bins: usize) -> f64 {
    let bins = bins.max(1);
    let mut sums = vec![(0.0, 0.0); bins];
    for (p, hit) in pairs {
        let bin = &mut sums[((p * bins as f64) as usize).min(bins - 1)];
        bin.0 += p;
        bin.1 += f64::from(*hit);
    }
    sums.iter().map(|(given, came)| (given - came).abs()).sum::<f64>() / pairs.len().max(1) as f64
}

/// Pearson's correlation of the pairs `(a[i], b[i])`; 0 where either side is constant, or of fewer than two.
pub fn pearson(a: &[f64], b: &[f64]) -> f64 {
    let n = a.len().min(b.len());
    merit_core::stats::correlation(&a[..n], &b[..n]).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, by_hand: f64) {
        assert!((found - by_hand).abs() < 1e-12, "{found} instead of {by_hand}");
    }

    #[test]
    fn auroc_shares_ties_and_ignores_the_order_of_the_pairs() {
        // Hits 0.9 and 0.5 against the misses 0.5 and 0.1: 0.9 wins twice, 0.5 ties once and wins once: 3.5 of 4.
        near(auroc(&[(0.1, false), (0.5, true), (0.9, true), (0.5, false)]), 0.875);
        near(auroc(&[(0.3, true), (0.3, false), (0.3, false)]), 0.5);
        near(auroc(&[(0.2, true), (0.8, false)]), 0.0);
        near(auroc(&[(0.2, true), (0.8, true)]), 0.5);
    }

    #[test]
    fn brier_and_ece_by_hand() {
        let pairs = [(0.8, true), (0.6, false), (0.1, false), (0.3, true)];
        // (0.04 + 0.36 + 0.01 + 0.49) / 4
        near(brier(&pairs), 0.225);
        // Two bins: below 0.5 given 0.4, came 1; above given 1.4, came 1: (0.6 + 0.4) / 4.
        near(ece(&pairs, 2), 0.25);
        // In one bin the errors cancel: given 1.8, came 2.
        near(ece(&pairs, 1), 0.05);
        // A chance of 1 falls into the last bin.
        near(ece(&[(1.0, true)], 10), 0.0);
        assert_eq!((brier(&[]), ece(&[], 10)), (0.0, 0.0));
    }

    #[test]
    fn correlations_by_hand() {
        // Deviations (−1, 0, 1) with (−1, 2, −1): 0; with (−4/3, −1/3, 5/3): 3 over sqrt(2 · 42/9).
        near(pearson(&[1.0, 2.0, 3.0], &[1.0, 4.0, 1.0]), 0.0);
        near(pearson(&[1.0, 2.0, 3.0], &[1.0, 2.0, 4.0]), 3.0 / (28.0_f64 / 3.0).sqrt());
        near(pearson(&[1.0, 2.0, 3.0], &[0.1, 0.1, 0.1]), 0.0);
    }
}
