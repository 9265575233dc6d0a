//! Exact values by value iteration.
//!
//!   Q(s, a) = Σ_s' p(s' | s, a) · (r + γ V(s')),   V(s) = max_a Q(s, a),   V = 0 at terminal states
//!
//! Each sweep shrinks the error by γ, so the number of sweeps that brings it below [`TOLERANCE`] is known beforehand; what is
//! left is rounding.

use super::policies::{Policy, check_policy};
use super::{TabularError, TabularWorld};
use serde::Serialize;

/// The error that remains in a value, relative to the largest possible one.
pub(crate) const TOLERANCE: f64 = 1e-12;

/// The values of a world.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Solution {
    /// The value of each state; 0 at terminal states.
    pub values: Vec<f64>,
    /// `q[state][action]`; absent where the action cannot be done.
    pub q: Vec<Vec<Option<f64>>>,
}

impl Solution {
    /// The actions of `state` within `slack` of the best.
    pub(crate) fn greedy(&self, state: usize, slack: f64) -> Vec<usize> {
        let row = self.q.get(state).into_iter().flatten();
        let best =
            self.q.get(state).into_iter().flatten().flatten().copied().fold(f64::NEG_INFINITY, f64::max);
        let near = |(action, q): (usize, &Option<f64>)| q.filter(|q| *q >= best - slack).map(|_| action);
        row.enumerate().filter_map(near).collect()
    }
}

/// The optimal values.
pub(crate) fn solve(world: &TabularWorld) -> Result<Solution, TabularError> {
    world.validate()?;
    let best = |row: &[Option<f64>]| row.iter().flatten().copied().reduce(f64::max).unwrap_or(0.0);
    Ok(iterate(world, |_, row| best(row)))
}

/// The values of a policy.
pub(crate) fn evaluate_policy(world: &TabularWorld, policy: &Policy) -> Result<Solution, TabularError> {
    world.validate()?;
    check_policy(world, policy)?;
    let expected = |state: usize, row: &[Option<f64>]| {
        policy.0[state].iter().zip(row).filter_map(|(p, q)| Some(p * (*q)?)).sum()
    };
    Ok(iterate(world, expected))
}

fn iterate(world: &TabularWorld, value: impl Fn(usize, &[Option<f64>]) -> f64) -> Solution {
    let mut values = vec![0.0; world.states.len()];
    for _ in 0..sweeps(world.gamma) {
        let next: Vec<f64> =
            (0..values.len()).map(|state| value(state, &lookahead(world, state, &values))).collect();
        let settled = next == values;
        values = next;
        if settled {
            break;
        }
    }
    let q = (0..values.len()).map(|state| lookahead(world, state, &values)).collect();
    Solution { values, q }
}

/// γ^n ≤ tolerance; the error at the start is at most the largest possible value.
fn sweeps(gamma: f64) -> usize {
    if gamma == 0.0 { 2 } else { (TOLERANCE.ln() / gamma.ln()).ceil() as usize + 2 }
}

fn lookahead(world: &TabularWorld, state: usize, values: &[f64]) -> Vec<Option<f64>> {
    let q = |arrows: &Vec<super::Arrow>| {
        let ways =
            arrows.iter().map(|arrow| arrow.probability * (arrow.reward + world.gamma * values[arrow.to]));
        (!arrows.is_empty()).then(|| ways.sum())
    };
    world.transitions[state].iter().map(q).collect()
}
