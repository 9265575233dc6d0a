//! Updates of a real, tiny policy: it learns what is rewarded, the same way every time, and bad numbers leave it alone.

use crate::support::bandit::{TEMPERATURE, completions, probability, prompt, samples, token, trainer};
use crate::support::{Fate, sample};
use merit_core::registry::Chosen;
use merit_core::{Boundary, PolicyVersion, Sample, Seed};
use merit_learn::*;
use merit_model::{FrozenPolicy, PackedWeights, Precision, Trainer, TrainerSettings, Workers};
use std::sync::Arc;

fn learner(change: impl Fn(&mut LearnConfig)) -> Learner {
    let optimiser = Optimiser::AdamW(AdamW { lr: 5e-3, ..AdamW::default() });
    let mut config = LearnConfig { optimiser, ..LearnConfig::default() };
    change(&mut config);
    Learner::new(config, 100).unwrap()
}

fn objective(change: impl Fn(&mut PolicyGradient)) -> Chosen<dyn Objective> {
    let mut objective = PolicyGradient::default();
    change(&mut objective);
    Chosen::of(objective, |s| s)
}

fn at(step: u64) -> UpdateContext {
    let seed = Seed::root(3).child("step", step);
    UpdateContext { step, version: PolicyVersion(step), temperature: TEMPERATURE, seed }
}

fn bits(trainer: &Trainer) -> Vec<u32> {
    trainer.weights().values().iter().map(|w| w.to_bits()).collect()
}

fn imitate(answer: &str) -> SftSequence {
    let tokens = [prompt(), vec![token(answer)]].concat();
    let mask = (0..tokens.len()).map(|t| t + 1 == tokens.len()).collect();
    SftSequence { tokens, mask, weight: 1.0 }
}

/// A policy that has learned to say `a` or `b`.
fn warm(value_head: bool, threads: usize) -> Trainer {
    let mut trainer = trainer(value_head, threads);
    let learner = learner(|c| c.objective = Chosen::of(Sft {}, |s| s));
    for step in 0..40 {
        learner.sft_step(&mut trainer, &[imitate("a"), imitate("b")], step).unwrap();
    }
    trainer
}

/// Samples and updates `steps` times; `b` is rewarded.
fn train(trainer: &mut Trainer, learner: &Learner, steps: u64, tokens: usize) -> Vec<UpdateReport> {
    let step = |step| {
        let said = completions(trainer, 24, tokens, at(step).seed);
        let batch = samples(&said, PolicyVersion(step), |t| if t[0] == token("b") { 1.0 } else { 0.0 });
        learner.update(trainer, &batch, None, &at(step)).unwrap()
    };
    (0..steps).map(step).collect()
}

fn some_batch(trainer: &Trainer, tokens: usize) -> Vec<Sample> {
    let said = completions(trainer, 12, tokens, Seed::root(8));
    samples(&said, PolicyVersion(0), |tokens| tokens[0].0 as f32 % 5.0)
}

#[test]
fn supervised_steps_lower_the_loss_and_raise_the_probability() {
    let mut trainer = trainer(false, 1);
    let learner = learner(|c| c.objective = Chosen::of(Sft {}, |s| s));
    let before = probability(&mut trainer, token("a"));
    let step = |step| learner.sft_step(&mut trainer, &[imitate("a")], step).unwrap();
    let reports: Vec<UpdateReport> = (0..20).map(step).collect();
    // The first loss is the negative log-likelihood before any change.
    assert!((reports[0].loss.policy + f64::from(before).ln()).abs() < 1e-4);
    assert!(reports[19].loss.total() < 0.2 * reports[0].loss.total(), "{:?}", reports[19]);
    assert!(probability(&mut trainer, token("a")) > 0.5);
    assert_eq!((reports[0].logprob_gap, reports[0].ratio), (None, None));
}

#[test]
fn policy_gradient_raises_the_probability_of_the_rewarded_token() {
    let mut trainer = warm(false, 1);
    let before = probability(&mut trainer, token("b"));
    assert!((0.2..0.8).contains(&before), "{before}");
    train(&mut trainer, &learner(|_| {}), 25, 1);
    let after = probability(&mut trainer, token("b"));
    assert!(after > 0.9, "{before} -> {after}");
}

#[test]
fn objectives_of_sequences_and_pairs_raise_the_probability_of_the_rewarded_token() {
    let objectives: [Chosen<dyn Objective>; 3] = [
        Chosen::of(Gspo::default(), |s| s),
        Chosen::of(Dpo::default(), |s| s),
        Chosen::of(Kto::default(), |s| s),
    ];
    for objective in objectives {
        let name = objective.about().name;
        let mut trainer = warm(false, 1);
        let packed = PackedWeights::for_sampling(trainer.snapshot(), Precision::F32);
        let reference = FrozenPolicy::new(Arc::new(packed), Workers::single());
        let learner = learner(|c| c.objective = objective.clone());
        for step in 0..20 {
            let said = completions(&trainer, 24, 1, at(step).seed);
            let mut batch =
                samples(&said, PolicyVersion(step), |t| if t[0] == token("b") { 1.0 } else { 0.0 });
            batch.iter_mut().enumerate().for_each(|(at, sample)| sample.group = at / 6);
            learner.update(&mut trainer, &batch, Some(&reference), &at(step)).unwrap();
        }
        let after = probability(&mut trainer, token("b"));
        assert!(after > 0.9, "{name}: {after}");
    }
}

