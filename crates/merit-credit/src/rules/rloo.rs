//! RLOO: the reward less the mean of the other members, `n / (n − 1) · (r − mean)`. A lone member gets 0.

use super::within_group;
use crate::config::RuleEntry;
use crate::kernels::GroupNorm;
use crate::{Baseline, Credit, CreditConfig, CreditError, Rule};
use merit_core::{About, Group};
use serde::{Deserialize, Serialize};

pub(crate) const RLOO: RuleEntry = RuleEntry {
    about: About {
        name: "rloo",
        summary: "The reward less the mean of the group's other members.",
        paper: "Ahmadian et al., Back to Basics, arXiv:2402.14740",
    },
    example: "type = \"rloo\"\n",
    default: || CreditConfig::Rloo(RlooConfig {}),
};

/// `rloo`
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RlooConfig {}

impl Rule for RlooConfig {
    fn about(&self) -> About {
        RLOO.about
    }

    fn baseline(&self) -> Baseline {
        Baseline::Group
    }

    fn assign(&self, groups: &[Group]) -> Result<Credit, CreditError> {
        within_group::assign(groups, GroupNorm::LeaveOneOut)
    }
}
