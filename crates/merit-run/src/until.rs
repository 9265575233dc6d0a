//! Budgets in other units than steps: what learning has spent, and when that is enough.

use merit_core::Cost;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Learning ends after the step in which so much is spent, if not for its steps before. Exactly one unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Until {
    /// Tokens that the policy sampled.
    PolicyTokens(u64),
    /// Actions given to the environment.
    EnvSteps(u64),
    /// Episodes that were played.
    Episodes(u64),
    /// Tokens that entered a loss, each time they did.
    TrainedTokens(u64),
}

/// What a learning has spent. Groups that were dropped and episodes that only measure something count too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Spent {
    pub(crate) policy_tokens: u64,
    pub(crate) env_steps: u64,
    pub(crate) episodes: u64,
    pub(crate) trained_tokens: u64,
}

impl Spent {
    /// Adds what so many episodes, or a step, have cost.
    pub(crate) fn add(&mut self, cost: &Cost, episodes: u64) {
        let add = |old: &mut u64, new: u64| *old = old.saturating_add(new);
        add(&mut self.policy_tokens, cost.policy_tokens);
        add(&mut self.env_steps, cost.env_steps.saturating_add(cost.probe_steps));
        add(&mut self.trained_tokens, cost.trained_tokens);
        add(&mut self.episodes, episodes);
    }
}

impl Until {
    fn of(self, spent: &Spent) -> (&'static str, u64, u64) {
        match self {
            Self::PolicyTokens(most) => ("policy_tokens", spent.policy_tokens, most),
            Self::EnvSteps(most) => ("env_steps", spent.env_steps, most),
            Self::Episodes(most) => ("episodes", spent.episodes, most),
            Self::TrainedTokens(most) => ("trained_tokens", spent.trained_tokens, most),
        }
    }

    /// Refuses what cannot work, in words.
    pub(crate) fn check(self) -> Result<(), String> {
        match self.of(&Spent::default()) {
            (unit, _, 0) => Err(format!("`budget.until.{unit}` is 0; it must be at least 1")),
            _ => Ok(()),
        }
    }

    /// The share that is spent, from 0 to 1, where learning ends.
    pub(crate) fn share(self, spent: &Spent) -> f64 {
        let (_, spent, most) = self.of(spent);
        (spent as f64 / most.max(1) as f64).min(1.0)
    }
}
