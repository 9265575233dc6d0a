//! What can go wrong between samples and new weights, with the episode that is to blame.

use crate::Undeclared;
use merit_api::trainer::TrainError;
use merit_core::EpisodeId;

/// A batch, a recipe or an update that cannot be.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LearnError {
    /// A setting that cannot work.
    #[error("learn: `{key}` {why}")]
    Config {
        key: &'static str,
        /// What is wrong and what to write instead.
        why: String,
    },
    /// A stream that does not match the tokens.
    #[error("{sample}: `{stream}` has {got} entries but the sample has {want} tokens")]
    Length { sample: String, stream: &'static str, got: usize, want: usize },
    #[error("{sample}: `{stream}` is {value} at token {at}; every trained token needs a finite number")]
    NotFinite { sample: String, stream: &'static str, at: usize, value: f32 },
    /// A weight below 0 or not finite.
    #[error("{sample}: the weight is {weight}; it must be finite and at least 0 (0 leaves the sample out)")]
    Weight { sample: String, weight: f32 },
    /// Samples that were read through a window, and something that reads them as a whole.
    #[error("episode {episode} was sampled through `rollout.window`, and {why}; leave the window out")]
    Windowed { episode: EpisodeId, why: String },
    /// The very first token is to be trained.
    #[error("{sample}: token 0 is trainable, but nothing comes before it that it could be predicted from")]
    NoContext { sample: String },
    #[error("episode {episode} has no advantages, which {wanted_by} needs; run a credit rule first")]
    NoAdvantages {
        episode: EpisodeId,
        /// The objective or selector that asks for them.
        wanted_by: String,
    },
    /// Tokens that the policy did not sample, in a loss that assumes it did.
    #[error(
        "episode {episode} holds trainable tokens its policy did not sample (spliced, guided, imported or synthetic); recompute its log-probabilities or use an off-policy objective such as `sft`"
    )]
    OffPolicy { episode: EpisodeId },
    /// An objective that needs a reference, without one.
    #[error(
        "objective `{objective}` needs the log-probabilities of a reference policy, and none was given; hand one to the update"
    )]
    NoReference { objective: &'static str },
    /// No reward, in a loss that compares rewards.
    #[error("episode {episode} has no reward, which objective `{objective}` needs; score it first")]
    NoReward { episode: EpisodeId, objective: &'static str },
    /// An objective that read what it had not declared.
    #[error("objective `{objective}` {source}")]
    Undeclared { objective: &'static str, source: Undeclared },
    /// Units that overlap or name samples that do not exist.
    #[error(
        "objective `{objective}` puts sample {at} of {samples} into a unit, which does not exist or is in a unit already; units are disjoint"
    )]
    Units { objective: &'static str, at: usize, samples: usize },
    /// What an objective reads, where a caller brings it.
    #[error("objective `{objective}` needs `{stream}`, which was not given")]
    NotGiven { objective: &'static str, stream: &'static str },
    /// A loss that overflowed or is undefined, where nothing is updated.
    #[error("{sample}: the loss is not finite at token {at} ({why})")]
    BadLoss {
        sample: String,
        at: usize,
        /// The numbers that went in.
        why: String,
    },
    /// A value loss without targets.
    #[error(
        "episode {episode} has no {what}, which objective `{objective}` needs for its value loss; use a credit rule that fits values and a policy with a value head, or drop `objective.value`"
    )]
    NoValues { objective: &'static str, episode: EpisodeId, what: &'static str },
    /// A value loss on a policy that has no values.
    #[error(
        "`objective.value` needs a policy with a value head; set `value_head = true` in its shape, or drop `objective.value`"
    )]
    NoValueHead,
    /// A loss that overflowed or is undefined; the optimiser step it belongs to was not taken.
    #[error(
        "step {step}: the loss of {sample} is not finite at token {at} ({why}); {}",
        untouched(.taken)
    )]
    NonFiniteLoss {
        step: u64,
        sample: String,
        at: usize,
        /// The numbers that went in.
        why: String,
        /// Optimiser steps of this update that had been taken before.
        taken: usize,
    },
    /// A gradient that overflowed or is undefined; the optimiser step it belongs to was not taken.
    #[error(
        "step {step}: the gradient is not finite; {sample} pushed hardest (coefficient {coefficient:e}); {}",
        untouched(.taken)
    )]
    NonFiniteGradient {
        step: u64,
        /// The sample with the largest coefficient.
        sample: String,
        coefficient: f64,
        /// Optimiser steps of this update that had been taken before.
        taken: usize,
    },
    /// A sample that the model cannot read.
    #[error("step {step}: {sample}: {reason}")]
    Sequence { step: u64, sample: String, reason: String },
    /// The model could not train on the batch.
    #[error("step {step}: {source}")]
    Model { step: u64, source: TrainError },
}

fn untouched(taken: &usize) -> String {
    match taken {
        0 => "the weights were not changed".into(),
        n => format!("the weights are those after the first {n} optimiser steps of this update"),
    }
}
