//! What a sample must have before it may enter a loss. Every refusal names the episode and what to do.

use crate::{LearnConfig, LearnError};
use merit_core::Sample;

/// Mask and weight of a sample, without which nothing else can be said of it.
pub(crate) fn aligned(sample: &Sample) -> Result<(), LearnError> {
    let name = || format!("episode {}", sample.episode);
    length(&name, "mask", sample.mask.len(), sample.tokens.len())?;
    weight(&name, sample.weight)
}

pub(crate) fn weight(name: &impl Fn() -> String, weight: f32) -> Result<(), LearnError> {
    let sound = weight.is_finite() && weight >= 0.0;
    if sound { Ok(()) } else { Err(LearnError::Weight { sample: name(), weight }) }
}

/// Everything the objective declares that it needs of a sample with trained tokens, and that what else there is can be read.
pub(crate) fn sample(sample: &Sample, mask: &[bool], config: &LearnConfig) -> Result<(), LearnError> {
    let name = || format!("episode {}", sample.episode);
    context(&name, mask)?;
    let check = |label, values: &[f32]| stream(&name, label, values, mask);
    check("logprobs", &sample.logprobs)?;
    sample.advantages.as_ref().map_or(Ok(()), |a| check("advantages", a))?;
    let (objective, needs) = (config.objective.about().name, config.objective.needs());
    let episode = || sample.episode.clone();
    if (needs.on_policy || needs.old_logprobs) && !needs.guests && !sample.on_policy {
        return Err(LearnError::OffPolicy { episode: episode() });
    }
    if needs.advantages && sample.advantages.is_none() {
        let wanted_by = format!("objective `{objective}`");
        return Err(LearnError::NoAdvantages { episode: episode(), wanted_by });
    }
    if (needs.reward || needs.group_reward) && !sample.reward.is_some_and(f64::is_finite) {
        return Err(LearnError::NoReward { episode: episode(), objective });
    }
    let missing = |what| LearnError::NoValues { objective, episode: episode(), what };
    if needs.returns {
        check("returns", sample.returns.as_ref().ok_or_else(|| missing("returns"))?)?;
    }
    if needs.old_values && sample.values.is_empty() {
        return Err(missing("values from when its tokens were chosen"));
    }
    if needs.values && !sample.values.is_empty() { check("values", &sample.values) } else { Ok(()) }
}

/// The first token cannot be predicted.
pub(crate) fn context(name: &impl Fn() -> String, mask: &[bool]) -> Result<(), LearnError> {
    if mask.first() == Some(&true) { Err(LearnError::NoContext { sample: name() }) } else { Ok(()) }
}

pub(crate) fn length(
    name: &impl Fn() -> String,
    stream: &'static str,
    got: usize,
    want: usize,
) -> Result<(), LearnError> {
    if got == want { Ok(()) } else { Err(LearnError::Length { sample: name(), stream, got, want }) }
}

/// One finite number per trained token.
pub(crate) fn stream(
    name: &impl Fn() -> String,
    stream: &'static str,
    values: &[f32],
    mask: &[bool],
) -> Result<(), LearnError> {
    length(name, stream, values.len(), mask.len())?;
    match values.iter().zip(mask).position(|(v, &m)| m && !v.is_finite()) {
        Some(at) => Err(LearnError::NotFinite { sample: name(), stream, at, value: values[at] }),
        None => Ok(()),
    }
}
