//! Exact tools for small finite problems: Markov decision processes, beliefs, linear systems and programs, and the tables that
//! learn in them.

pub mod bilevel;
pub mod design;
pub mod linear;
pub mod lp;
pub mod mdp;
pub mod pomdp;
pub mod q_table;
pub mod softmax_policy;

pub use mdp::Mdp;
pub use pomdp::Pomdp;
pub use q_table::QTable;
pub use softmax_policy::SoftmaxPolicy;

use merit_core::Stream;

/// An index drawn by its weight. The weights need not sum to 1; without any weight the last index is drawn.
pub fn draw(weights: &[f64], stream: &mut Stream) -> usize {
    let mut left = stream.unit() * weights.iter().sum::<f64>();
    for (i, weight) in weights.iter().enumerate() {
        left -= weight;
        if left < 0.0 {
            return i;
        }
    }
    weights.len().saturating_sub(1)
}

/// The index of the largest value; one of those within `slack` of it, uniformly.
pub fn argmax(values: &[f64], slack: f64, stream: &mut Stream) -> usize {
    let best = best(values);
    let near = values.iter().filter(|v| **v >= best - slack).count() as u64;
    let mut skip = if near > 1 { stream.below(near) } else { 0 };
    for (i, value) in values.iter().enumerate() {
        if *value >= best - slack {
            if skip == 0 {
                return i;
            }
            skip -= 1;
        }
    }
    0
}

/// The largest value.
pub fn best(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

/// `exp(v) / sum exp(v)`, without overflow.
pub fn softmax(logits: &[f64]) -> Vec<f64> {
    let top = best(logits);
    let mut out: Vec<f64> = logits.iter().map(|v| (v - top).exp()).collect();
    let sum: f64 = out.iter().sum();
    out.iter_mut().for_each(|v| *v /= sum);
    out
}

/// Mean of the values; 0 of none.
pub fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}
