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
    /// Tool calls.
    pub tool_calls: u64,
    /// Wall seconds inside tools. Not part of an episode's identity.
    pub tool_seconds: f64,
    /// Calls to judges.
    pub judge_calls: u64,
    /// Tokens judges read and wrote.
    pub judge_tokens: u64,
    /// Episodes that were run and then not used.
    pub discarded_samples: u64,
}

impl std::ops::AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        self.policy_tokens += other.policy_tokens;
        self.read_tokens += other.read_tokens;
        self.env_steps += other.env_steps;
        self.probe_steps += other.probe_steps;
        self.tool_calls += other.tool_calls;
        self.tool_seconds += other.tool_seconds;
        self.judge_calls += other.judge_calls;
        self.judge_tokens += other.judge_tokens;
        self.discarded_samples += other.discarded_samples;
    }
}

impl std::iter::Sum for Cost {
    fn sum<I: Iterator<Item = Self>>(costs: I) -> Self {
        let mut total = Self::default();
        costs.for_each(|cost| total += cost);
        total
    }
}
