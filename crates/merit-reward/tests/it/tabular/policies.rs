//! Policies of a tabular world, and all the deterministic ones.

use super::{TabularError, TabularWorld};
use serde::{Deserialize, Serialize};

/// How many policies are gone through at most.
const LIMIT: usize = 1_000_000;

/// `policy[state][action]`: how likely each action is. Rows of terminal states are not looked at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Policy(pub Vec<Vec<f64>>);

impl Policy {
    /// One action for each state, for sure.
    pub(crate) fn deterministic(world: &TabularWorld, choices: &[usize]) -> Self {
        let row =
            |&choice: &usize| (0..world.actions.len()).map(|a| f64::from(u8::from(a == choice))).collect();
        Self(choices.iter().map(row).collect())
    }

    /// The action of a state, where one is certain.
    pub(crate) fn certain(&self, state: usize) -> Option<usize> {
        self.0.get(state)?.iter().position(|&p| p == 1.0)
    }
}

pub(crate) fn check_policy(world: &TabularWorld, policy: &Policy) -> Result<(), TabularError> {
    let (got, want) = (policy.0.len(), world.states.len());
    if got != want {
        return Err(TabularError::Rows { table: "policy", of: String::new(), got, want });
    }
    for state in (0..want).filter(|&state| !world.terminal[state]) {
        let row = &policy.0[state];
        let possible = |(action, p): (usize, &f64)| {
            let able = !world.transitions[state].get(action).is_none_or(Vec::is_empty);
            *p == 0.0 || (able && (0.0..=1.0).contains(p))
        };
        let sound = row.len() == world.actions.len() && row.iter().enumerate().all(possible);
        if !sound || (row.iter().sum::<f64>() - 1.0).abs() > 1e-12 {
            return Err(TabularError::Policy { state: world.states[state].clone() });
        }
    }
    Ok(())
}

/// Every deterministic policy, up to a million, in the order of counting: the last state's choice moves first.
pub(crate) fn deterministic_policies(world: &TabularWorld) -> Result<Vec<Policy>, TabularError> {
    world.validate()?;
    // A terminal state has nothing to choose; its row is arbitrary.
    let choices: Vec<Vec<usize>> = (0..world.states.len())
        .map(|state| if world.terminal[state] { vec![0] } else { world.available(state) })
        .collect();
    let count = choices.iter().try_fold(1_usize, |count, c| count.checked_mul(c.len()));
    if count.is_none_or(|count| count > LIMIT) {
        let count = count.map_or_else(|| "very many".to_owned(), |count| count.to_string());
        return Err(TabularError::TooManyPolicies { count, limit: LIMIT });
    }
    let mut all = vec![Vec::new()];
    for options in &choices {
        let extend = |chosen: Vec<usize>| options.iter().map(move |&o| [chosen.as_slice(), &[o]].concat());
        all = all.into_iter().flat_map(extend).collect();
    }
    Ok(all.iter().map(|chosen| Policy::deterministic(world, chosen)).collect())
}
