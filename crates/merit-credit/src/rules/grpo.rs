//! GRPO: each episode is judged against the others of its task.

use crate::kernels::{STD_EPSILON, mean, mean_std};
use crate::{Credit, CreditBatch, CreditError, CreditRule, Properties};
use merit_core::{About, Component};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `(r − mean) / (std + 1e-6)` over the valid members of the group, with the unbiased standard deviation (divisor n − 1): the
/// constants of verl's implementation. Unlike there, a lone member gets 0 instead of its bare reward.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Grpo {
    /// Divide by the group's standard deviation. On by default, as published.
    pub scale_by_std: bool,
}

impl Default for Grpo {
    fn default() -> Self {
        Self { scale_by_std: true }
    }
}

impl Component for Grpo {
    const ABOUT: About = About {
        name: "grpo",
        summary: "The reward less the group's mean, over the group's standard deviation.",
        paper: "Shao et al., DeepSeekMath, arXiv:2402.03300",
    };
    const EXAMPLE: &'static str = "scale_by_std = true\n";
}

impl CreditRule for Grpo {
    fn properties(&self) -> Properties {
        Properties::by_episode()
    }

    fn assign(&self, batch: &CreditBatch<'_>) -> Result<Credit, CreditError> {
        let short = crate::credit::short;
        if !self.scale_by_std {
            return batch.per_episode(mean, |reward, group| format!("{reward} − {}", short(group.mean)));
        }
        batch.per_episode(mean_std, |reward, group| {
            format!("({reward} − {}) / ({} + {STD_EPSILON})", short(group.mean), short(group.std))
        })
    }
}
