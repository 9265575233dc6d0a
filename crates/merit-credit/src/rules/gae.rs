//! GAE: each token is judged against the value head's estimate (formulas in [`crate::kernels::gae`]).
//!
//! Needs a value for every trainable token and, for a truncated episode, the value of the state where it was cut: truncation
//! ends the sum but keeps the bootstrap, because the world went on and we stopped looking. Fills `returns`, the targets of the
//! value head, from the advantages before whitening.

use super::flat::Flat;
use crate::config::RuleEntry;
use crate::kernels::{self, Discount, Valued};
use crate::{Baseline, Credit, CreditConfig, CreditError, Derivation, Rule};
use merit_core::{About, End, Group, Sample, ScoredEpisode};
use serde::{Deserialize, Serialize};

pub(crate) const GAE: RuleEntry = RuleEntry {
    about: About {
        name: "gae",
        summary: "Generalized advantage estimates from a value head; truncation keeps its bootstrap.",
        paper: "Schulman et al., High-Dimensional Continuous Control, arXiv:1506.02438",
    },
    example: "type = \"gae\"\ngamma = 1.0\nlambda = 0.95\nwhiten = true\n",
    default: || CreditConfig::Gae(GaeConfig::default()),
};

/// `gae`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GaeConfig {
    /// Discount per trainable token, in [0, 1].
    pub gamma: f64,
    /// How far the estimate looks ahead, in [0, 1]: 0 trusts the value head, 1 the rewards.
    pub lambda: f64,
    /// Give the advantages mean 0 and variance 1 over the trainable tokens of the batch.
    pub whiten: bool,
}

impl Default for GaeConfig {
    fn default() -> Self {
        Self { gamma: 1.0, lambda: 0.95, whiten: true }
    }
}

impl Rule for GaeConfig {
    fn about(&self) -> About {
        GAE.about
    }

    fn discount(&self) -> f64 {
        self.gamma
    }

    fn needs_values(&self) -> bool {
        true
    }

    fn baseline(&self) -> Baseline {
        if self.whiten { Baseline::Batch } else { Baseline::Value }
    }

    fn assign(&self, groups: &[Group]) -> Result<Credit, CreditError> {
        let mut flat = Flat::of(groups)?;
        let (values, last_values) = values_of(&flat)?;
        let discount = Discount { gamma: self.gamma, lambda: self.lambda };
        let (mut advantages, mut returns) = (vec![0.0; flat.len()], vec![0.0; flat.len()]);
        let input = Valued { rewards: &flat.rewards, values: &values, last_values: &last_values };
        let rows = flat.rows()?;
        let batch = if self.whiten {
            Some(kernels::gae_whitened(&rows, input, discount, &mut advantages, &mut returns)?)
        } else {
            kernels::gae(&rows, input, discount, &mut advantages, &mut returns)?;
            None
        };
        let mut derivations = Vec::with_capacity(flat.samples.len());
        for (at, &last_value) in last_values.iter().enumerate() {
            flat.samples[at].advantages = Some(flat.cut(&advantages, at));
            flat.samples[at].returns = Some(flat.cut(&returns, at));
            let payments = std::mem::take(&mut flat.payments[at]);
            let outcome = flat.episodes[at].outcome();
            derivations.push(if outcome.counts() {
                Derivation::Values { payments, discount, last_value, batch }
            } else {
                Derivation::Excluded(outcome)
            });
        }
        Ok(Credit::new(groups, flat.samples, derivations))
    }
}

/// The values of the whole batch, one per token, and the value after each row.
fn values_of(flat: &Flat<'_>) -> Result<(Vec<f32>, Vec<f64>), CreditError> {
    let mut values = Vec::with_capacity(flat.len());
    let mut last_values = Vec::with_capacity(flat.samples.len());
    for (scored, sample) in flat.episodes.iter().zip(&flat.samples) {
        if sample.trainable() == 0 {
            values.resize(values.len() + sample.tokens.len(), 0.0);
            last_values.push(0.0);
            continue;
        }
        check_values(scored, sample)?;
        values.extend_from_slice(&sample.values);
        last_values.push(last_value(scored)?);
    }
    Ok((values, last_values))
}

fn check_values(scored: &ScoredEpisode, sample: &Sample) -> Result<(), CreditError> {
    let mut segments = scored.episode.transcript.segments().iter();
    let episode = scored.episode.id.clone();
    if let Some(bare) = segments.find(|s| s.role.trainable() && !s.tokens.is_empty() && s.values.is_empty()) {
        return Err(CreditError::MissingValues { rule: GAE.about.name, episode, turn: bare.turn });
    }
    match sample.values.iter().find(|v| !v.is_finite()) {
        Some(&value) => Err(CreditError::NotFinite { episode, what: "value", value: f64::from(value) }),
        None => Ok(()),
    }
}

fn last_value(scored: &ScoredEpisode) -> Result<f64, CreditError> {
    let id = || scored.episode.id.clone();
    match (&scored.episode.end, scored.episode.bootstrap) {
        (End::Truncated { .. } | End::Unknown, None) => {
            Err(CreditError::MissingBootstrap { rule: GAE.about.name, episode: id() })
        }
        (End::Truncated { .. } | End::Unknown, Some(value)) if !value.is_finite() => {
            Err(CreditError::NotFinite { episode: id(), what: "bootstrap value", value: f64::from(value) })
        }
        (End::Truncated { .. } | End::Unknown, Some(value)) => Ok(f64::from(value)),
        (End::Answered | End::EnvironmentDone | End::Failed { .. }, _) => Ok(0.0),
    }
}
