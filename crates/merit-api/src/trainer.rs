//! What turns coefficients into new weights: the seam between the learner and a model under training.
//!
//! The learner hands over token sequences. A [`Trainer`] says how likely each token is, asks for the derivative of the loss
//! with respect to what it said, and steps. The embedded decoder of merit-model implements it; a test may bring numbers of its
//! own. A [`Reference`] is a policy that does not change and is only asked for log-probabilities.

use merit_core::TokenId;
use serde::{Deserialize, Serialize};

/// One sequence to be scored or trained on.
#[derive(Debug, Clone, Copy)]
pub struct TrainSequence<'a> {
    /// The whole sequence; at most the model's context.
    pub tokens: &'a [TokenId],
    /// As long as `tokens`; true at the positions (from 1 on) whose log-probability is needed.
    pub needed: &'a [bool],
}

/// What the model says of one sequence; all streams are aligned to its tokens and 0 where nothing was needed.
#[derive(Debug, Clone, Copy)]
pub struct SequenceOutputs<'a> {
    /// The sequence's place in the batch.
    pub index: usize,
    /// `log p(tokens[t] | tokens[..t])` at the temperature asked for.
    pub logprobs: &'a [f32],
    /// Entropy of the distribution that token t was drawn from, in nats, at the same temperature.
    pub entropy: &'a [f32],
    /// Value before token t is chosen; empty without a value head.
    pub values: &'a [f32],
}

/// The outputs of one sequence, kept.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SequenceScores {
    /// As in [`SequenceOutputs`].
    pub logprobs: Vec<f32>,
    /// As in [`SequenceOutputs`].
    pub entropy: Vec<f32>,
    /// As in [`SequenceOutputs`].
    pub values: Vec<f32>,
}

impl SequenceScores {
    /// The same, borrowed, as the outputs of the sequence at `index`.
    pub fn outputs(&self, index: usize) -> SequenceOutputs<'_> {
        SequenceOutputs { index, logprobs: &self.logprobs, entropy: &self.entropy, values: &self.values }
    }
}

/// The derivative of the loss with respect to each output; an empty stream is all zeros.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Coefficients {
    /// `dLoss / dlogprobs[t]`
    pub logprob: Vec<f32>,
    /// `dLoss / dentropy[t]`
    pub entropy: Vec<f32>,
    /// `dLoss / dvalues[t]`; ignored without a value head.
    pub value: Vec<f32>,
}

/// The numbers of an AdamW step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AdamWSettings {
    /// Learning rate of this update.
    pub lr: f32,
    /// Decay of the mean gradient.
    pub beta1: f32,
    /// Decay of the mean squared gradient.
    pub beta2: f32,
    /// Added to the root of the mean squared gradient.
    pub eps: f32,
    /// Decay of matrices per step, times the learning rate; gains and biases do not decay.
    pub weight_decay: f32,
    /// Longest gradient that is used as it is; a longer one is shortened to this. Absent: never.
    pub clip_norm: Option<f32>,
}

impl Default for AdamWSettings {
    fn default() -> Self {
        Self { lr: 1e-3, beta1: 0.9, beta2: 0.95, eps: 1e-8, weight_decay: 0.0, clip_norm: Some(1.0) }
    }
}

/// The gradient's size in one update, and whether it was shortened.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UpdateStats {
    /// Norm of the gradient before clipping.
    pub grad_norm: f64,
    /// Whether the gradient was longer than `clip_norm` and was scaled down to it.
    pub clipped: bool,
}

/// Why a batch could not be read, or a step could not be taken.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum TrainError {
    /// A sequence that the model cannot read.
    #[error("sequence {index}: {reason}")]
    Sequence { index: usize, reason: String },
    /// The gradient overflowed or is undefined; the weights were left as they were.
    #[error("the gradient is not finite (norm {norm}); the weights were not changed")]
    NonFiniteGradient { norm: f64 },
    /// Whatever else the model says.
    #[error(transparent)]
    Other(Box<dyn std::error::Error + Send + Sync>),
}

/// The function that turns the outputs of one sequence into the derivative of the loss with respect to them. A trainer calls
/// it once per sequence, from any thread.
pub type CoefficientsOf<'a> = dyn Fn(&SequenceOutputs<'_>) -> Coefficients + Sync + 'a;

/// A model under training.
pub trait Trainer {
    /// Whether it estimates values beside log-probabilities.
    fn has_values(&self) -> bool;

    /// Most tokens of a sequence.
    fn context_limit(&self) -> usize;

    /// Log-probabilities, entropies and values under the present weights, one entry per sequence.
    fn score(
        &mut self,
        sequences: &[TrainSequence<'_>],
        temperature: f32,
    ) -> Result<Vec<SequenceScores>, TrainError>;

    /// Reads all sequences, asks for the coefficients of each, and adds the gradient of their sum to what is accumulated.
    fn accumulate(
        &mut self,
        sequences: &[TrainSequence<'_>],
        temperature: f32,
        coefficients: &CoefficientsOf<'_>,
    ) -> Result<(), TrainError>;

    /// Forgets the accumulated gradient.
    fn clear_gradients(&mut self);

    /// One step with the accumulated gradient, which is then forgotten. A gradient that is not finite changes nothing but is
    /// forgotten too.
    fn apply(&mut self, adamw: &AdamWSettings) -> Result<UpdateStats, TrainError>;
}

/// A policy that does not change: what a KL penalty or a preference loss is measured against.
pub trait Reference {
    /// Log-probabilities of the needed tokens of each sequence, one stream per sequence, aligned to its tokens and 0 where
    /// nothing was needed.
    fn logprobs(
        &self,
        sequences: &[TrainSequence<'_>],
        temperature: f32,
    ) -> Result<Vec<Vec<f32>>, TrainError>;
}
