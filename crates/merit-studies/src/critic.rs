//! A critic whose scores follow the truth only so far, and what is made of its scores: pairs, kept rollouts, hard tasks.
//!
//! In: true values. Out: what the critic says, and the choices that rest on it. Pure; randomness comes in as a stream.

use merit_core::Stream;
use merit_core::stats::sd;

/// What a critic says of each: the truth with normal noise, as much of it as leaves the given correlation with the truth. Of values that
/// are all alike, the truth.
pub fn noisy(truths: &[f64], correlation: f64, stream: &mut Stream) -> Vec<f64> {
    let rho = correlation.clamp(1e-6, 1.0);
    let noise = sd(truths).unwrap_or(0.0) * (1.0 / (rho * rho) - 1.0).sqrt();
    truths.iter().map(|truth| truth + noise * stream.normal()).collect()
}

/// The places of the best and of the worst score, the first of equal ones. Absent where all are alike: there is nothing to prefer.
pub fn best_and_worst(scores: &[f64]) -> Option<(usize, usize)> {
    let first = |better: fn(f64, f64) -> bool| {
        (1..scores.len()).fold(0, |at, i| if better(scores[i], scores[at]) { i } else { at })
    };
    let (best, worst) = (first(|a, b| a > b), first(|a, b| a < b));
    (best != worst).then_some((best, worst))
}

pub fn group_means(scores: &[f64], group: usize) -> Vec<f64> {
    scores.chunks(group.max(1)).map(crate::tabular::mean).collect()
}
