//! What a sample must have before it may enter a loss. Every refusal names the episode and what to do.

use crate::{LearnError, Objective};
use merit_core::Sample;

/// One reference per sample; present where the objective needs it.
pub(crate) fn references(
    samples: &[Sample],
    reference: Option<&[Vec<f32>]>,
    objective: &Objective,
) -> Result<(), LearnError> {
    match reference {
        Some(streams) if streams.len() != samples.len() => {
            Err(LearnError::References { got: streams.len(), want: samples.len() })
        }
        None if matches!(objective, Objective::PolicyGradient(pg) if pg.kl.is_some()) => {
            Err(LearnError::NoReference)
        }
        _ => Ok(()),
    }
}

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

/// Everything the objective reads of a sample with trained tokens.
pub(crate) fn sample(
    sample: &Sample,
    mask: &[bool],
    reference: Option<&[f32]>,
    objective: &Objective,
) -> Result<(), LearnError> {
    let name = || format!("episode {}", sample.episode);
    context(&name, mask)?;
    let check = |label, values: &[f32]| stream(&name, label, values, mask);
    check("logprobs", &sample.logprobs)?;
    sample.advantages.as_ref().map_or(Ok(()), |a| check("advantages", a))?;
    reference.map_or(Ok(()), |r| check("reference", r))?;
    let Objective::PolicyGradient(config) = objective else { return Ok(()) };
    let episode = || sample.episode.clone();
    if !sample.on_policy {
        return Err(LearnError::OffPolicy { episode: episode() });
    }
    if sample.advantages.is_none() {
        let wanted_by = "objective `policy-gradient`";
        return Err(LearnError::NoAdvantages { episode: episode(), wanted_by });
    }
    let Some(value) = &config.value else { return Ok(()) };
    let missing = |what| LearnError::NoValues { episode: episode(), what };
    check("returns", sample.returns.as_ref().ok_or_else(|| missing("returns"))?)?;
    if value.clip.is_some() && sample.values.is_empty() {
        return Err(missing("values from when its tokens were chosen"));
    }
    if sample.values.is_empty() { Ok(()) } else { check("values", &sample.values) }
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

fn stream(
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