#[test]
fn several_clipped_steps_per_batch_learn_too() {
    let mut trainer = warm(false, 1);
    let learner = learner(|c| (c.epochs, c.minibatches) = (3, 2));
    let reports = train(&mut trainer, &learner, 8, 1);
    assert!(probability(&mut trainer, token("b")) > 0.9);
    assert!(reports.iter().all(|r| r.optimiser_steps == 6));
    assert!(reports.iter().any(|r| r.clip_fraction.unwrap() > 0.0), "the clip was never reached");
}

#[test]
fn what_was_just_sampled_has_the_recorded_log_probability() {
    let mut trainer = warm(true, 1);
    for report in train(&mut trainer, &learner(|c| c.minibatches = 2), 4, 6) {
        let gap = report.logprob_gap.unwrap();
        assert!(gap <= 1e-5, "step {}: {gap:e}", report.step);
        assert!(report.metrics().contains(&("logprob_gap", gap)));
    }
}

#[test]
fn a_policy_that_changed_behind_the_samples_shows_in_the_gap() {
    let mut trainer = warm(false, 1);
    let batch = some_batch(&trainer, 3);
    let learner = learner(|_| {});
    learner.update(&mut trainer, &batch, None, &at(0)).unwrap();
    // The same samples again, still claiming to be fresh.
    let report = learner.update(&mut trainer, &batch, None, &at(0)).unwrap();
    assert!(report.logprob_gap.unwrap() > 1e-4, "{report:?}");
    // Samples that admit to be old are not held against the policy.
    let report = learner.update(&mut trainer, &batch, None, &at(1)).unwrap();
    assert_eq!(report.logprob_gap, None);
}

#[test]
fn threads_show_in_neither_weights_nor_report() {
    let run = |threads| {
        let mut trainer = warm(true, threads);
        let value = Some(ValueLoss { coefficient: 0.5, clip: None });
        let learner = learner(|c| {
            c.objective = objective(|pg| (pg.entropy, pg.value) = (0.01, value));
            (c.epochs, c.minibatches) = (2, 3);
        });
        let reports = train(&mut trainer, &learner, 2, 4);
        (bits(&trainer), reports)
    };
    assert_eq!(run(1), run(3));
}

#[test]
fn broken_episodes_leave_the_new_weights_bit_identical() {
    let update = |with_broken: bool| {
        let mut trainer = warm(false, 1);
        let mut batch = some_batch(&trainer, 3);
        if with_broken {
            for (at, fate) in
                [Fate::Broken(Boundary::Tool), Fate::Unscorable, Fate::GraderFailed].into_iter().enumerate()
            {
                batch.insert(3 * at, sample(0, 90, &[&[-1.0; 9]], fate, 50.0));
            }
        }
        let report = learner(|c| (c.epochs, c.minibatches) = (2, 3))
            .update(&mut trainer, &batch, None, &at(0))
            .unwrap();
        assert_eq!(report.samples_masked, if with_broken { 3 } else { 0 });
        (bits(&trainer), report.loss, report.tokens, report.samples_used)
    };
    assert_eq!(update(true), update(false));
}

#[test]
fn when_no_sample_counts_nothing_changes() {
    let mut trainer = warm(false, 1);
    let before = bits(&trainer);
    let mut batch = some_batch(&trainer, 2);
    batch.iter_mut().for_each(|s| s.advantages.as_mut().unwrap().fill(0.0));
    let learner = learner(|c| c.selector = Chosen::of(DropConstantGroups {}, |s| s));
    let report = learner.update(&mut trainer, &batch, None, &at(0)).unwrap();
    assert_eq!((report.optimiser_steps, report.samples_used, report.samples_deselected), (0, 0, 12));
    assert_eq!((report.grad_norm, report.entropy), (None, None));
    assert_eq!(bits(&trainer), before);
}

#[test]
fn a_loss_that_is_not_finite_names_step_and_sample_and_changes_nothing() {
    let mut trainer = warm(false, 1);
    let (before, updates) = (bits(&trainer), trainer.updates());
    let clean = some_batch(&trainer, 2);
    let mut batch = clean.clone();
    let at_token = prompt().len();
    // A ratio of about e^200 in favour of a bad token.
    batch[5].logprobs[at_token] = -200.0;
    batch[5].advantages.as_mut().unwrap()[at_token] = -1.0;
    let error = learner(|_| {}).update(&mut trainer, &batch, None, &at(7)).unwrap_err();
    let LearnError::NonFiniteLoss { step: 7, sample, at: token, taken: 0, .. } = &error else {
        panic!("{error}")
    };
    assert_eq!((sample.as_str(), *token), ("episode train/4/0/5", at_token));
    assert!(error.to_string().contains("the weights were not changed"), "{error}");
    assert_eq!((bits(&trainer), trainer.updates()), (before, updates));
    // Nothing of the failed attempt is left for the next one.
    learner(|_| {}).update(&mut trainer, &clean, None, &at(7)).unwrap();
    let mut untroubled = warm(false, 1);
    learner(|_| {}).update(&mut untroubled, &clean, None, &at(7)).unwrap();
    assert_eq!(bits(&trainer), bits(&untroubled));
}

