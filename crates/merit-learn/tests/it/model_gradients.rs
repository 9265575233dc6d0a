//! The gradient of a real, tiny decoder is that of the loss the objective reports: finite differences along two directions.

use crate::support::bandit::{TEMPERATURE, completions, samples, trainer};
use merit_api::trainer::*;
use merit_core::registry::Chosen;
use merit_core::{PolicyVersion, Sample, Seed};
use merit_learn::*;
use merit_model::{FrozenPolicy, PackedWeights, Precision, TrainerSettings, Weights, Workers};
use std::sync::Arc;

/// A trainer that keeps its gradient instead of stepping.
struct Spy {
    inner: merit_model::Trainer,
    gradient: Vec<f32>,
    /// What is said of sequences that are only scored. Absent: what the model says; kept when it has been asked.
    scores: Option<Vec<SequenceScores>>,
    hold_scores: bool,
}

impl Trainer for Spy {
    fn has_values(&self) -> bool {
        self.inner.has_values()
    }

    fn context_limit(&self) -> usize {
        self.inner.context_limit()
    }

    fn score(
        &mut self,
        sequences: &[TrainSequence<'_>],
        temperature: f32,
    ) -> Result<Vec<SequenceScores>, TrainError> {
        if let Some(scores) = self.scores.clone().filter(|_| self.hold_scores) {
            return Ok(scores);
        }
        let scores = Trainer::score(&mut self.inner, sequences, temperature)?;
        self.scores = Some(scores.clone());
        Ok(scores)
    }

    fn accumulate(
        &mut self,
        sequences: &[TrainSequence<'_>],
        temperature: f32,
        coefficients: &CoefficientsOf<'_>,
    ) -> Result<(), TrainError> {
        Trainer::accumulate(&mut self.inner, sequences, temperature, coefficients)
    }

    fn clear_gradients(&mut self) {
        self.inner.clear_gradients();
    }

    fn apply(&mut self, _: &AdamWSettings) -> Result<UpdateStats, TrainError> {
        self.gradient = self.inner.gradients().to_vec();
        Ok(UpdateStats { grad_norm: self.inner.gradient_norm(), clipped: false })
    }
}

struct Case {
    learner: Learner,
    samples: Vec<Sample>,
    reference: FrozenPolicy,
    /// KTO holds its baseline fixed, so the scores behind it are those of the unmoved weights.
    hold_scores: bool,
}

impl Case {
    fn loss(&self, weights: Weights, scores: Option<Vec<SequenceScores>>) -> (f64, Spy) {
        let inner = merit_model::Trainer::new(weights, TrainerSettings::default()).unwrap();
        let hold_scores = self.hold_scores;
        let mut spy = Spy { inner, gradient: Vec::new(), scores, hold_scores };
        let at = UpdateContext {
            step: 0,
            version: PolicyVersion(0),
            temperature: TEMPERATURE,
            seed: Seed::root(2),
        };
        let report = self.learner.update(&mut spy, &self.samples, Some(&self.reference), &at).unwrap();
        (report.loss.total(), spy)
    }
}

fn moved(weights: &Weights, direction: &[f64], by: f64) -> Weights {
    let mut weights = weights.clone();
    weights.values_mut().iter_mut().zip(direction).for_each(|(w, d)| *w = (f64::from(*w) + by * d) as f32);
    weights
}

fn check(objective: Chosen<dyn Objective>) {
    let start = trainer(false, 1);
    let said = completions(&start, 8, 4, Seed::root(8));
    let mut samples = samples(&said, PolicyVersion(0), |tokens| tokens[0].0 as f32 % 5.0);
    for (at, sample) in samples.iter_mut().enumerate() {
        sample.group = at / 4;
    }
    let name = objective.about().name;
    let hold_scores = objective.needs().mismatched;
    let learner = Learner::new(LearnConfig { objective, ..LearnConfig::default() }, 1).unwrap();
    let other = Weights::init(start.weights().config(), Seed::root(12)).unwrap();
    let packed = Arc::new(PackedWeights::for_sampling(Arc::new(other), Precision::F32));
    let reference = FrozenPolicy::new(packed, Workers::single());
    let case = Case { learner, samples, reference, hold_scores };
    // Off the weights that sampled, so that ratios are not 1.
    let mut stream = Seed::root(5).stream();
    let noise: Vec<f64> = start.weights().values().iter().map(|_| stream.normal()).collect();
    let weights = moved(start.weights(), &noise, 0.01);
    let (_, spy) = case.loss(weights.clone(), None);
    let gradient: Vec<f64> = spy.gradient.iter().map(|&g| f64::from(g)).collect();
    let length = gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
    assert!(length > 1e-3, "{name}: the gradient is {length}, and nothing is tested");
    let own: Vec<f64> = gradient.iter().map(|g| g / length).collect();
    let random: Vec<f64> = own.iter().map(|o| o + stream.normal() * 0.02).collect();
    for direction in [own, random] {
        let slope: f64 = gradient.iter().zip(&direction).map(|(g, d)| g * d).sum();
        let loss = |by: f64| case.loss(moved(&weights, &direction, by), spy.scores.clone()).0;
        let step = 2e-3;
        let measured = (loss(step) - loss(-step)) / (2.0 * step);
        assert!((measured - slope).abs() < 0.01 * length, "{name}: {measured}, not {slope}");
    }
}

#[test]
fn gspo() {
    check(Chosen::of(Gspo { clip_low: 0.9, clip_high: 9.0, entropy: 0.2, ..Gspo::default() }, |s| s));
}

#[test]
fn dpo() {
    check(Chosen::of(Dpo { beta: 0.3 }, |s| s));
}

#[test]
fn kto() {
    check(Chosen::of(Kto { beta: 0.3, ..Kto::default() }, |s| s));
}

#[test]
fn policy_gradient() {
    let kl = Some(KlPenalty { coefficient: 0.2, estimator: Estimator::K2 });
    check(Chosen::of(
        PolicyGradient { clip_low: 1.0, clip_high: 9.0, kl, ..PolicyGradient::default() },
        |s| s,
    ));
}
