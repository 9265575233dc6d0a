//! What one update did, in numbers for tables and plots.

use crate::{Dropped, LossParts, SampleStats};
use serde::Serialize;

/// What one update did. Means are over the trained tokens of every optimiser step; absent where there was nothing to mean.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct UpdateReport {
    pub step: u64,
    /// Learning rate after the schedule.
    pub learning_rate: f64,
    /// Steps the optimiser took. 0: no sample counted, and the weights are as they were.
    pub optimiser_steps: usize,
    pub samples_used: usize,
    /// Samples with nothing to train: the outcome does not count, or the mask took everything.
    pub samples_masked: usize,
    /// Samples that the selector, or a weight of 0, left out.
    pub samples_deselected: usize,
    /// Trained tokens of the batch, each counted once.
    pub tokens: usize,
    /// The loss, mean over optimiser steps.
    pub loss: LossParts,
    /// Mean ratio of new to old probability.
    pub ratio: Option<f64>,
    /// Fraction of tokens whose gradient the clip cut.
    pub clip_fraction: Option<f64>,
    /// k3 estimate of `KL(old || new)`, in nats per token.
    pub kl_old: Option<f64>,
    /// k3 estimate of `KL(new || reference)`, in nats per token.
    pub kl_reference: Option<f64>,
    /// Mean entropy, in nats.
    pub entropy: Option<f64>,
    /// The same over the policy's own tokens, where a teacher's stand beside them.
    pub entropy_own: Option<f64>,
    /// The same over the teacher's.
    pub entropy_guests: Option<f64>,
    /// Length of the gradient before clipping, mean over optimiser steps.
    pub grad_norm: Option<f64>,
    /// Largest difference between a log-probability recorded at sampling and the one computed for training, before the
    /// first optimiser step, over samples of the policy that is being trained. Should be at most 1e-5. Absent: there was no
    /// such sample.
    pub logprob_gap: Option<f64>,
}

impl UpdateReport {
    /// The numbers by name, for a store; absent ones are left out.
    pub fn metrics(&self) -> Vec<(&'static str, f64)> {
        let always = [
            ("learning_rate", self.learning_rate),
            ("optimiser_steps", self.optimiser_steps as f64),
            ("samples_used", self.samples_used as f64),
            ("samples_masked", self.samples_masked as f64),
            ("samples_deselected", self.samples_deselected as f64),
            ("tokens", self.tokens as f64),
            ("loss", self.loss.total()),
            ("loss_policy", self.loss.policy),
            ("loss_kl", self.loss.kl),
            ("loss_entropy", self.loss.entropy),
            ("loss_value", self.loss.value),
        ];
        let sometimes = [
            ("ratio", self.ratio),
            ("clip_fraction", self.clip_fraction),
            ("kl_old", self.kl_old),
            ("kl_reference", self.kl_reference),
            ("entropy", self.entropy),
            ("entropy_own", self.entropy_own),
            ("entropy_guests", self.entropy_guests),
            ("grad_norm", self.grad_norm),
            ("logprob_gap", self.logprob_gap),
        ];
        let sometimes = sometimes.into_iter().filter_map(|(name, value)| Some((name, value?)));
        always.into_iter().chain(sometimes).collect()
    }
}

/// Sums over optimiser steps, on the way to a report. Samples are added in the order of the batch.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    sums: SampleStats,
    grad_norm: f64,
    steps: usize,
    gap: Option<f64>,
}

impl Totals {
    /// Adds one sample of an optimiser step; `fresh` where its recorded log-probabilities must come out the same.
    pub(crate) fn add(&mut self, stats: &SampleStats, fresh: bool) {
        let sums = &mut self.sums;
        sums.tokens += stats.tokens;
        sums.loss.add_scaled(&stats.loss, 1.0);
        sums.sampled += stats.sampled;
        sums.ratio += stats.ratio;
        sums.clipped += stats.clipped;
        sums.kl_old += stats.kl_old;
        sums.referred += stats.referred;
        sums.kl_reference += stats.kl_reference;
        sums.entropy += stats.entropy;
        sums.own_entropy += stats.own_entropy;
        if fresh && self.steps == 0 {
            self.gap = Some(self.gap.unwrap_or(0.0).max(stats.gap));
        }
    }

    /// Steps the optimiser has taken.
    pub(crate) fn steps(&self) -> usize {
        self.steps
    }

    /// Counts a step that the optimiser has taken.
    pub(crate) fn stepped(&mut self, grad_norm: f64) {
        self.grad_norm += grad_norm;
        self.steps += 1;
    }

    pub(crate) fn report(&self, step: u64, learning_rate: f64, batch: &crate::Batch<'_>) -> UpdateReport {
        let mean = |sum: f64, count: usize| (count > 0).then(|| sum / count as f64);
        let sums = &self.sums;
        let mut loss = LossParts::default();
        loss.add_scaled(&sums.loss, 1.0 / self.steps.max(1) as f64);
        let guests = sums.tokens - sums.sampled;
        // A supervised batch has no own tokens, an ordinary one no others.
        let mixed = guests > 0 && sums.sampled > 0;
        let Dropped { masked, deselected } = batch.dropped;
        UpdateReport {
            step,
            learning_rate,
            optimiser_steps: self.steps,
            samples_used: batch.samples(),
            samples_masked: masked,
            samples_deselected: deselected,
            tokens: batch.entries.iter().map(crate::Entry::trained).sum(),
            loss,
            ratio: mean(sums.ratio, sums.sampled),
            clip_fraction: mean(sums.clipped as f64, sums.sampled),
            kl_old: mean(sums.kl_old, sums.sampled),
            kl_reference: mean(sums.kl_reference, sums.referred),
            entropy: mean(sums.entropy, sums.tokens),
            entropy_own: mixed.then(|| mean(sums.own_entropy, sums.sampled)).flatten(),
            entropy_guests: mixed.then(|| mean(sums.entropy - sums.own_entropy, guests)).flatten(),
            grad_norm: mean(self.grad_norm, self.steps),
            logprob_gap: self.gap,
        }
    }
}
