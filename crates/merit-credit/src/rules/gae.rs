//! GAE: each token is judged against the value head's estimate.

use super::reinforce_plus_plus::whitening_line;
use crate::flat::Flat;
use crate::kernels::{self, Discount, Valued};
use crate::token_rewards::paid_line;
use crate::{Credit, CreditBatch, CreditError, CreditRule, Differs, Needs, Properties, ZeroSum};
use merit_core::{About, Component, End, Refusal, Sample, ScoredEpisode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Generalized advantage estimates (formulas in [`crate::kernels::gae`]).
///
/// Needs a value for every trainable token and, for a truncated episode, the value of the state where it was cut: truncation
/// ends the sum but keeps the bootstrap, because the world went on and we stopped looking. Fills `returns`, the targets of the
/// value head, from the advantages before whitening.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Gae {
    /// Discount per trainable token, in [0, 1].
    pub gamma: f64,
    /// How far the estimate looks ahead, in [0, 1]: 0 trusts the value head, 1 the rewards.
    pub lambda: f64,
    /// Give the advantages mean 0 and variance 1 over the trainable tokens of the batch.
    pub whiten: bool,
}

impl Default for Gae {
    fn default() -> Self {
        Self { gamma: 1.0, lambda: 0.95, whiten: true }
    }
}

impl Component for Gae {
    const ABOUT: About = About {
        name: "gae",
        summary: "Generalized advantage estimates from a value head; truncation keeps its bootstrap.",
        paper: "Schulman et al., High-Dimensional Continuous Control, arXiv:1506.02438",
    };
    const EXAMPLE: &'static str = "gamma = 1.0\nlambda = 0.95\nwhiten = true\n";

    fn check(&self) -> Result<(), Refusal> {
        Refusal::unless((0.0..=1.0).contains(&self.gamma), "gamma", self.gamma, "between 0 and 1")?;
        Refusal::unless((0.0..=1.0).contains(&self.lambda), "lambda", self.lambda, "between 0 and 1")
    }
}

impl CreditRule for Gae {
    fn discount(&self) -> f64 {
        self.gamma
    }

    fn needs(&self) -> Needs {
        Needs { values: true, ..Needs::default() }
    }

    fn properties(&self) -> Properties {
        let zero_sum = if self.whiten { ZeroSum::Batch } else { ZeroSum::Nothing };
        Properties { zero_sum, learns_from: &[Differs::Rewards, Differs::Values], ..Properties::by_token() }
    }

    fn assign(&self, batch: &CreditBatch<'_>) -> Result<Credit, CreditError> {
        let mut flat = Flat::of(batch.groups)?;
        let (values, last_values) = values_of(&flat)?;
        let discount = Discount { gamma: self.gamma, lambda: self.lambda };
        let (mut advantages, mut returns) = (vec![0.0; flat.len()], vec![0.0; flat.len()]);
        let input = Valued { rewards: &flat.rewards, values: &values, last_values: &last_values };
        let rows = flat.rows()?;
        let moments = if self.whiten {
            Some(kernels::gae_whitened(&rows, input, discount, &mut advantages, &mut returns)?)
        } else {
            kernels::gae(&rows, input, discount, &mut advantages, &mut returns)?;
            None
        };
        let notes = flat.notes(|paid, at| {
            let whitened = moments.as_ref().map(|moments| whitening_line("advantage", moments));
            let (gamma, lambda, last) = (self.gamma, self.lambda, last_values[at]);
            [
                paid_line(paid),
                format!("gamma {gamma}, lambda {lambda}, value after the last token {last}"),
                whitened.unwrap_or_else(|| "not whitened".to_owned()),
            ]
        });
        for at in 0..flat.samples.len() {
            flat.samples[at].advantages = Some(flat.cut(&advantages, at));
            flat.samples[at].returns = Some(flat.cut(&returns, at));
        }
        Ok(Credit::new(batch.groups, flat.samples, notes))
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
        return Err(CreditError::MissingValues { rule: Gae::ABOUT.name, episode, turn: bare.turn });
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
            Err(CreditError::MissingBootstrap { rule: Gae::ABOUT.name, episode: id() })
        }
        (End::Truncated { .. } | End::Unknown, Some(value)) if !value.is_finite() => {
            Err(CreditError::NotFinite { episode: id(), what: "bootstrap value", value: f64::from(value) })
        }
        (End::Truncated { .. } | End::Unknown, Some(value)) => Ok(f64::from(value)),
        (End::Answered | End::EnvironmentDone | End::Left | End::Failed { .. }, _) => Ok(0.0),
    }
}
