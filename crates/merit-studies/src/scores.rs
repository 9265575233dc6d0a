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
