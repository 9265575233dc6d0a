//! The loop of an update: epochs, minibatches, one optimiser step each.
//!
//! In: a trainer, samples and the moment of the run. Out: the trainer's new weights and a report. Holds no state between
//! updates, so a resumed run needs nothing from here. What the loss is, belongs to the objective; which samples count, to [`Batch`].

use crate::objective::Fault;
use crate::report::Totals;
use crate::step::{Judged, Step};
use crate::{
    BadToken, Batch, LearnConfig, LearnError, Needs, Optimiser, SampleStats, Sft, UpdateReport, mismatched,
    observed, rescored, windowed,
};
use merit_api::trainer::{
    AdamWSettings, Coefficients, Reference, SequenceOutputs, TrainError, TrainSequence, Trainer,
};
use merit_core::registry::Component as _;
use merit_core::{PolicyVersion, Sample, Seed};
use std::sync::OnceLock;

/// Executes a recipe's learning, one update at a time.
#[derive(Debug, Clone)]
pub struct Learner {
    config: LearnConfig,
    total_steps: u64,
    /// Share of the budget that is spent, where it is not counted in steps.
    spent: f64,
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
    ///
    /// ```
    /// use merit_learn::{LearnConfig, Learner};
    /// let learner = Learner::new(LearnConfig::default(), 100)?;
    /// assert!(learner.learning_rate(0) > 0.0);
    /// # Ok::<(), merit_learn::LearnError>(())
    /// ```
    pub fn new(config: LearnConfig, total_steps: u64) -> Result<Self, LearnError> {
        config.validate()?;
        Ok(Self { config, total_steps, spent: 0.0 })
    }

    /// The same with this share of the budget spent: schedules go by it where it is ahead of the steps.
    #[must_use]
    pub fn at_share(&self, spent: f64) -> Self {
        Self { spent, ..self.clone() }
    }

    pub fn config(&self) -> &LearnConfig {
        &self.config
    }

    pub fn learning_rate(&self, step: u64) -> f64 {
        let Optimiser::AdamW(adamw) = &self.config.optimiser;
        adamw.lr * self.config.schedule.factor_at(step, self.total_steps, self.spent)
    }

    /// What the objective reads.
    pub fn needs(&self) -> Needs {
        self.config.objective.needs()
    }

    /// Whether an update needs a reference policy.
    pub fn needs_reference(&self) -> bool {
        let needs = self.needs();
        needs.reference || needs.mismatched
    }

