//! The settings of the ledger world.

use super::ABOUT;
use crate::EnvError;
use merit_core::Split;
use merit_tools::FaultPlan;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// How many entries a task may have.
pub const SIZES: RangeInclusive<u32> = 1..=5;
/// Most items in the table that no entry names.
pub const MAX_DISTRACTORS: u32 = 12;

/// The settings of the ledger world.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LedgerConfig {
    /// Entries per training task, dealt in turn; a size that is listed twice is dealt twice as often.
    pub sizes: Vec<u32>,
    /// The same for held-out tasks. Empty: as `sizes`.
    pub held_out_sizes: Vec<u32>,
    /// Whether the agent has the tools. False is the control: the same tasks, and every call is answered `no tools here`.
    pub tools: bool,
    /// Items in the table that no entry names.
    pub distractors: u32,
    /// Show the dialect as a system message first. Language models need it; warm-started ones do not.
    pub instructions: bool,
    /// Disturbs both tools. Absent: they answer at once and never fail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub faults: Option<FaultPlan>,
}

impl Default for LedgerConfig {
    fn default() -> Self {
        Self {
            sizes: vec![1, 2, 3],
            held_out_sizes: Vec::new(),
            tools: true,
            distractors: 3,
            instructions: false,
            faults: None,
        }
    }
}

impl LedgerConfig {
    /// Checks that tasks can be made.
    pub fn validate(&self) -> Result<(), EnvError> {
        let bad = |why: String| Err(EnvError::Setting { world: ABOUT.name, why });
        if self.sizes.is_empty() {
            return bad("`sizes` is empty; list the sizes to train on, as in [1, 2, 3]".to_owned());
        }
        for (name, sizes) in [("sizes", &self.sizes), ("held_out_sizes", &self.held_out_sizes)] {
            if let Some(size) = sizes.iter().find(|size| !SIZES.contains(size)) {
                return bad(format!(
                    "`{name}` lists {size}; a task has {} to {} entries",
                    SIZES.start(),
                    SIZES.end()
                ));
            }
        }
        if self.distractors > MAX_DISTRACTORS {
            return bad(format!("`distractors` is {}; at most {MAX_DISTRACTORS}", self.distractors));
        }
        match &self.faults {
            Some(_) if !self.tools => {
                bad("`faults` needs `tools = true`: there is nothing to disturb".to_owned())
            }
            Some(plan) => plan.validate().or_else(|error| bad(format!("`faults`: {error}"))),
            None => Ok(()),
        }
    }

    pub(super) fn sizes_of(&self, split: Split) -> &[u32] {
        match split {
            Split::HeldOut if !self.held_out_sizes.is_empty() => &self.held_out_sizes,
            Split::HeldOut | Split::Train => &self.sizes,
        }
    }
}
