//! Whether a shaping rule leaves the best policies as they are, proved by solving the world with and without it.
//!
//! Potential-based shaping (Ng, Harada, Russell 1999) adds γ Φ(s') − Φ(s), with Φ = 0 at terminal states, and then
//! Q_shaped(s, a) = Q(s, a) − Φ(s): every policy loses the same. A difference without γ pays (1 − γ) Φ for every step spent at
//! high potential, and a terminal potential pays γ^T Φ(s_T) for where an episode ends; both change what is best.

use super::{Arrow, Solution, TabularError, TabularWorld, solve};
use serde::{Deserialize, Serialize};

/// How far Q may be off, relative to its scale, and how close two actions must be to count as equally good.
const EQUAL: f64 = 1e-9;

/// What is made of a potential.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ShapingRule {
    /// r + γ Φ(s') − Φ(s), Φ = 0 at terminal states.
    PotentialBased,
    /// The same with Φ as it is at terminal states.
    TerminalPotentialKept,
    /// Φ(s') − Φ(s) instead of the reward: what a progress model alone would pay.
    NaiveDifference,
    /// r + Φ(s') − Φ(s).
    AddedDifference,
}

/// A state in which shaping changes what is best.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct PolicyChange {
    /// The state.
    pub state: String,
    /// The best actions without shaping.
    pub before: Vec<String>,
    /// The best actions with it.
    pub after: Vec<String>,
}

/// What shaping does to a world.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct InvarianceReport {
    /// The rule.
    pub rule: ShapingRule,
    /// Every state in which the best actions differ.
    pub changes: Vec<PolicyChange>,
    /// The largest |Q_shaped(s, a) − (Q(s, a) − Φ(s))|.
    pub largest_gap: f64,
    /// What `largest_gap` may be: 1e-9 times the scale of the values.
    pub tolerance: f64,
}

impl InvarianceReport {
    /// Whether the best policies are the same and Q moved by the potential alone.
    pub(crate) fn holds(&self) -> bool {
        self.changes.is_empty() && self.largest_gap <= self.tolerance
    }
}

/// Solves `world` with and without shaping by `potential`, one number per state, and compares.
pub(crate) fn check_invariance(
    world: &TabularWorld,
    potential: &[f64],
    rule: ShapingRule,
) -> Result<InvarianceReport, TabularError> {
    let plain = solve(world)?;
    let shaped_world = shaped(world, potential, rule)?;
    let shaped = solve(&shaped_world)?;
    let most = world.scale().max(shaped_world.scale()) / (1.0 - world.gamma);
    let tolerance = EQUAL * most.max(1.0);
    let moving = (0..world.states.len()).filter(|&state| !world.terminal[state]);
    let changes =
        moving.clone().filter_map(|state| change(world, &plain, &shaped, state, tolerance)).collect();
    let gap = |state: usize| {
        let both = plain.q[state].iter().zip(&shaped.q[state]);
        both.filter_map(move |(q, with)| Some(((*with)? - ((*q)? - potential[state])).abs()))
    };
    let largest_gap = moving.flat_map(gap).fold(0.0, f64::max);
    Ok(InvarianceReport { rule, changes, largest_gap, tolerance })
}

/// The world with the rewards that `rule` makes of `potential`.
pub(crate) fn shaped(
    world: &TabularWorld,
    potential: &[f64],
    rule: ShapingRule,
) -> Result<TabularWorld, TabularError> {
    world.validate()?;
    let (got, want) = (potential.len(), world.states.len());
    if got != want {
        return Err(TabularError::Rows { table: "potential", of: String::new(), got, want });
    }
    if let Some(state) = potential.iter().position(|value| !value.is_finite()) {
        let (name, value) = (world.states[state].clone(), potential[state]);
        return Err(TabularError::NotFinite { what: "the potential", state: name, value });
    }
    let after = |to: usize| if world.terminal[to] { 0.0 } else { potential[to] };
    let reward = |from: usize, arrow: &Arrow| match rule {
        ShapingRule::PotentialBased => arrow.reward + world.gamma * after(arrow.to) - potential[from],
        ShapingRule::TerminalPotentialKept => {
            arrow.reward + world.gamma * potential[arrow.to] - potential[from]
        }
        ShapingRule::NaiveDifference => potential[arrow.to] - potential[from],
        ShapingRule::AddedDifference => arrow.reward + potential[arrow.to] - potential[from],
    };
    let mut made = world.clone();
    for (from, row) in made.transitions.iter_mut().enumerate() {
        row.iter_mut().flatten().for_each(|arrow| arrow.reward = reward(from, arrow));
    }
    Ok(made)
}

/// Best actions differ where one that is best in one world is clearly not in the other; a tie may break by rounding.
fn change(
    world: &TabularWorld,
    plain: &Solution,
    shaped: &Solution,
    state: usize,
    slack: f64,
) -> Option<PolicyChange> {
    let within = |best: &Solution, other: &Solution| {
        let near = other.greedy(state, 4.0 * slack);
        best.greedy(state, slack).iter().all(|action| near.contains(action))
    };
    let names = |of: &Solution| of.greedy(state, slack).iter().map(|&a| world.actions[a].clone()).collect();
    let same = within(plain, shaped) && within(shaped, plain);
    (!same).then(|| PolicyChange {
        state: world.states[state].clone(),
        before: names(plain),
        after: names(shaped),
    })
}
