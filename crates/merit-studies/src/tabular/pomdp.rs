//! Partly observed finite worlds: the exact belief filter, the terms of the expected free energy, and planning over beliefs.

use super::best;

/// A world model: `P(o | s)`, `P(s' | s, a)`, `P(s_0)`.
#[derive(Debug, Clone, PartialEq)]
pub struct Pomdp {
    /// `likelihood[state][observation]`.
    pub likelihood: Vec<Vec<f64>>,
    /// `moves[action][state]`: next states and their probabilities.
    pub moves: Vec<Vec<Vec<(usize, f64)>>>,
    pub start: Vec<f64>,
}

impl Pomdp {
    /// The belief after an action, before anything is observed.
    pub fn predict(&self, belief: &[f64], action: usize) -> Vec<f64> {
        let mut next = vec![0.0; belief.len()];
        for (state, p) in belief.iter().enumerate().filter(|(_, p)| **p > 0.0) {
            self.moves[action][state].iter().for_each(|&(to, chance)| next[to] += p * chance);
        }
        next
    }

    /// The chance of each observation under a belief.
    pub fn observations(&self, belief: &[f64]) -> Vec<f64> {
        let mut seen = vec![0.0; self.likelihood[0].len()];
        for (row, p) in self.likelihood.iter().zip(belief).filter(|(_, p)| **p > 0.0) {
            seen.iter_mut().zip(row).for_each(|(sum, chance)| *sum += p * chance);
        }
        seen
    }

    /// The belief once `observation` is seen; the belief as it was where that cannot happen.
    pub fn update(&self, belief: &[f64], observation: usize) -> Vec<f64> {
        let mut next: Vec<f64> =
            belief.iter().zip(&self.likelihood).map(|(p, row)| p * row[observation]).collect();
        let sum: f64 = next.iter().sum();
        if sum <= 0.0 {
            return belief.to_vec();
        }
        next.iter_mut().for_each(|p| *p /= sum);
        next
    }

    /// `E_s[H[P(o | s)]]`: how uncertain observations are where the agent expects to be.
    pub fn ambiguity(&self, belief: &[f64]) -> f64 {
        let certain = belief.iter().zip(&self.likelihood).filter(|(p, _)| **p > 0.0);
        certain.map(|(p, row)| p * entropy(row)).sum()
    }

    /// `I(s; o)`: what the next observation is expected to tell about the state.
    pub fn information(&self, belief: &[f64]) -> f64 {
        entropy(&self.observations(belief)) - self.ambiguity(belief)
    }
}

/// `-sum p ln p`.
pub fn entropy(p: &[f64]) -> f64 {
    p.iter().filter(|p| **p > 0.0).map(|p| -p * p.ln()).sum()
}

/// `KL[q || exp(log_c)]`.
pub fn risk(q: &[f64], log_c: &[f64]) -> f64 {
    -entropy(q) - expected(q, log_c)
}

/// `sum q · value`.
pub fn expected(q: &[f64], value: &[f64]) -> f64 {
    q.iter().zip(value).map(|(q, v)| q * v).sum()
}

/// Log-probabilities in proportion to `exp(score)`.
pub fn log_normalised(score: &[f64]) -> Vec<f64> {
    let top = best(score);
    let sum: f64 = score.iter().map(|s| (s - top).exp()).sum();
    score.iter().map(|s| s - top - sum.ln()).collect()
}

/// How a plan looks ahead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lookahead {
    /// `G(a | Q) = g(a) + E_o[min_b G(b | Q after o)]`: later actions answer to what will be observed.
    Recursive,
    /// The best fixed sequence of actions: `g` summed along predicted beliefs.
    OpenLoop,
}

/// The cost of each action from `belief` over `horizon` moves, where `cost` judges a predicted belief.
pub fn plan(
    model: &Pomdp,
    belief: &[f64],
    horizon: usize,
    lookahead: Lookahead,
    cost: &dyn Fn(&[f64]) -> f64,
) -> Vec<f64> {
    let of = |action: usize| {
        let ahead = model.predict(belief, action);
        let now = cost(&ahead);
        if horizon <= 1 {
            return now;
        }
        let least = |belief: &[f64]| {
            plan(model, belief, horizon - 1, lookahead, cost).into_iter().fold(f64::INFINITY, f64::min)
        };
        match lookahead {
            Lookahead::OpenLoop => now + least(&ahead),
            Lookahead::Recursive => {
                let seen = model.observations(&ahead);
                let after = seen.iter().enumerate().filter(|(_, p)| **p > 1e-15);
                now + after.map(|(o, p)| p * least(&model.update(&ahead, o))).sum::<f64>()
            }
        }
    };
    (0..model.moves.len()).map(of).collect()
}

/// Dirichlet counts of one distribution: what one more observation is expected to tell about it,
/// `I(o; theta) = H[mean] − E[H[theta]]`, with `E[H[theta]] = −sum p_o (psi(a_o + 1) − psi(sum a + 1))`.
pub fn novelty(counts: &[f64]) -> f64 {
    let sum: f64 = counts.iter().sum();
    let p: Vec<f64> = counts.iter().map(|a| a / sum).collect();
    let within: f64 = p.iter().zip(counts).map(|(p, a)| p * (digamma(a + 1.0) - digamma(sum + 1.0))).sum();
    entropy(&p) + within
}

/// The logarithmic derivative of the gamma function, for positive arguments.
pub fn digamma(mut x: f64) -> f64 {
    let mut shift = 0.0;
    while x < 10.0 {
        shift -= 1.0 / x;
        x += 1.0;
    }
    let inverse = 1.0 / (x * x);
    let series = inverse * (1.0 / 12.0 - inverse * (1.0 / 120.0 - inverse * (1.0 / 252.0 - inverse / 240.0)));
    shift + x.ln() - 0.5 / x - series
}
