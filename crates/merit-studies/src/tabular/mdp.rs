//! A finite Markov decision process and its exact values. Rewards are a table of their own, so that one world can be paid in
//! several ways.

use super::{best, linear};
use merit_core::Stream;

/// Value iteration ends when no value moves by more.
const TOLERANCE: f64 = 1e-12;

/// States, actions and where they lead. Tables over state and action are row-major: `state * actions + action`.
#[derive(Debug, Clone, PartialEq)]
pub struct Mdp {
    pub states: usize,
    pub actions: usize,
    /// For each state and action the next states and their probabilities.
    pub outcomes: Vec<Vec<(usize, f64)>>,
    /// Episodes end on arriving here; the value is 0.
    pub terminal: Vec<bool>,
    pub gamma: f64,
}

/// Optimal values under some rewards.
#[derive(Debug, Clone, PartialEq)]
pub struct Solution {
    pub values: Vec<f64>,
    /// By state and action.
    pub q: Vec<f64>,
}

impl Mdp {
    /// A world in which every action leads to one state.
    pub fn sure(states: usize, actions: usize, gamma: f64, to: impl Fn(usize, usize) -> usize) -> Self {
        let outcomes = (0..states * actions).map(|i| vec![(to(i / actions, i % actions), 1.0)]).collect();
        Self { states, actions, outcomes, terminal: vec![false; states], gamma }
    }

    /// Expected rewards by state and action of `reward(state, action, next)`; 0 in terminal states.
    pub fn rewards(&self, reward: impl Fn(usize, usize, usize) -> f64) -> Vec<f64> {
        let of = |i: usize| {
            let (s, a) = (i / self.actions, i % self.actions);
            let ways = self.outcomes[i].iter().map(|&(next, p)| p * reward(s, a, next));
            if self.terminal[s] { 0.0 } else { ways.sum() }
        };
        (0..self.outcomes.len()).map(of).collect()
    }

    /// Where `action` leads this time.
    pub fn step(&self, state: usize, action: usize, stream: &mut Stream) -> usize {
        let ways = &self.outcomes[state * self.actions + action];
        if let [(only, _)] = ways.as_slice() {
            return *only;
        }
        let mut left = stream.unit();
        for &(next, p) in ways {
            left -= p;
            if left < 0.0 {
                return next;
            }
        }
        ways.last().map_or(state, |way| way.0)
    }

    /// `r(s, a) + gamma · E[V(s')]`.
    pub fn backup(&self, rewards: &[f64], values: &[f64]) -> Vec<f64> {
        let ahead = |i: usize| self.outcomes[i].iter().map(|&(next, p)| p * values[next]).sum::<f64>();
        let q = |i: usize| {
            if self.terminal[i / self.actions] { 0.0 } else { rewards[i] + self.gamma * ahead(i) }
        };
        (0..self.outcomes.len()).map(q).collect()
    }

    /// Optimal values by value iteration.
    pub fn solve(&self, rewards: &[f64]) -> Solution {
        let mut values = vec![0.0; self.states];
        loop {
            let q = self.backup(rewards, &values);
            let next: Vec<f64> = q.chunks(self.actions).map(best).collect();
            let moved = next.iter().zip(&values).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            values = next;
            if moved <= TOLERANCE {
                let q = self.backup(rewards, &values);
                return Solution { values, q };
            }
        }
    }

    /// The chance of each next state under a policy (probabilities by state and action), row-major; 0 out of terminal states.
    pub fn chain(&self, policy: &[f64]) -> Vec<f64> {
        let mut chain = vec![0.0; self.states * self.states];
        for (i, ways) in self.outcomes.iter().enumerate() {
            let state = i / self.actions;
            if !self.terminal[state] {
                ways.iter().for_each(|&(next, p)| chain[state * self.states + next] += policy[i] * p);
            }
        }
        chain
    }

    /// The exact values of a policy: `(I − gamma P) V = r`. `None` where the policy never ends undiscounted.
    pub fn evaluate(&self, policy: &[f64], rewards: &[f64]) -> Option<Vec<f64>> {
        let pay = |s: usize| {
            let row = s * self.actions..(s + 1) * self.actions;
            row.map(|i| policy[i] * rewards[i]).sum::<f64>()
        };
        let paid: Vec<f64> = (0..self.states).map(|s| if self.terminal[s] { 0.0 } else { pay(s) }).collect();
        linear::solve(&self.resolvent(policy, false), &paid)
    }

    /// Discounted visits of each state from `start`, terminal ones included: `(I − gamma Pᵀ) mu = start`.
    pub fn visits(&self, policy: &[f64], start: &[f64]) -> Option<Vec<f64>> {
        linear::solve(&self.resolvent(policy, true), start)
    }

    /// `I − gamma P`, or its transpose.
    fn resolvent(&self, policy: &[f64], transpose: bool) -> Vec<f64> {
        let n = self.states;
        let chain = self.chain(policy);
        let at = |row: usize, col: usize| if transpose { chain[col * n + row] } else { chain[row * n + col] };
        let entry = |i: usize| f64::from(i / n == i % n) - self.gamma * at(i / n, i % n);
        (0..n * n).map(entry).collect()
    }
}

impl Solution {
    /// The actions of `state` within `slack` of the best.
    pub fn greedy(&self, state: usize, slack: f64) -> Vec<usize> {
        let actions = self.q.len() / self.values.len();
        let row = &self.q[state * actions..(state + 1) * actions];
        let top = best(row);
        (0..actions).filter(|&a| row[a] >= top - slack).collect()
    }

    /// The policy that spreads evenly over the best actions.
    pub fn policy(&self, slack: f64) -> Vec<f64> {
        let actions = self.q.len() / self.values.len();
        let mut policy = vec![0.0; self.q.len()];
        for state in 0..self.values.len() {
            let good = self.greedy(state, slack);
            good.iter().for_each(|a| policy[state * actions + a] = 1.0 / good.len() as f64);
        }
        policy
    }
}
