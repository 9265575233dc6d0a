//! A world as a table: what can be done in each state, where it leads, what it pays.

use super::TabularError;
use serde::{Deserialize, Serialize};

/// A finite Markov decision process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TabularWorld {
    /// Names of the states.
    pub states: Vec<String>,
    /// Names of the actions.
    pub actions: Vec<String>,
    /// `transitions[state][action]`: where it may lead and what it pays on the way; empty where it cannot be done.
    pub transitions: Vec<Vec<Vec<Arrow>>>,
    /// For each state whether the episode ends on arriving there.
    pub terminal: Vec<bool>,
    /// Discount per step, from 0 to 0.999.
    pub gamma: f64,
}

/// One way an action may turn out.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arrow {
    /// The state it leads to.
    pub to: usize,
    /// How likely that is.
    pub probability: f64,
    /// What it pays.
    pub reward: f64,
}

impl Arrow {
    /// Certain, and paid `reward`.
    pub(crate) fn sure(to: usize, reward: f64) -> Vec<Self> {
        vec![Self { to, probability: 1.0, reward }]
    }
}

impl TabularWorld {
    /// What is wrong with the table.
    pub(crate) fn validate(&self) -> Result<(), TabularError> {
        let (states, actions) = (self.states.len(), self.actions.len());
        if states == 0 || actions == 0 {
            return Err(TabularError::Empty { states, actions });
        }
        if !(0.0..=0.999).contains(&self.gamma) {
            return Err(TabularError::Gamma { gamma: self.gamma });
        }
        rows("transitions", "", self.transitions.len(), states)?;
        rows("terminal", "", self.terminal.len(), states)?;
        for state in 0..states {
            rows("transitions", &self.states[state], self.transitions[state].len(), actions)?;
            let movable = self.transitions[state].iter().any(|arrows| !arrows.is_empty());
            let name = || self.states[state].clone();
            match (self.terminal[state], movable) {
                (true, true) => return Err(TabularError::TerminalMoves { state: name() }),
                (false, false) => return Err(TabularError::DeadEnd { state: name() }),
                _ => {}
            }
            (0..actions).try_for_each(|action| self.validate_arrows(state, action))?;
        }
        Ok(())
    }

    fn validate_arrows(&self, state: usize, action: usize) -> Result<(), TabularError> {
        let arrows = &self.transitions[state][action];
        let names = || (self.states[state].clone(), self.actions[action].clone());
        for arrow in arrows {
            if arrow.to >= self.states.len() {
                let (state, action) = names();
                let states = self.states.len();
                return Err(TabularError::NoSuchState { state, action, to: arrow.to, states });
            }
            if !arrow.reward.is_finite() {
                let (state, _) = names();
                return Err(TabularError::NotFinite { what: "a reward", state, value: arrow.reward });
            }
        }
        let sum: f64 = arrows.iter().map(|arrow| arrow.probability).sum();
        let sound = arrows.iter().all(|arrow| (0.0..=1.0).contains(&arrow.probability));
        if arrows.is_empty() || (sound && (sum - 1.0).abs() <= 1e-12) {
            return Ok(());
        }
        let (state, action) = names();
        Err(TabularError::Probabilities { state, action, sum })
    }

    /// What can be done in `state`.
    pub(crate) fn available(&self, state: usize) -> Vec<usize> {
        let actions = self.transitions.get(state).into_iter().flatten().enumerate();
        actions.filter(|(_, arrows)| !arrows.is_empty()).map(|(action, _)| action).collect()
    }

    /// The largest reward or penalty of a single step.
    pub(crate) fn scale(&self) -> f64 {
        let rewards = self.transitions.iter().flatten().flatten().map(|arrow| arrow.reward.abs());
        rewards.fold(0.0, f64::max)
    }
}

fn rows(table: &'static str, state: &str, got: usize, want: usize) -> Result<(), TabularError> {
    let of = if state.is_empty() { String::new() } else { format!(" for state `{state}`") };
    if got == want { Ok(()) } else { Err(TabularError::Rows { table, of, got, want }) }
}
