//! The seam of a credit rule.

use crate::{Credit, CreditBatch, CreditError};
use merit_core::registry::Kind;

/// What a rule judges an episode against; says which sums must vanish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Baseline {
    /// The other members of its group: episode advantages sum to 0 in each group, and a group with nothing to compare gets 0.
    Group,
    /// The same turn of the other members: a turn at which all members earn the same gets 0.
    Turn,
    /// Twice, each alone: the outcome against the other members, and what a turn was paid against all turns of the group. Where the
    /// members have as many turns, turn advantages sum to 0 in each group; a level with nothing to compare gives 0.
    Levels,
    /// The share of the group that ever passes what is open at a turn: a group whose members pass the same gets 0.
    Items,
    /// The other members of its group, and then the whole batch: token advantages sum to 0 over the batch, and a batch of groups with
    /// nothing to compare gets 0.
    GroupInBatch,
    /// The whole batch: token advantages sum to 0 over the batch.
    Batch,
    /// An estimate of the value of each state, by a value head or by continuations: no sum need vanish.
    Value,
    /// The mean of the leaves of its tree, and of those below the turn before: a group whose leaves all earn the same gets 0.
    Tree,
}

impl Baseline {
    /// Whether it compares the members of a group, so that one alone learns nothing.
    pub fn compares_members(self) -> bool {
        match self {
            Self::Group | Self::Turn | Self::Levels | Self::Items | Self::GroupInBatch | Self::Tree => true,
            Self::Batch | Self::Value => false,
        }
    }
}

/// What a rule needs besides scored groups. The driver provides it, and a batch that lacks it is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Needs {
    /// The values of a value head, for which the rule writes targets.
    pub values: bool,
    /// This many continuations from every turn of every valid episode, in [`CreditBatch::probes`]. 0: none.
    pub probes_per_turn: u32,
}

/// Turns scored groups into samples with advantages. The driver calls `assign` once per batch; pure.
pub trait CreditRule: Send + Sync {
    /// What it judges against.
    fn baseline(&self) -> Baseline;

    /// What it needs besides scored groups.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// The discount of its returns, per token; 1 where the rule discounts nothing.
    fn discount(&self) -> f64 {
        1.0
    }

    /// Whether it learns from branches that were left: it holds turns against turns, and what theirs was paid is known.
    fn trains_left(&self) -> bool {
        false
    }

    /// One sample per episode, in the order of the groups and of their members.
    fn assign(&self, batch: &CreditBatch<'_>) -> Result<Credit, CreditError>;
}

impl Kind for dyn CreditRule {
    const KIND: &'static str = "credit rule";
}
