//! What the episode cost, as a value of at most 0: `−(per_token · tokens + per_turn · turns + per_call · calls)`.
//!
//! The rates are reward per sampled policy token, per turn and per tool call, all at least 0. Tokens are those of the
//! transcript's policy segments: what the policy wrote, not what it read.

use crate::prelude::*;

/// Takes away a rate for each sampled token, turn and tool call; at most 0.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cost {
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

impl Component for Cost {
    const ABOUT: About = About {
        name: "cost",
        summary: "Takes away a rate for each sampled token, turn and tool call; at most 0.",
        paper: "",
    };
    const EXAMPLE: &'static str = r#"
per_token = 0.001
per_turn = 0.02
per_call = 0.01
"#;

    fn check(&self) -> Result<(), Refusal> {
        let rates = [("per_token", self.per_token), ("per_turn", self.per_turn), ("per_call", self.per_call)];
        for (field, rate) in rates {
            let want = "a finite number of at least 0, since the term already takes it away";
            Refusal::unless(rate.is_finite() && rate >= 0.0, field, rate, want)?;
        }
        Ok(())
    }
}

impl Term for Cost {
    fn kind(&self) -> TermKind {
        TermKind { range: Range { low: f64::NEG_INFINITY, high: 0.0 }, ..TermKind::NUMBER }
    }

    fn evaluate(&self, context: &EvalContext<'_>) -> TermResult {
        let episode = context.episode;
        let written = episode.transcript.segments().iter().filter(|s| s.role.trainable());
        let tokens: usize = written.map(|s| s.tokens.len()).sum();
        let counted = episode.transcript.known() != Known::Text;
        if self.per_token > 0.0 && !counted {
            return TermResult::not_applicable("nobody counted the episode's tokens");
        }
        let turns = episode.turns.len();
        let calls: usize = episode.turns.iter().map(|turn| turn.calls.len()).sum();
        let cost =
            self.per_token * tokens as f64 + self.per_turn * turns as f64 + self.per_call * calls as f64;
        let tokens = if counted { tokens.to_string() } else { "an unknown number of".to_owned() };
        let finding = format!("{tokens} tokens, {turns} turns, {calls} calls");
        // 0 − 0 is 0 where −(0) would be a negative zero.
        TermResult::value(0.0 - cost, Evidence::new("counted", finding))
    }
}
