//! A bandit over a few variants of a prompt: UCB1 (Auer et al. 2002) on what a gate says of the outcome.

use crate::tabular::argmax;
use merit_core::Stream;

/// How often every variant was tried, and what it earned.
#[derive(Debug, Clone, PartialEq)]
pub struct Bandit {
    tried: Vec<f64>,
    earned: Vec<f64>,
}

impl Bandit {
    pub fn new(variants: usize) -> Self {
        Self { tried: vec![0.0; variants], earned: vec![0.0; variants] }
    }

    /// The variant to try: each once, then the largest `mean + √(2 ln n / n_i)`, ties by lot. Two bandits that learn from one word
    /// would move in step if the first of equal ones won.
    pub fn choose(&self, stream: &mut Stream) -> usize {
        let all: f64 = self.tried.iter().sum();
        let bound = |at: usize| {
            if self.tried[at] == 0.0 {
                return f64::INFINITY;
            }
            self.earned[at] / self.tried[at] + (2.0 * all.ln() / self.tried[at]).sqrt()
        };
        argmax(&(0..self.tried.len()).map(bound).collect::<Vec<_>>(), 0.0, stream)
    }

    /// What a variant earned, 0 to 1.
    pub fn learn(&mut self, variant: usize, earned: f64) {
        self.tried[variant] += 1.0;
        self.earned[variant] += earned;
    }

    /// The variant that was tried most.
    pub fn favourite(&self) -> usize {
        (1..self.tried.len()).fold(0, |best, at| if self.tried[at] > self.tried[best] { at } else { best })
    }
}
