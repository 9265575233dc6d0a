//! What a frozen policy would have said: the log-probabilities that a KL penalty is taken to.

use crate::batch::read_length;
use merit_core::Sample;
use merit_model::{ModelError, ReadyWeights, SequenceScores, TrainSequence, Workers, score_ready};

/// Log-probabilities of `samples` under `weights`, one stream per sample and one number per token, 0 outside the mask.
pub fn reference_logprobs(
    weights: &ReadyWeights,
    samples: &[Sample],
    temperature: f32,
    workers: &Workers,
) -> Result<Vec<Vec<f32>>, ModelError> {
    let cut = |s: &Sample| read_length(&s.mask);
    let sequences: Vec<TrainSequence<'_>> = samples
        .iter()
        .map(|s| TrainSequence { tokens: &s.tokens[..cut(s)], needed: &s.mask[..cut(s)] })
        .collect();
    let scores = score_ready(weights, &sequences, temperature, workers)?;
    let whole = |(scores, sample): (SequenceScores, &Sample)| {
        let mut logprobs = scores.logprobs;
        logprobs.resize(sample.tokens.len(), 0.0);
        logprobs
    };
    Ok(scores.into_iter().zip(samples).map(whole).collect())
}
