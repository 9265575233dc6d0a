//! A policy that does not change any more: packed once, asked for log-probabilities ever after.

use crate::packed::PackedWeights;
use crate::pass::score_packed;
use merit_api::trainer::{Reference, TrainError, TrainSequence};
use merit_kernels::Workers;
use std::sync::Arc;

/// The reference of a KL penalty or of a preference loss.
#[derive(Debug, Clone)]
pub struct FrozenPolicy {
    weights: Arc<PackedWeights>,
    workers: Workers,
}

impl FrozenPolicy {
    /// A reference over packed weights, which may be shared.
    pub fn new(weights: Arc<PackedWeights>, workers: Workers) -> Self {
        Self { weights, workers }
    }
}

impl Reference for FrozenPolicy {
    fn logprobs(
        &self,
        sequences: &[TrainSequence<'_>],
        temperature: f32,
    ) -> Result<Vec<Vec<f32>>, TrainError> {
        let scores = score_packed(&self.weights, sequences, temperature, &self.workers)?;
        Ok(scores.into_iter().map(|scores| scores.logprobs).collect())
    }
}
