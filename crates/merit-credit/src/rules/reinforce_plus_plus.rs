//! REINFORCE++: discounted returns of each token, whitened over the whole batch instead of within groups.
//!
//! `G_t = r_t + gamma · G_{t+1}` over trainable tokens, then `(G − mean) / sqrt(var + 1e-8)` with mean and unbiased variance
//! over all trainable tokens of the batch, so that long episodes weigh more in the baseline. The KL penalty that the paper
//! folds into the token rewards is the learner's business here. There is no value head, so a truncated episode is paid what
//! it was scored and nothing beyond.

use super::flat::Flat;
use crate::config::RuleEntry;
use crate::kernels::whitened_returns;
use crate::{Baseline, Credit, CreditConfig, CreditError, Derivation, Rule};
use merit_core::{About, Group};
use serde::{Deserialize, Serialize};

pub(crate) const REINFORCE_PLUS_PLUS: RuleEntry = RuleEntry {
    about: About {
        name: "reinforce-plus-plus",
        summary: "Discounted returns of each token, whitened over the whole batch.",
        paper: "Hu, REINFORCE++, arXiv:2501.03262",
    },
    example: "type = \"reinforce-plus-plus\"\ngamma = 1.0\n",
    default: || CreditConfig::ReinforcePlusPlus(ReinforcePlusPlusConfig::default()),
};

/// `reinforce-plus-plus`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReinforcePlusPlusConfig {
    /// Discount per trainable token, in [0, 1]; 1 by default, as published.
    pub gamma: f64,
}

impl Default for ReinforcePlusPlusConfig {
    fn default() -> Self {
        Self { gamma: 1.0 }
    }
}

impl Rule for ReinforcePlusPlusConfig {
    fn about(&self) -> About {
        REINFORCE_PLUS_PLUS.about
    }

    fn discount(&self) -> f64 {
        self.gamma
    }

    fn baseline(&self) -> Baseline {
        Baseline::Batch
    }

    fn assign(&self, groups: &[Group]) -> Result<Credit, CreditError> {
        let mut flat = Flat::of(groups)?;
        let mut advantages = vec![0.0; flat.len()];
        let batch = whitened_returns(&flat.rows()?, &flat.rewards, self.gamma, &mut advantages)?;
        let mut derivations = Vec::with_capacity(flat.samples.len());
        for at in 0..flat.samples.len() {
            flat.samples[at].advantages = Some(flat.cut(&advantages, at));
            let payments = std::mem::take(&mut flat.payments[at]);
            let outcome = flat.episodes[at].outcome();
            derivations.push(if outcome.counts() {
                Derivation::Returns { payments, gamma: self.gamma, batch }
            } else {
                Derivation::Excluded(outcome)
            });
        }
        Ok(Credit::new(groups, flat.samples, derivations))
    }
}