#[test]
fn a_gradient_that_is_not_finite_changes_nothing() {
    let mut trainer = warm(false, 1);
    let before = bits(&trainer);
    let mut batch = some_batch(&trainer, 12);
    for (i, sample) in batch.iter_mut().enumerate() {
        let huge = if i == 4 { 3.4e38 } else { 3.0e38 };
        sample.advantages.as_mut().unwrap().iter_mut().for_each(|a| *a = huge);
    }
    let learner = learner(|c| c.loss_agg = Chosen::of(ConstantLength { length: 1 }, |s| s));
    let error = learner.update(&mut trainer, &batch, None, &at(2)).unwrap_err();
    let LearnError::NonFiniteGradient { step: 2, sample, .. } = &error else { panic!("{error}") };
    assert_eq!(sample, "episode train/4/0/4");
    assert_eq!(bits(&trainer), before);
}

#[test]
fn the_value_head_learns_its_targets() {
    let mut trainer = warm(true, 1);
    let value = Some(ValueLoss { coefficient: 1.0, clip: None });
    let learner = learner(|c| c.objective = objective(|pg| pg.value = value));
    let mut batch = some_batch(&trainer, 2);
    batch.iter_mut().for_each(|s| {
        s.advantages.as_mut().unwrap().fill(0.0);
        s.returns.as_mut().unwrap().fill(1.0);
    });
    let step = |step| learner.update(&mut trainer, &batch, None, &at(step)).unwrap().loss.value;
    let losses: Vec<f64> = (0..30).map(step).collect();
    assert!(losses[29] < 0.05 * losses[0], "{losses:?}");
}

#[test]
fn a_value_loss_needs_a_value_head() {
    let mut trainer = trainer(false, 1);
    let value = Some(ValueLoss { coefficient: 1.0, clip: None });
    let learner = learner(|c| c.objective = objective(|pg| pg.value = value));
    assert!(matches!(learner.update(&mut trainer, &[], None, &at(0)), Err(LearnError::NoValueHead)));
}

#[test]
fn a_kl_penalty_keeps_the_policy_near_its_reference() {
    let run = |coefficient: f64| {
        let mut trainer = warm(false, 1);
        let packed = PackedWeights::for_sampling(trainer.snapshot(), Precision::F32);
        let reference = FrozenPolicy::new(Arc::new(packed), Workers::single());
        let kl = Some(KlPenalty { coefficient, estimator: Estimator::K2 });
        let learner = learner(|c| c.objective = objective(|pg| pg.kl = kl));
        let mut kl = Vec::new();
        for step in 0..15 {
            let said = completions(&trainer, 24, 1, at(step).seed);
            let batch = samples(&said, PolicyVersion(step), |t| if t[0] == token("b") { 1.0 } else { 0.0 });
            let report = learner.update(&mut trainer, &batch, Some(&reference), &at(step)).unwrap();
            kl.push(report.kl_reference.unwrap());
        }
        assert!(kl[0] < 1e-9, "the policy is its own reference at first: {kl:?}");
        kl[14]
    };
    let (loose, held) = (run(1e-6), run(2.0));
    assert!(held < 0.3 * loose, "{held} {loose}");
}

#[test]
fn an_entropy_bonus_raises_the_entropy() {
    let mut sure = trainer(false, 1);
    let imitation = learner(|c| c.objective = Chosen::of(Sft {}, |s| s));
    for step in 0..15 {
        imitation.sft_step(&mut sure, &[imitate("a")], step).unwrap();
    }
    // A fresh optimiser, without the momentum of becoming sure.
    let mut trainer = Trainer::new(sure.snapshot(), TrainerSettings::default()).unwrap();
    let mut batch = some_batch(&trainer, 1);
    batch.iter_mut().for_each(|s| s.advantages.as_mut().unwrap().fill(0.0));
    let learner = learner(|c| c.objective = objective(|pg| pg.entropy = 0.5));
    let step = |step| learner.update(&mut trainer, &batch, None, &at(step)).unwrap().entropy.unwrap();
    let entropy: Vec<f64> = (0..10).map(step).collect();
    assert!(entropy[9] > entropy[0] + 0.5, "{entropy:?}");
}

#[test]
fn a_sample_that_the_model_cannot_read_is_named() {
    let mut trainer = trainer(false, 1);
    let mut batch = some_batch(&trainer, 1);
    batch[3].tokens[0] = merit_core::TokenId(60_000);
    let error = learner(|_| {}).update(&mut trainer, &batch, None, &at(2)).unwrap_err().to_string();
    assert!(error.starts_with("step 2: episode train/4/0/3: token 60000"), "{error}");
}