    /// One update from `samples`. The reference policy is asked about the samples that count; one that the objective does not
    /// need is only reported.
    ///
    /// When no sample counts nothing is changed, and the report says 0 optimiser steps.
    ///
    /// ```
    /// # use merit_core::{End, Episode, EpisodeId, Known, Provenance, Reward, Role, Score, ScoredEpisode, Segment, Task, TokenId, Transcript};
    /// use merit_core::{PolicyVersion, Sample, Seed};
    /// use merit_learn::{LearnConfig, Learner, UpdateContext};
    /// use merit_model::{DecoderConfig, Style, Trainer, TrainerSettings, Weights};
    /// # let of = |role, token| Segment { tokens: vec![TokenId(token)], known: Known::Full, ..Segment::of_text(role, Provenance::Sampled, 0, "") };
    /// # let mut transcript = Transcript::default();
    /// # transcript.append(of(Role::User, 5))?;
    /// # transcript.append(Segment { logprobs: vec![-2.0], policy_version: Some(PolicyVersion(0)), ..of(Role::Policy, 7) })?;
    /// # let id = EpisodeId { phase: "train".into(), step: 0, group: 0, member: 0, branch: 0 };
    /// # let episode = Episode::new(id, Task::new("quiz", "quiz/1"), End::Answered).with_transcript(transcript).into();
    /// # let scored = ScoredEpisode { episode, score: Some(Score::new(Reward::Value { value: 1.0 })) };
    /// let config = DecoderConfig { vocab: 8, layers: 1, d_model: 16, heads: 2, kv_heads: 1, d_ff: 16, rope_base: 1e4, norm_eps: 1e-5, max_context: 8, value_head: false, style: Style::default() };
    /// let mut trainer = Trainer::new(Weights::init(&config, Seed::root(1))?, TrainerSettings::default())?;
    /// let mut sample = Sample::of(&scored, 0)?;
    /// sample.advantages = Some(vec![0.0, 1.0]);
    /// let at = UpdateContext { step: 0, version: PolicyVersion(0), temperature: 1.0, seed: Seed::root(2) };
    /// let report = Learner::new(LearnConfig::default(), 1)?.update(&mut trainer, &[sample], None, &at)?;
    /// assert_eq!(report.optimiser_steps, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn update(
        &self,
        trainer: &mut dyn Trainer,
        samples: &[Sample],
        reference: Option<&dyn Reference>,
        at: &UpdateContext,
    ) -> Result<UpdateReport, LearnError> {
        let (objective, needs) = (&self.config.objective, self.needs());
        if needs.values && !trainer.has_values() {
            return Err(LearnError::NoValueHead);
        }
        let name = objective.about().name;
        if self.needs_reference() && reference.is_none() {
            return Err(LearnError::NoReference { objective: name });
        }
        let rescored = rescored::with_logprobs_in_place(samples, trainer, at.temperature)
            .map_err(|error| in_words(error, samples, at.step))?;
        let samples = rescored.as_deref().unwrap_or(samples);
        let widened = match self.config.mask.observations() {
            true => observed::with_observations(samples, trainer, at.temperature)
                .map(Some)
                .map_err(|error| in_words(error, samples, at.step))?,
            false => None,
        };
        let samples = widened.as_deref().unwrap_or(samples);
        let pieces = windowed::cut(samples, &self.config)?;
        let mut batch = Batch::of_pieces(samples, pieces.as_deref(), &self.config, at.version)?;
        if let Some(most) = self.config.loss_agg.budget() {
            batch.cut(most, &at.seed.child("budget", 0));
        }
        if let Some(reference) = reference {
            batch.refer(reference, at.temperature, at.step)?;
        }
        if needs.old_entropy {
            batch.remember_entropies(trainer, at.temperature, at.step)?;
        }
        let mut totals = Totals::default();
        for epoch in 0..self.config.epochs {
            let seed = at.seed.child("epoch", epoch as u64);
            for bundles in crate::split(batch.bundles.len(), self.config.minibatches, seed) {
                let units: Vec<usize> =
                    bundles.iter().flat_map(|&bundle| batch.bundles[bundle].iter().copied()).collect();
                let mut step = Step::new(&batch, &units, &**objective, &*self.config.loss_agg);
                if let Some(reference) = reference.filter(|_| needs.mismatched) {
                    let ratios =
                        mismatched::log_ratios(&batch, step.positions(), trainer, reference, at.temperature);
                    step.mismatched =
                        Some(ratios.map_err(|source| LearnError::Model { step: at.step, source })?);
                }
                let attempt =
                    Attempt { step: &step, objective: name, number: at.step, taken: totals.steps() };
                self.take(trainer, &attempt, at.temperature, &mut totals)?;
            }
        }
        Ok(totals.report(at.step, self.learning_rate(at.step), &batch))
    }

    /// One optimiser step over the whole of `batch`, as plain supervised learning at temperature 1.
    pub(crate) fn supervise(
        &self,
        trainer: &mut dyn Trainer,
        batch: &Batch<'_>,
        step: u64,
    ) -> Result<UpdateReport, LearnError> {
        let mut totals = Totals::default();
        let units: Vec<usize> = (0..batch.units.len()).collect();
        if !units.is_empty() {
            let whole = Step::new(batch, &units, &Sft {}, &*self.config.loss_agg);
            let attempt = Attempt { step: &whole, objective: Sft::ABOUT.name, number: step, taken: 0 };
            self.take(trainer, &attempt, 1.0, &mut totals)?;
        }
        Ok(totals.report(step, self.learning_rate(step), batch))
    }

    /// Takes one optimiser step and adds what it saw to `totals`.
    fn take(
        &self,
        trainer: &mut dyn Trainer,
        attempt: &Attempt<'_>,
        temperature: f32,
        totals: &mut Totals,
    ) -> Result<(), LearnError> {
        trainer.clear_gradients();
        let stats = attempt.accumulate(trainer, temperature).inspect_err(|_| trainer.clear_gradients())?;
        let Optimiser::AdamW(adamw) = &self.config.optimiser;
        let settings = adamw.settings(self.learning_rate(attempt.number));
        let grad_norm = attempt.apply(trainer, &settings, &stats)?;
        for (entry, stats) in attempt.step.entries().iter().zip(&stats) {
            totals.add(stats, entry.fresh);
        }
        totals.stepped(grad_norm);
        Ok(())
    }
}

