//! The ablation that trains what tools and the world said as if the policy had said it.
//!
//! In: samples with what their credit rule wrote. Out: the same samples with the answers inside their mask. The policy did not sample those
//! tokens, so their old log-probabilities are what the policy that is about to change says of them; their credit is that of the
//! token which the policy chose last. What follows the policy's last token stays out.

use crate::batch::read_length;
use merit_api::trainer::{TrainError, TrainSequence, Trainer};
use merit_core::Sample;

/// `samples` with their observations trained too. An error names the place in `samples`.
pub(crate) fn with_observations(
    samples: &[Sample],
    trainer: &mut dyn Trainer,
    temperature: f32,
) -> Result<Vec<Sample>, TrainError> {
    let needed: Vec<Vec<bool>> = samples.iter().map(answers).collect();
    let asked: Vec<usize> = (0..samples.len()).filter(|&at| needed[at].contains(&true)).collect();
    let sequence =
        |&at: &usize| TrainSequence { tokens: &samples[at].tokens[..needed[at].len()], needed: &needed[at] };
    let sequences: Vec<TrainSequence<'_>> = asked.iter().map(sequence).collect();
    let scores = trainer.score(&sequences, temperature).map_err(|error| match error {
        TrainError::Sequence { index, reason } => TrainError::Sequence { index: asked[index], reason },
        other => other,
    })?;
    let mut widened = samples.to_vec();
    for (&at, scores) in asked.iter().zip(&scores) {
        widen(&mut widened[at], &needed[at], &scores.logprobs);
    }
    Ok(widened)
}

/// True on the answers before the policy's last token, as long as that is read; empty where nothing is trained.
fn answers(sample: &Sample) -> Vec<bool> {
    let read = read_length(&sample.mask);
    sample.observed.iter().take(read).zip(&sample.mask).map(|(&observed, &own)| observed && !own).collect()
}

fn widen(sample: &mut Sample, answers: &[bool], logprobs: &[f32]) {
    for at in (1..answers.len()).filter(|&at| answers[at]) {
        sample.mask[at] = true;
        sample.logprobs[at] = logprobs[at];
        let streams = [sample.advantages.as_mut(), sample.returns.as_mut(), Some(&mut sample.values)];
        for stream in streams.into_iter().flatten().filter(|stream| !stream.is_empty()) {
            stream[at] = stream[at - 1];
        }
    }
}
