//! What the episode cost, as a value of at most 0: `−(per_token · tokens + per_turn · turns + per_call · calls)`.
//!
//! The rates are reward per sampled policy token, per turn and per tool call, all at least 0. Tokens are those of the
//! transcript's policy segments: what the policy wrote, not what it read.

use crate::term::{Finding, ParseFailurePath, Settings, Term, TermConfig, one};
use crate::{Component, Problem};
use merit_core::{About, Episode, Evidence};
use serde::{Deserialize, Serialize};

pub(crate) const COST: Component = Component {
    about: About {
        name: "cost",
        summary: "Takes away a rate for each sampled token, turn and tool call; at most 0.",
        paper: "",
    },
    example: r#"
type = "cost"
per_token = 0.001
per_turn = 0.02
per_call = 0.01
"#,
};

/// `cost`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CostConfig {
    /// Name in the score. Absent: `cost`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Factor of the (negative) value.
    #[serde(default = "one")]
    pub weight: f64,
    /// Reward taken away per token the policy sampled.
    #[serde(default)]
    pub per_token: f64,
    /// Reward taken away per turn.
    #[serde(default)]
    pub per_turn: f64,
    /// Reward taken away per tool call, whether it succeeded or not.
    #[serde(default)]
    pub per_call: f64,
}

impl Default for CostConfig {
    fn default() -> Self {
        Self { name: None, weight: 1.0, per_token: 0.0, per_turn: 0.0, per_call: 0.0 }
    }
}

impl TermConfig for CostConfig {
    fn settings(&self) -> Settings {
        Settings {
            name: self.name.clone().unwrap_or_else(|| COST.about.name.to_owned()),
            weight: self.weight,
            on_parse_failure: ParseFailurePath::default(),
        }
    }

    fn term(&self) -> Result<Box<dyn Term>, Problem> {
        let rates = [("per_token", self.per_token), ("per_turn", self.per_turn), ("per_call", self.per_call)];
        for (field, value) in rates {
            if !value.is_finite() {
                return Err(Problem::NotFinite { field, value });
            }
            if value < 0.0 {
                return Err(Problem::Negative { field, value });
            }
        }
        Ok(Box::new(Cost(self.clone())))
    }
}

struct Cost(CostConfig);

impl Term for Cost {
    fn look(&self, episode: &Episode) -> Finding {
        let written = episode.transcript.segments().iter().filter(|s| s.role.trainable());
        let tokens: usize = written.map(|s| s.tokens.len()).sum();
        let turns = episode.turns.len();
        let calls: usize = episode.turns.iter().map(|turn| turn.calls.len()).sum();
        let rates = &self.0;
        let cost =
            rates.per_token * tokens as f64 + rates.per_turn * turns as f64 + rates.per_call * calls as f64;
        // 0 − 0 is 0 where −(0) would be a negative zero.
        let finding = format!("{tokens} tokens, {turns} turns, {calls} calls");
        Finding::value(0.0 - cost, Evidence::new("counted", finding))
    }
}
