//! Which of the policy's tokens are trained. A mask only takes tokens away: a token that the sample's own mask leaves out, by
//! its role or by the outcome of its episode, stays out.

use merit_core::registry::{About, Component, Entry, Kind};
use merit_core::{Sample, entry};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A choice among the tokens that the policy chose.
pub trait Mask: Send + Sync {
    /// Whether token `at` of `sample`, which the policy chose, is trained.
    fn keep(&self, sample: &Sample, at: usize) -> bool;

    /// Whether what tools and the world said is trained too. Only for the ablation that shows what it does.
    fn observations(&self) -> bool {
        false
    }

    /// The tokens of `sample` that are trained; one entry per token, true only where the sample's own mask is.
    fn of(&self, sample: &Sample) -> Vec<bool> {
        sample.mask.iter().enumerate().map(|(at, &m)| m && self.keep(sample, at)).collect()
    }
}

impl Kind for dyn Mask {
    const KIND: &'static str = "mask";
}

/// The masks that come with merit.
pub static MASKS: &[Entry<dyn Mask>] = &[
    entry!(PolicyTokens as dyn Mask),
    entry!(DropTruncated as dyn Mask),
    entry!(LastTurn as dyn Mask),
    entry!(NoRefusedTurns as dyn Mask),
    entry!(TrainOnObservations as dyn Mask),
];

/// Every token the policy chose, in an episode that counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyTokens {}

impl Component for PolicyTokens {
    const ABOUT: About = About { name: "policy", summary: "every token the policy chose", paper: "" };
}

impl Mask for PolicyTokens {
    fn keep(&self, _: &Sample, _: usize) -> bool {
        true
    }
}

/// Nothing of an episode that a limit cut: its low reward says more of the limit than of the policy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DropTruncated {}

impl Component for DropTruncated {
    const ABOUT: About = About {
        name: "drop-truncated",
        summary: "samples that a limit cut are left out whole",
        paper: "DAPO (overlong filtering), arXiv:2503.14476",
    };
}

impl Mask for DropTruncated {
    fn keep(&self, sample: &Sample, _: usize) -> bool {
        !sample.truncated
    }
}

/// Only the last turn: the answer is trained, the turns before it are not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LastTurn {}

impl Component for LastTurn {
    const ABOUT: About = About { name: "last-turn", summary: "only the tokens of the last turn", paper: "" };
}

impl Mask for LastTurn {
    fn keep(&self, sample: &Sample, at: usize) -> bool {
        sample.turns.last().is_some_and(|turn| turn.contains(&at))
    }
}

/// No turn whose calls were all refused: what failed is neither learned nor unlearned.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoRefusedTurns {}

impl Component for NoRefusedTurns {
    const ABOUT: About = About {
        name: "no-refused-turns",
        summary: "turns whose calls were all refused are left out",
        paper: "CLEANER (a control), 2026",
    };
}

impl Mask for NoRefusedTurns {
    fn keep(&self, sample: &Sample, at: usize) -> bool {
        let turn = sample.turns.iter().position(|turn| turn.contains(&at));
        !turn.and_then(|turn| sample.refused.get(turn)).is_some_and(|refused| *refused)
    }
}

/// The ablation: the policy is also trained on what tools and the world answered, as where they are not masked. Their old
/// log-probabilities are those of the policy before the update, their credit that of the policy's token before them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrainOnObservations {}

impl Component for TrainOnObservations {
    const ABOUT: About = About {
        name: "train-on-observations",
        summary: "answers of tools and of the world are trained too; an ablation, refused without `ablation = true`",
        paper: "Search-R1 (loss masking), arXiv:2503.09516",
    };
}

impl Mask for TrainOnObservations {
    fn keep(&self, _: &Sample, _: usize) -> bool {
        true
    }

    fn observations(&self) -> bool {
        true
    }
}
