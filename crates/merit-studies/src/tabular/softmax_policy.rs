//! A softmax policy on a table, and the direction in which returns push it.

use super::{draw, softmax};
use merit_core::Stream;

/// Preferences of every state and action, all 0 at first.
#[derive(Debug, Clone, PartialEq)]
pub struct SoftmaxPolicy {
    pub actions: usize,
    /// By state and action, row-major.
    pub theta: Vec<f64>,
}

impl SoftmaxPolicy {
    pub fn new(states: usize, actions: usize) -> Self {
        Self { actions, theta: vec![0.0; states * actions] }
    }

    /// The probabilities of the actions of `state`.
    pub fn row(&self, state: usize) -> Vec<f64> {
        softmax(&self.theta[state * self.actions..(state + 1) * self.actions])
    }

    /// The whole table of probabilities.
    pub fn table(&self) -> Vec<f64> {
        self.theta.chunks(self.actions).flat_map(softmax).collect()
    }

    pub fn act(&self, state: usize, stream: &mut Stream) -> usize {
        draw(&self.row(state), stream)
    }

    /// Adds `weight · grad log pi(action | state)` to `gradient`.
    pub fn push(&self, gradient: &mut [f64], state: usize, action: usize, weight: f64) {
        let row = state * self.actions;
        gradient[row + action] += weight;
        self.row(state).iter().enumerate().for_each(|(a, p)| gradient[row + a] -= weight * p);
    }

    /// `theta += rate · gradient`.
    pub fn climb(&mut self, gradient: &[f64], rate: f64) {
        self.theta.iter_mut().zip(gradient).for_each(|(theta, g)| *theta += rate * g);
    }
}
