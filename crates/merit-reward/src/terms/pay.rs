//! What of a verdict becomes the value, and what of it belongs to which turn: two choices that many terms share.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a verifier's verdict is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pay {
    /// The score itself, between 0 and 1.
    #[default]
    Score,
    /// 1 where it passes, by the check's own `pass_at`; 0 where it does not.
    Pass,
}

impl Pay {
    /// What a verdict is worth.
    pub fn of(self, score: f64, passed: bool) -> f64 {
        match self {
            Self::Score => score,
            Self::Pass => f64::from(u8::from(passed)),
        }
    }
}

/// What a term that follows progress says of each turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ByTurn {
    /// What the turn added; the turns sum to the whole. For a sum that is paid by turn.
    #[default]
    Earned,
    /// How far things had come after the turn. For the potential of `shaping`.
    Progress,
}

impl ByTurn {
    /// The values by turn, from how far things had come after each; absent: nothing happened in that turn.
    pub fn of(self, progress: Vec<Option<f64>>) -> Vec<Option<f64>> {
        if self == Self::Progress {
            return progress;
        }
        let mut before = 0.0;
        let earned = |after: Option<f64>| after.map(|after| after - std::mem::replace(&mut before, after));
        progress.into_iter().map(earned).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_turns_earned_sums_to_how_far_things_came() {
        let progress = vec![Some(0.5), None, Some(0.25), Some(1.0)];
        assert_eq!(ByTurn::Progress.of(progress.clone()), progress);
        assert_eq!(ByTurn::Earned.of(progress), [Some(0.5), None, Some(-0.25), Some(0.75)]);
    }
}
