//! The seam of a credit rule.

use crate::{Credit, CreditError};
use merit_core::{About, Group};

/// What a rule judges an episode against; says which sums must vanish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Baseline {
    /// The other members of its group: episode advantages sum to 0 in each group, and a group with nothing to compare gets 0.
    Group,
    /// The whole batch: token advantages sum to 0 over the batch.
    Batch,
    /// The value head's own estimate: no sum need vanish.
    Value,
}

/// Turns scored groups into samples with advantages. The driver calls `assign` once per batch; pure.
pub trait Rule: Send + Sync {
    /// Name, one line of help, paper.
    fn about(&self) -> About;

    /// What it judges against.
    fn baseline(&self) -> Baseline;

    /// Whether it reads the values of a value head, and writes targets for it.
    fn needs_values(&self) -> bool {
        false
    }

    /// The discount of its returns, per token; 1 where the rule discounts nothing.
    fn discount(&self) -> f64 {
        1.0
    }

    /// One sample per episode, in the order of the groups and of their members.
    fn assign(&self, groups: &[Group]) -> Result<Credit, CreditError>;
}
