//! How far the policy has come from where its learning began.

use crate::RunError;
use crate::driver::Drive;
use crate::parts::Parts;
use merit_api::trainer::{Reference as _, TrainSequence};
use merit_core::Sample;
use merit_core::stats::mean;
use merit_learn::{Estimator, LearnError};

/// Samples of a step that are asked about.
const ASKED: usize = 64;
/// A larger model is not kept a second time only to measure: it is made for the moment and let go.
const MOST_KEPT: usize = 20_000_000;
/// A larger model is not held twice at all.
const MOST_PARAMETERS: usize = 1_000_000_000;

/// KL of the present policy to the one its learning began with, in nats a token: a k3 estimate on what was sampled in this step. It is
/// measured where held-out tasks are, and at the last step. Absent: not at this one, or the model is large.
pub(crate) fn kl(
    drive: &mut Drive<'_>,
    parts: &Parts,
    samples: &[Sample],
    local: u64,
) -> Result<Option<f64>, RunError> {
    let (every, done) = (parts.recipe.evaluation.every, local + 1);
    let due = done == parts.recipe.budget.steps || (every > 0 && done.is_multiple_of(every));
    if !due || drive.policy.parameters() > MOST_PARAMETERS {
        return Ok(None);
    }
    let own = samples.iter().filter(|sample| sample.on_policy && sample.mask.iter().any(|chosen| *chosen));
    let read = |sample: &Sample| match sample.window {
        None => vec![sample.clone()],
        Some(_) => sample.turns_in_sight().into_iter().map(|(turn, _)| turn).collect(),
    };
    let own: Vec<Sample> = own.take(ASKED).flat_map(read).collect();
    // What follows the last token that the policy chose is not read, and may not fit the context.
    let end = |one: &Sample| one.mask.iter().rposition(|chosen| *chosen).map_or(0, |last| last + 1);
    let sequences: Vec<TrainSequence<'_>> = own
        .iter()
        .map(|one| TrainSequence { tokens: &one.tokens[..end(one)], needed: &one.mask[..end(one)] })
        .collect();
    let reference = drive.policy.reference()?;
    let then = reference.logprobs(&sequences, parts.recipe.rollout.temperature);
    let then = then.map_err(|source| LearnError::Model { step: local, source })?;
    if drive.policy.parameters() > MOST_KEPT && !parts.recipe.learn.objective.needs().reference {
        drive.policy.forget_reference();
    }
    let mut tokens = Vec::new();
    for (sample, then) in own.iter().zip(&then) {
        let chosen = sample.mask.iter().zip(sample.logprobs.iter().zip(then)).filter(|(chosen, _)| **chosen);
        tokens
            .extend(chosen.map(|(_, (now, then))| Estimator::K3.estimate(f64::from(*now), f64::from(*then))));
    }
    Ok(mean(&tokens).filter(|kl| kl.is_finite()))
}
