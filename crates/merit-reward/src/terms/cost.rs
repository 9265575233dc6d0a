//! What the episode cost, as a value of at most 0: `−(per_token · tokens + per_turn · turns + per_call · calls)`.
//!
//! The rates are reward per sampled policy token, per turn and per tool call, all at least 0. Tokens are those of the
//! transcript's policy segments: what the policy wrote, not what it read.

use crate::range::Range;
use crate::term::{Finding, Nature, Settings, Term, TermConfig, View, term_config};
use crate::{Component, Problem};
use merit_core::{About, Evidence, Known};

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

term_config! {
    /// `cost`
    pub struct CostConfig of COST {
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
}

impl Default for CostConfig {
    fn default() -> Self {
        Self {
            name: None,
            weight: 1.0,
            on_parse_failure: None,
            errors: None,
            per_token: 0.0,
            per_turn: 0.0,
            per_call: 0.0,
        }
    }
}

impl TermConfig for CostConfig {
    fn settings(&self) -> Settings {
        self.common()
    }

    fn nature(&self) -> Nature {
        Nature { judges: false, parses: false, range: Range { low: f64::NEG_INFINITY, high: 0.0 } }
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
    fn look(&self, view: &View<'_>) -> Finding {
        let (episode, rates) = (view.episode, &self.0);
        let written = episode.transcript.segments().iter().filter(|s| s.role.trainable());
        let tokens: usize = written.map(|s| s.tokens.len()).sum();
        let counted = episode.transcript.known() != Known::Text;
        if rates.per_token > 0.0 && !counted {
            return Finding::not_applicable("nobody counted the episode's tokens");
        }
        let turns = episode.turns.len();
        let calls: usize = episode.turns.iter().map(|turn| turn.calls.len()).sum();
        let cost =
            rates.per_token * tokens as f64 + rates.per_turn * turns as f64 + rates.per_call * calls as f64;
        // 0 − 0 is 0 where −(0) would be a negative zero.
        let tokens = if counted { tokens.to_string() } else { "an unknown number of".to_owned() };
        let finding = format!("{tokens} tokens, {turns} turns, {calls} calls");
        Finding::value(0.0 - cost, Evidence::new("counted", finding))
    }
}
