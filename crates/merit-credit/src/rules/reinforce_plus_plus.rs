//! REINFORCE++: discounted returns of each token, whitened over the whole batch instead of within groups.

use crate::flat::Flat;
use crate::kernels::{Moments, VARIANCE_EPSILON, whitened_returns};
use crate::token_rewards::paid_line;
use crate::{Credit, CreditBatch, CreditError, CreditRule, Properties, ZeroSum};
use merit_core::{About, Component, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `G_t = r_t + gamma · G_{t+1}` over trainable tokens, then `(G − mean) / sqrt(var + 1e-8)` with mean and unbiased variance
/// over all trainable tokens of the batch, so that long episodes weigh more in the baseline. The KL penalty that the paper
/// folds into the token rewards is the objective's business here. There is no value head, so a truncated episode is paid what
/// it was scored and nothing beyond.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ReinforcePlusPlus {
    /// Discount per trainable token, in [0, 1]; 1 by default, as published.
    pub gamma: f64,
}

impl Default for ReinforcePlusPlus {
    fn default() -> Self {
        Self { gamma: 1.0 }
    }
}

impl Component for ReinforcePlusPlus {
    const ABOUT: About = About {
        name: "reinforce-plus-plus",
        summary: "Discounted returns of each token, whitened over the whole batch.",
        paper: "Hu, REINFORCE++, arXiv:2501.03262",
    };
    const EXAMPLE: &'static str = "gamma = 1.0\n";

    fn check(&self) -> Result<(), Refusal> {
        Refusal::unless((0.0..=1.0).contains(&self.gamma), "gamma", self.gamma, "between 0 and 1")
    }
}

impl CreditRule for ReinforcePlusPlus {
    fn discount(&self) -> f64 {
        self.gamma
    }

    fn properties(&self) -> Properties {
        Properties { zero_sum: ZeroSum::Batch, ..Properties::by_token() }
    }

    fn assign(&self, batch: &CreditBatch<'_>) -> Result<Credit, CreditError> {
        let mut flat = Flat::of(batch.groups)?;
        let mut advantages = vec![0.0; flat.len()];
        let moments = whitened_returns(&flat.rows()?, &flat.rewards, self.gamma, &mut advantages)?;
        let notes = flat.notes(|paid, _| {
            let discounted =
                format!("return of a token = its reward + {} · the return of the next", self.gamma);
            [paid_line(paid), discounted, whitening_line("return", &moments)]
        });
        for at in 0..flat.samples.len() {
            flat.samples[at].advantages = Some(flat.cut(&advantages, at));
        }
        Ok(Credit::new(batch.groups, flat.samples, notes))
    }
}

/// How a stream was whitened over the batch, in words.
pub(super) fn whitening_line(what: &str, batch: &Moments) -> String {
    let (Moments { count, mean, .. }, variance) = (batch, batch.variance());
    if batch.constant() {
        return format!(
            "the {what}s of the batch ({count} tokens) are all {mean}, so that every advantage is 0"
        );
    }
    format!(
        "advantage = ({what} − {mean}) / sqrt({variance} + {VARIANCE_EPSILON}), over {count} tokens of the batch"
    )
}
