//! The reward that the environment itself gives for each action (`Turn::reward`), where it gives any.

use super::info::TurnReduce;
use crate::prelude::*;

/// What the environment itself pays, turn by turn.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EnvironmentReward {
    /// How the turns are taken together; the sum unless told, as in a return.
    #[serde(default = "sum")]
    pub reduce: TurnReduce,
    /// Pay each turn where it was earned.
    #[serde(default = "yes")]
    pub per_turn: bool,
}

fn sum() -> TurnReduce {
    TurnReduce::Sum
}

fn yes() -> bool {
    true
}

impl Component for EnvironmentReward {
    const ABOUT: About = About {
        name: "environment-reward",
        summary: "What the environment itself pays, turn by turn; not applicable where it pays nothing.",
        paper: "",
    };
}

impl Term for EnvironmentReward {
    fn kind(&self) -> TermKind {
        TermKind { needs_a_turn: true, ..TermKind::NUMBER }
    }

    fn evaluate(&self, context: &EvalContext<'_>) -> TermResult {
        let what = "a reward of the environment's own";
        self.reduce.result(what, context.episode, |turn| turn.reward, self.per_turn)
    }
}
