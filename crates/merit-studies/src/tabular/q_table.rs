//! One-step Q-learning on a table.

use super::{argmax, best};
use merit_core::Stream;

/// Action values of every state, all 0 at first.
#[derive(Debug, Clone, PartialEq)]
pub struct QTable {
    pub actions: usize,
    /// By state and action, row-major.
    pub q: Vec<f64>,
}

/// What one step of the world showed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transition {
    pub state: usize,
    pub action: usize,
    pub reward: f64,
    pub next: usize,
    /// The episode ended for good in `next`: nothing is bootstrapped. False at a time limit.
    pub terminated: bool,
}

impl QTable {
    pub fn new(states: usize, actions: usize) -> Self {
        Self { actions, q: vec![0.0; states * actions] }
    }

    pub fn row(&self, state: usize) -> &[f64] {
        &self.q[state * self.actions..(state + 1) * self.actions]
    }

    /// The best action; ties are broken at random.
    pub fn greedy(&self, state: usize, stream: &mut Stream) -> usize {
        argmax(self.row(state), 0.0, stream)
    }

    /// A random action with chance `epsilon`, else the best.
    pub fn act(&self, state: usize, epsilon: f64, stream: &mut Stream) -> usize {
        if stream.chance(epsilon) {
            return stream.below(self.actions as u64) as usize;
        }
        self.greedy(state, stream)
    }

    /// `Q(s, a) += rate · (r + gamma · max Q(s', ·) − Q(s, a))`.
    pub fn update(&mut self, step: Transition, rate: f64, gamma: f64) {
        let ahead = if step.terminated { 0.0 } else { best(self.row(step.next)) };
        let q = &mut self.q[step.state * self.actions + step.action];
        *q += rate * (step.reward + gamma * ahead - *q);
    }
}
