//! Group-whitened: the reward less the group's mean, whitened over the whole batch.

use super::reinforce_plus_plus::whitening_line;
use crate::credit::short;
use crate::flat::Flat;
use crate::kernels::{Moments, group_advantages, mean, spread};
use crate::{Credit, CreditBatch, CreditError, CreditRule, Properties, ZeroSum};
use merit_core::{About, Component};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `x = r − mean` over the valid members of the group, then `(x − mean) / sqrt(var + 1e-8)` with mean and unbiased variance over all
/// trainable tokens of the batch. The group takes the difficulty of the task off, the batch the scale: a group whose members
/// hardly differ is not blown up, as GRPO's own standard deviation would.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GroupWhitened {}

impl Component for GroupWhitened {
    const ABOUT: About = About {
        name: "group-whitened",
        summary: "The reward less the group's mean, whitened over the whole batch (REINFORCE++ with a group baseline).",
        paper: "Hu, REINFORCE++, arXiv:2501.03262; UR2: Unify RAG and Reasoning through Reinforcement Learning (2025)",
    };
}

impl CreditRule for GroupWhitened {
    fn properties(&self) -> Properties {
        Properties { zero_sum: ZeroSum::Batch, ..Properties::by_episode() }
    }

    fn assign(&self, batch: &CreditBatch<'_>) -> Result<Credit, CreditError> {
        let mut flat = Flat::of(batch.groups)?;
        let rewards: Vec<Option<f64>> = flat.episodes.iter().map(|scored| scored.reward()).collect();
        let groups: Vec<u32> = flat.samples.iter().map(|sample| sample.group as u32).collect();
        let mut advantages = vec![0.0; flat.len()];
        let compared = group_advantages(&flat.rows()?, &rewards, &groups, mean, &mut advantages)?;
        let tokens = compared.per_row.iter().zip(&flat.samples);
        let tokens: Vec<f64> =
            tokens.flat_map(|(x, sample)| std::iter::repeat_n(*x, sample.trainable())).collect();
        let moments = Moments::of(&tokens);
        let whitener = moments.whitener();
        let whitened: Vec<f64> = compared.per_row.iter().map(|x| f64::from(whitener.of(*x))).collect();
        spread(&flat.rows()?, &whitened, &mut advantages)?;
        let notes = flat.notes(|_, at| {
            let [reward, mean, x] =
                [rewards[at].unwrap_or(0.0), compared.stats[&groups[at]].mean, compared.per_row[at]]
                    .map(short);
            let difference = format!("difference = reward {reward} − group mean {mean} = {x}");
            let whitened = format!("advantage of each trainable token = {}", short(whitened[at]));
            [difference, whitening_line("difference", &moments), whitened]
        });
        for at in 0..flat.samples.len() {
            flat.samples[at].advantages = Some(flat.cut(&advantages, at));
        }
        Ok(Credit::new(batch.groups, flat.samples, notes))
    }
}
