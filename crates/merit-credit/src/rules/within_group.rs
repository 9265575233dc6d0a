//! What the rules share that compare an episode with its group: statistics of the counting members, one number per
//! episode, written on each of its trainable tokens.

use crate::credit::samples_of;
use crate::kernels::{GroupNorm, GroupStats};
use crate::{Credit, CreditError, Derivation};
use merit_core::{Group, Sample};

pub(crate) fn assign(groups: &[Group], norm: GroupNorm) -> Result<Credit, CreditError> {
    let stats: Vec<GroupStats> = groups.iter().map(|g| GroupStats::of(&g.rewards())).collect();
    let (mut samples, mut derivations) = (Vec::new(), Vec::new());
    for (scored, mut sample) in samples_of(groups)? {
        let stats = stats[sample.group];
        let (advantage, derivation) = match scored.reward() {
            Some(reward) => (stats.advantage(reward, norm), Derivation::Group { reward, stats, norm }),
            None => (0.0, Derivation::Excluded(scored.outcome())),
        };
        sample.advantages = Some(on_trainable(&sample, advantage));
        samples.push(sample);
        derivations.push(derivation);
    }
    Ok(Credit::new(groups, samples, derivations))
}

fn on_trainable(sample: &Sample, advantage: f64) -> Vec<f32> {
    sample.mask.iter().map(|&m| if m { advantage as f32 } else { 0.0 }).collect()
}
