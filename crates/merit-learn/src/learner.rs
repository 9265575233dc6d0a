//! The loop of an update: epochs, minibatches, one optimiser step each.
//!
//! In: a trainer, samples and the moment of the run. Out: the trainer's new weights and a report. Holds no state between
//! updates, so a resumed run needs nothing from here. What a token's loss is, belongs to [`Objective`]; which samples count, to
//! [`Batch`].

use crate::report::Totals;
use crate::{
    BadToken, Batch, LearnConfig, LearnError, Objective, Optimiser, SampleStats, Step, UpdateReport,
};
use merit_core::{PolicyVersion, Sample, Seed};
use merit_model::{AdamWSettings, Coefficients, ModelError, SequenceOutputs, TrainSequence, Trainer};
use std::sync::OnceLock;

/// Executes a recipe's learning, one update at a time.
#[derive(Debug, Clone)]
pub struct Learner {
    config: LearnConfig,
    total_steps: u64,
}

/// Where in the run an update stands.
#[derive(Debug, Clone, Copy)]
pub struct UpdateContext {
    /// The training step, from 0.
    pub step: u64,
    /// The policy that is about to change.
    pub version: PolicyVersion,
    /// The temperature the samples were drawn at; log-probabilities are compared at the same.
    pub temperature: f32,
    /// The seed of this step; minibatches are drawn from its children.
    pub seed: Seed,
}

impl Learner {
    /// A learner for a run of `total_steps` updates, which schedules need to know.
    pub fn new(config: LearnConfig, total_steps: u64) -> Result<Self, LearnError> {
        config.validate()?;
        Ok(Self { config, total_steps })
    }

    /// The recipe.
    pub fn config(&self) -> &LearnConfig {
        &self.config
    }

    /// The learning rate at `step`.
    pub fn learning_rate(&self, step: u64) -> f64 {
        let Optimiser::AdamW(adamw) = &self.config.optimiser;
        adamw.lr * self.config.schedule.factor(step, self.total_steps)
    }

    /// One update from `samples`. `reference` has one stream per sample, in the same order, with one log-probability per
    /// token; it is needed when the objective has a KL penalty, and only reported otherwise.
    ///
    /// When no sample counts nothing is changed, and the report says 0 optimiser steps.
    pub fn update(
        &self,
        trainer: &mut Trainer,
        samples: &[Sample],
        reference: Option<&[Vec<f32>]>,
        at: &UpdateContext,
    ) -> Result<UpdateReport, LearnError> {
        let objective = &self.config.objective;
        if objective.pushes_value() && !trainer.weights().config().value_head {
            return Err(LearnError::NoValueHead);
        }
        let batch = Batch::of_samples(samples, reference, &self.config, at.version)?;
        let mut totals = Totals::default();
        for epoch in 0..self.config.epochs {
            let seed = at.seed.child("epoch", epoch as u64);
            for positions in crate::split(batch.entries.len(), self.config.minibatches, seed) {
                let step = Step::new(&batch, &positions, objective, &self.config.normaliser);
                self.take(trainer, &step, at.step, at.temperature, &mut totals)?;
            }
        }
        Ok(totals.report(at.step, self.learning_rate(at.step), &batch))
    }

    /// One optimiser step over the whole of `batch`, as plain supervised learning at temperature 1.
    pub(crate) fn supervise(
        &self,
        trainer: &mut Trainer,
        batch: &Batch<'_>,
        step: u64,
    ) -> Result<UpdateReport, LearnError> {
        let mut totals = Totals::default();
        let positions: Vec<usize> = (0..batch.entries.len()).collect();
        if !positions.is_empty() {
            let whole = Step::new(batch, &positions, &Objective::Sft {}, &self.config.normaliser);
            self.take(trainer, &whole, step, 1.0, &mut totals)?;
        }
        Ok(totals.report(step, self.learning_rate(step), batch))
    }

    /// Takes one optimiser step and adds what it saw to `totals`.
    fn take(
        &self,
        trainer: &mut Trainer,
        step: &Step<'_>,
        number: u64,
        temperature: f32,
        totals: &mut Totals,
    ) -> Result<(), LearnError> {
        let attempt = Attempt { step, number, taken: totals.steps() };
        trainer.clear_gradients();
        let stats = attempt.accumulate(trainer, temperature).inspect_err(|_| trainer.clear_gradients())?;
        let Optimiser::AdamW(adamw) = &self.config.optimiser;
        let settings = adamw.settings(self.learning_rate(number));
        let grad_norm = attempt.apply(trainer, &settings, &stats)?;
        for (entry, stats) in step.entries().iter().zip(&stats) {
            totals.add(stats, entry.fresh);
        }
        totals.stepped(grad_norm);
        Ok(())
    }
}

/// An optimiser step that may yet fail, with what an error must say of it.
struct Attempt<'a> {
    step: &'a Step<'a>,
    number: u64,
    taken: usize,
}

impl Attempt<'_> {
    /// Fills the gradient; gives the statistics in the order of the samples, whatever the order of execution.
    fn accumulate(&self, trainer: &mut Trainer, temperature: f32) -> Result<Vec<SampleStats>, LearnError> {
        let entries = self.step.entries();
        let sequences: Vec<TrainSequence<'_>> =
            entries.iter().map(|e| TrainSequence { tokens: e.tokens, needed: &e.mask }).collect();
        let slots: Vec<OnceLock<Result<SampleStats, BadToken>>> =
            entries.iter().map(|_| OnceLock::new()).collect();
        let objective = |outputs: &SequenceOutputs<'_>| {
            let (coefficients, stats) = match self.step.coefficients(outputs) {
                Ok((coefficients, stats)) => (coefficients, Ok(stats)),
                Err(bad) => (Coefficients::default(), Err(bad)),
            };
            slots[outputs.index].get_or_init(|| stats);
            coefficients
        };
        trainer.accumulate(&sequences, temperature, &objective).map_err(|e| self.model_error(e))?;
        let judged = slots.into_iter().zip(entries).map(|(slot, entry)| {
            let stats = slot.into_inner().expect("the trainer asks for every sequence's coefficients");
            stats.map_err(|BadToken { at, why }| LearnError::NonFiniteLoss {
                step: self.number,
                sample: entry.name.clone(),
                at,
                why,
                taken: self.taken,
            })
        });
        judged.collect()
    }

    /// Spends the gradient; gives its length.
    fn apply(
        &self,
        trainer: &mut Trainer,
        settings: &AdamWSettings,
        stats: &[SampleStats],
    ) -> Result<f64, LearnError> {
        match trainer.apply(settings) {
            Ok(update) => Ok(update.grad_norm),
            Err(ModelError::NonFiniteGradient { .. }) => {
                let hardest = stats.iter().zip(self.step.entries());
                let hardest = hardest.max_by(|(a, _), (b, _)| a.largest.total_cmp(&b.largest));
                let (stats, entry) = hardest.expect("an optimiser step has at least one sample");
                Err(LearnError::NonFiniteGradient {
                    step: self.number,
                    sample: entry.name.clone(),
                    coefficient: stats.largest,
                    taken: self.taken,
                })
            }
            Err(other) => Err(self.model_error(other)),
        }
    }

    fn model_error(&self, error: ModelError) -> LearnError {
        let step = self.number;
        match error {
            ModelError::Sequence { index, reason } => {
                LearnError::Sequence { step, sample: self.step.entries()[index].name.clone(), reason }
            }
            source => LearnError::Model { step, source },
        }
    }
}
