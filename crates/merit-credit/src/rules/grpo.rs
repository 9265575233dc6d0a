//! GRPO: each episode is judged against the others of its task.
//!
//! `(r − mean) / (std + 1e-6)` over the counting members, with the unbiased standard deviation (divisor n − 1): the
//! constants of verl's implementation. Unlike there, a lone member gets 0 instead of its bare reward.

use super::within_group;
use crate::config::RuleEntry;
use crate::kernels::GroupNorm;
use crate::{Baseline, Credit, CreditConfig, CreditError, Rule};
use merit_core::{About, Group};
use serde::{Deserialize, Serialize};

pub(crate) const GRPO: RuleEntry = RuleEntry {
    about: About {
        name: "grpo",
        summary: "The reward less the group's mean, over the group's standard deviation.",
        paper: "Shao et al., DeepSeekMath, arXiv:2402.03300",
    },
    example: "type = \"grpo\"\nscale_by_std = true\n",
    default: || CreditConfig::Grpo(GrpoConfig::default()),
};

/// `grpo`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GrpoConfig {
    /// Divide by the group's standard deviation. On by default, as published.
    pub scale_by_std: bool,
}

impl Default for GrpoConfig {
    fn default() -> Self {
        Self { scale_by_std: true }
    }
}

impl Rule for GrpoConfig {
    fn about(&self) -> About {
        GRPO.about
    }

    fn baseline(&self) -> Baseline {
        Baseline::Group
    }

    fn assign(&self, groups: &[Group]) -> Result<Credit, CreditError> {
        let norm = if self.scale_by_std { GroupNorm::MeanStd } else { GroupNorm::Mean };
        within_group::assign(groups, norm)
    }
}
