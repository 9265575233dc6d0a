//! Dr. GRPO: the reward less the group's mean, without the standard deviation, which would weigh easy and hard tasks up.
//!
//! The other half of the published method, a constant instead of the length of the sequence in the loss aggregation, is the
//! learner's business.

use super::Grpo;
use crate::{Credit, CreditBatch, CreditError, CreditRule, Properties};
use merit_core::{About, Component};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `r − mean` over the valid members of the group.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DrGrpo {}

impl Component for DrGrpo {
    const ABOUT: About = About {
        name: "dr-grpo",
        summary: "The reward less the group's mean, unscaled.",
        paper: "Liu et al., Understanding R1-Zero-Like Training, arXiv:2503.20783",
    };
}

impl CreditRule for DrGrpo {
    fn properties(&self) -> Properties {
        Properties::by_episode()
    }

    fn assign(&self, batch: &CreditBatch<'_>) -> Result<Credit, CreditError> {
        Grpo { scale_by_std: false }.assign(batch)
    }
}
