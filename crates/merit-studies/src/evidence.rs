//! Which pieces of evidence a reader is given: evenly spaced, most relevant, or relevant and rich.
//!
//! In: the relevance and the entropy of every piece. Out: places of at most `keep` pieces, in order. Pure; knows nothing of what the
//! pieces are.

/// The first threshold on the score of a piece, and by what it grows from round to round.
const THRESHOLD: f64 = 0.03;
const GROWTH: f64 = 1.01;
const ROUNDS: i32 = 10;

/// What scores are normalised over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Over {
    /// The pieces that are still there: as published.
    Current,
    /// All pieces: the error that this is easily mistaken for. Nothing changes after the first round.
    All,
}

/// `keep` of `many` places, evenly spaced.
pub fn uniform(many: usize, keep: usize) -> Vec<usize> {
    let keep = keep.min(many);
    (0..keep).map(|i| (2 * i + 1) * many / (2 * keep)).collect()
}

/// The places of the `keep` largest values; of equal ones the earlier.
pub fn largest(values: &[f64], keep: usize) -> Vec<usize> {
    let mut places: Vec<usize> = (0..values.len()).collect();
    places.sort_by(|a, b| values[*b].total_cmp(&values[*a]));
    places.truncate(keep);
    places.sort_unstable();
    places
}

/// Rounds of ECRS: the score of a piece is the product of its relevance and its entropy, each scaled to 0..1, scaled again; what is at most
/// `0.03 · 1.01^m` at round `m` goes; it ends when nothing or everything would stay. The best `keep` of what is left by that score; where
/// fewer are left, the best of all pieces by the plain product are added.
pub fn ecrs(relevance: &[f64], entropy: &[f64], keep: usize, over: Over) -> Vec<usize> {
    let plain: Vec<f64> = relevance.iter().zip(entropy).map(|(s, h)| s * h).collect();
    let of = |set: &[usize]| {
        let take = |values: &[f64]| scaled(&set.iter().map(|i| values[*i]).collect::<Vec<_>>());
        let products = take(relevance).iter().zip(take(entropy)).map(|(s, h)| s * h).collect::<Vec<_>>();
        scaled(&products)
    };
    let mut current: Vec<usize> = (0..plain.len()).collect();
    let mut scores = of(&current);
    for round in 0..ROUNDS {
        let least = THRESHOLD * GROWTH.powi(round);
        let stays: Vec<bool> = scores.iter().map(|score| *score > least).collect();
        let left = stays.iter().filter(|stays| **stays).count();
        if left == 0 || left == current.len() {
            break;
        }
        let only = |at: &usize| stays[*at];
        scores = (0..current.len()).filter(only).map(|at| scores[at]).collect();
        current = (0..current.len()).filter(only).map(|at| current[at]).collect();
        if over == Over::Current {
            scores = of(&current);
        }
    }
    let mut found: Vec<usize> = largest(&scores, keep).into_iter().map(|at| current[at]).collect();
    let others: Vec<usize> = (0..plain.len()).filter(|i| !found.contains(i)).collect();
    let products: Vec<f64> = others.iter().map(|i| plain[*i]).collect();
    let lacking = keep.saturating_sub(found.len());
    found.extend(largest(&products, lacking).into_iter().map(|at| others[at]));
    found.sort_unstable();
    found
}

/// Scaled to 0..1; all 0 where they are equal.
pub fn scaled(values: &[f64]) -> Vec<f64> {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let width = values.iter().copied().fold(f64::NEG_INFINITY, f64::max) - low;
    values.iter().map(|v| if width > 0.0 { (v - low) / width } else { 0.0 }).collect()
}
