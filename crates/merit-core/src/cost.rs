//! What an episode or an arm has spent (rule 9). Arms are compared at equal budgets, so every station adds to it.

use serde::{Deserialize, Serialize};

/// Counters of everything that costs.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Cost {
    /// Tokens the policy sampled.
    pub policy_tokens: u64,
    /// Tokens the policy read: prompts and observations.
    pub read_tokens: u64,
    /// Actions given to the environment.
    pub env_steps: u64,
    /// Extra environment steps taken only to measure something (forks, probes).
    pub probe_steps: u64,
    /// Calls that tools were given.
    pub tool_calls: u64,
    /// Wall seconds inside tools. Not part of an episode's identity.
    pub tool_seconds: f64,
    /// Questions put to judges.
    pub judge_calls: u64,
    /// Tokens judges read and wrote.
    pub judge_tokens: u64,
    /// Episodes that were run and then not used.
    pub discarded_samples: u64,
    /// Tokens that entered a loss, each time they did. Belongs to steps, not to episodes.
    #[serde(skip_serializing_if = "none")]
    pub trained_tokens: u64,
    /// Steps that an optimiser took. Belongs to steps, not to episodes.
    #[serde(skip_serializing_if = "none")]
    pub updates: u64,
    /// Whether tokens were spent that were not counted, as in an imported episode that has text only. Then the two counts of
    /// tokens above are lower bounds.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub tokens_unknown: bool,
    /// Whether tools ran whose time was not measured. Then `tool_seconds` is a lower bound.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub seconds_unknown: bool,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde calls it so.
fn none(count: &u64) -> bool {
    *count == 0
}

impl Cost {
    /// Tokens the policy sampled. Absent: they were not counted, so that what is paid per token does not apply.
    pub fn known_policy_tokens(&self) -> Option<u64> {
        (!self.tokens_unknown).then_some(self.policy_tokens)
    }

    /// Wall seconds inside tools. Absent: they were not measured.
    pub fn known_tool_seconds(&self) -> Option<f64> {
        (!self.seconds_unknown).then_some(self.tool_seconds)
    }
}

impl std::ops::AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        self.policy_tokens = self.policy_tokens.saturating_add(other.policy_tokens);
        self.read_tokens = self.read_tokens.saturating_add(other.read_tokens);
        self.env_steps = self.env_steps.saturating_add(other.env_steps);
        self.probe_steps = self.probe_steps.saturating_add(other.probe_steps);
        self.tool_calls = self.tool_calls.saturating_add(other.tool_calls);
        self.tool_seconds += other.tool_seconds;
        self.judge_calls = self.judge_calls.saturating_add(other.judge_calls);
        self.judge_tokens = self.judge_tokens.saturating_add(other.judge_tokens);
        self.discarded_samples = self.discarded_samples.saturating_add(other.discarded_samples);
        self.trained_tokens = self.trained_tokens.saturating_add(other.trained_tokens);
        self.updates = self.updates.saturating_add(other.updates);
        self.tokens_unknown |= other.tokens_unknown;
        self.seconds_unknown |= other.seconds_unknown;
    }
}

impl std::iter::Sum for Cost {
    fn sum<I: Iterator<Item = Self>>(costs: I) -> Self {
        let mut total = Self::default();
        costs.for_each(|cost| total += cost);
        total
    }
}
