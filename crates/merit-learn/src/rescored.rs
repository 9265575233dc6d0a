//! Log-probabilities of tokens that were put where they stand after they were sampled elsewhere.
//!
//! In: samples of which some have spliced tokens. Out: the same samples with what the policy that is about to change says of those
//! tokens where they stand now. So ratios begin at 1, as if the policy had said them there.

use merit_api::trainer::{TrainError, TrainSequence, Trainer};
use merit_core::Sample;

/// `samples` with spliced tokens scored again. Absent: there are none. An error names the place in `samples`.
pub(crate) fn with_logprobs_in_place(
    samples: &[Sample],
    trainer: &mut dyn Trainer,
    temperature: f32,
) -> Result<Option<Vec<Sample>>, TrainError> {
    let asked: Vec<usize> = (0..samples.len()).filter(|&at| !samples[at].spliced.is_empty()).collect();
    if asked.is_empty() {
        return Ok(None);
    }
    let needed: Vec<Vec<bool>> = asked.iter().map(|&at| needed(&samples[at])).collect();
    let each = asked.iter().zip(&needed);
    let sequences: Vec<TrainSequence<'_>> = each
        .map(|(&at, needed)| TrainSequence { tokens: &samples[at].tokens[..needed.len()], needed })
        .collect();
    let scores = trainer.score(&sequences, temperature).map_err(|error| match error {
        TrainError::Sequence { index, reason } => TrainError::Sequence { index: asked[index], reason },
        other => other,
    })?;
    let mut rescored = samples.to_vec();
    for (&at, scores) in asked.iter().zip(&scores) {
        let sample = &mut rescored[at];
        for range in std::mem::take(&mut sample.spliced) {
            sample.logprobs[range.clone()].copy_from_slice(&scores.logprobs[range]);
        }
        sample.on_policy = true;
    }
    Ok(Some(rescored))
}

/// True on the spliced tokens, as long as they are read.
fn needed(sample: &Sample) -> Vec<bool> {
    let end = sample.spliced.iter().map(|range| range.end).max().unwrap_or(0);
    (0..end).map(|at| sample.spliced.iter().any(|range| range.contains(&at))).collect()
}
