//! Dr. GRPO: the reward less the group's mean, without the standard deviation, which would weigh easy and hard tasks up.
//!
//! The other half of the published method, a constant instead of the length of the sequence as the aggregation of the loss, is
//! the learner's business.

use super::within_group;
use crate::config::RuleEntry;
use crate::kernels::GroupNorm;
use crate::{Baseline, Credit, CreditConfig, CreditError, Rule};
use merit_core::{About, Group};
use serde::{Deserialize, Serialize};

pub(crate) const DR_GRPO: RuleEntry = RuleEntry {
    about: About {
        name: "dr-grpo",
        summary: "The reward less the group's mean, unscaled.",
        paper: "Liu et al., Understanding R1-Zero-Like Training, arXiv:2503.20783",
    },
    example: "type = \"dr-grpo\"\n",
    default: || CreditConfig::DrGrpo(DrGrpoConfig {}),
};

/// `dr-grpo`
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DrGrpoConfig {}

impl Rule for DrGrpoConfig {
    fn about(&self) -> About {
        DR_GRPO.about
    }

    fn baseline(&self) -> Baseline {
        Baseline::Group
    }

    fn assign(&self, groups: &[Group]) -> Result<Credit, CreditError> {
        within_group::assign(groups, GroupNorm::Mean)
    }
}