fn in_words(error: TrainError, samples: &[Sample], step: u64) -> LearnError {
    match error {
        TrainError::Sequence { index, reason } => {
            LearnError::Sequence { step, sample: format!("episode {}", samples[index].episode), reason }
        }
        source => LearnError::Model { step, source },
    }
}

/// An optimiser step that may yet fail, with what an error must say of it.
struct Attempt<'a> {
    step: &'a Step<'a>,
    objective: &'static str,
    number: u64,
    taken: usize,
}

impl Attempt<'_> {
    /// Fills the gradient; gives the statistics in the order of the samples, whatever the order of execution.
    fn accumulate(
        &self,
        trainer: &mut dyn Trainer,
        temperature: f32,
    ) -> Result<Vec<SampleStats>, LearnError> {
        let sequences: Vec<TrainSequence<'_>> = self.step.entries().iter().map(|e| e.sequence()).collect();
        if self.step.is_coupled() {
            return self.accumulate_coupled(trainer, &sequences, temperature);
        }
        let slots: Vec<OnceLock<Result<SampleStats, (usize, Fault)>>> =
            sequences.iter().map(|_| OnceLock::new()).collect();
        let coefficients = |outputs: &SequenceOutputs<'_>| {
            let (coefficients, stats) = match self.step.judge_alone(outputs) {
                Ok(Judged { coefficients, stats }) => (coefficients, Ok(stats)),
                Err(fault) => (Coefficients::default(), Err(fault)),
            };
            slots[outputs.index].get_or_init(|| stats);
            coefficients
        };
        trainer.accumulate(&sequences, temperature, &coefficients).map_err(|e| self.train_error(e))?;
        let judged = slots.into_iter().map(|slot| {
            let stats = slot.into_inner().expect("the trainer asks for every sequence's coefficients");
            stats.map_err(|fault| self.fault(fault))
        });
        judged.collect()
    }

    /// Scores all sequences first, since the coefficients of one depend on what is said of the others.
    fn accumulate_coupled(
        &self,
        trainer: &mut dyn Trainer,
        sequences: &[TrainSequence<'_>],
        temperature: f32,
    ) -> Result<Vec<SampleStats>, LearnError> {
        let scores = trainer.score(sequences, temperature).map_err(|e| self.train_error(e))?;
        let judged = self.step.judge_all(|at| scores[at].outputs(at)).map_err(|fault| self.fault(fault))?;
        let coefficients = |outputs: &SequenceOutputs<'_>| judged[outputs.index].coefficients.clone();
        trainer.accumulate(sequences, temperature, &coefficients).map_err(|e| self.train_error(e))?;
        Ok(judged.into_iter().map(|judged| judged.stats).collect())
    }

    /// Spends the gradient; gives its length.
    fn apply(
        &self,
        trainer: &mut dyn Trainer,
        settings: &AdamWSettings,
        stats: &[SampleStats],
    ) -> Result<f64, LearnError> {
        match trainer.apply(settings) {
            Ok(update) => Ok(update.grad_norm),
            Err(TrainError::NonFiniteGradient { .. }) => {
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
            Err(other) => Err(self.train_error(other)),
        }
    }

    fn fault(&self, (at, fault): (usize, Fault)) -> LearnError {
        match fault {
            Fault::BadToken(BadToken { at: token, why }) => LearnError::NonFiniteLoss {
                step: self.number,
                sample: self.step.entries()[at].name.clone(),
                at: token,
                why,
                taken: self.taken,
            },
            Fault::Undeclared(source) => LearnError::Undeclared { objective: self.objective, source },
        }
    }

    fn train_error(&self, error: TrainError) -> LearnError {
        let step = self.number;
        match error {
            TrainError::Sequence { index, reason } => {
                LearnError::Sequence { step, sample: self.step.entries()[index].name.clone(), reason }
            }
            source => LearnError::Model { step, source },
        }
    }
}
