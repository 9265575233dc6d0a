//! Samples that may not enter a loss, each refused by name and with what to do.

use crate::support::scripted::{Says, Scripted};
use crate::support::{Fate, mixed_batch, sample, scored};
use merit_core::registry::Chosen;
use merit_core::{PolicyVersion, Provenance, Sample, Seed};
use merit_learn::*;
use std::sync::Arc;

fn check(samples: &[Sample], config: &LearnConfig, message: &str) {
    let error = Batch::of_samples(samples, config, PolicyVersion(3)).unwrap_err().to_string();
    assert!(error.contains(message), "{error}");
}

fn spoiled(spoil: impl Fn(&mut Sample)) -> Vec<Sample> {
    let mut samples = mixed_batch();
    spoil(&mut samples[1]);
    samples
}

fn with_value(clip: Option<f64>) -> LearnConfig {
    let value = Some(ValueLoss { coefficient: 0.5, clip });
    let objective = Chosen::<dyn Objective>::of(PolicyGradient { value, ..PolicyGradient::default() }, |s| s);
    LearnConfig { objective, ..LearnConfig::default() }
}

#[test]
fn tokens_the_policy_did_not_sample_are_refused_by_the_policy_gradient() {
    let scored = scored(0, 0, &[&[-1.0]], Fate::Reward(1.0));
    let mut episode = (*scored.episode).clone();
    let mut segments: Vec<_> = episode.transcript.into();
    segments[1].provenance = Provenance::Guided;
    episode.transcript = segments.try_into().unwrap();
    let mut guided =
        Sample::of(&merit_core::ScoredEpisode { episode: Arc::new(episode), ..scored }, 0).unwrap();
    guided.advantages = Some(vec![0.0, 0.0, 1.0]);
    let guided = [guided];
    check(
        &guided,
        &LearnConfig::default(),
        "episode train/4/0/0 holds trainable tokens its policy did not sample",
    );
    let imitated = Batch::of_samples(&guided, &LearnConfig::supervised(), PolicyVersion(3)).unwrap();
    assert_eq!(imitated.entries.len(), 1);
    assert!(imitated.entries[0].old_logprobs.is_none(), "a ratio to such log-probabilities means nothing");
}

#[test]
fn a_sample_without_credit_is_refused_by_whoever_needs_it() {
    let samples = spoiled(|s| s.advantages = None);
    check(
        &samples,
        &LearnConfig::default(),
        "train/4/0/1 has no advantages, which objective `policy-gradient` needs",
    );
    let selector = Chosen::<dyn Selector>::of(PositiveCredit {}, |s| s);
    let config = LearnConfig { selector, ..LearnConfig::supervised() };
    check(&samples, &config, "selector `positive-credit` needs; run a credit rule first");
    assert!(Batch::of_samples(&samples, &LearnConfig::supervised(), PolicyVersion(3)).is_ok());
}

#[test]
fn streams_must_match_the_tokens() {
    let default = LearnConfig::default();
    check(&spoiled(|s| s.mask.truncate(6)), &default, "`mask` has 6 entries but the sample has 7 tokens");
    check(&spoiled(|s| s.logprobs.truncate(6)), &default, "`logprobs` has 6 entries");
    check(&spoiled(|s| s.advantages = Some(vec![0.0; 3])), &default, "`advantages` has 3 entries");
    check(&spoiled(|s| s.returns = Some(vec![])), &with_value(None), "`returns` has 0 entries");
    check(&spoiled(|s| s.values = vec![0.0]), &with_value(None), "`values` has 1 entries");
}

#[test]
fn numbers_must_be_numbers() {
    let default = LearnConfig::default();
    let spoil = |s: &mut Sample| s.advantages.as_mut().unwrap()[3] = f32::NAN;
    check(&spoiled(spoil), &default, "episode train/4/0/1: `advantages` is NaN at token 3");
    check(&spoiled(|s| s.logprobs[2] = f32::NEG_INFINITY), &default, "`logprobs` is -inf at token 2");
    check(&spoiled(|s| s.weight = -1.0), &default, "the weight is -1");
    check(&spoiled(|s| s.weight = f32::NAN), &default, "the weight is NaN");
}

#[test]
fn what_is_not_trained_may_be_anything() {
    let samples = spoiled(|s| s.advantages.as_mut().unwrap()[0] = f32::NAN);
    assert!(Batch::of_samples(&samples, &LearnConfig::default(), PolicyVersion(3)).is_ok());
}

#[test]
fn the_first_token_cannot_be_trained() {
    check(&spoiled(|s| s.mask[0] = true), &LearnConfig::default(), "token 0 is trainable");
}

#[test]
fn a_value_loss_needs_targets_and_a_clip_needs_old_values() {
    check(&spoiled(|s| s.returns = None), &with_value(None), "train/4/0/1 has no returns");
    check(
        &spoiled(|s| s.values.clear()),
        &with_value(Some(0.2)),
        "no values from when its tokens were chosen",
    );
}

#[test]
fn what_an_objective_declares_and_does_not_get_is_refused() {
    let at = UpdateContext { step: 0, version: PolicyVersion(3), temperature: 1.0, seed: Seed::root(1) };
    let kl = Some(KlPenalty { coefficient: 0.1, estimator: Estimator::K3 });
    let objectives: [(Chosen<dyn Objective>, &str); 3] = [
        (Chosen::of(PolicyGradient { kl, ..PolicyGradient::default() }, |s| s), "policy-gradient"),
        (Chosen::of(Dpo::default(), |s| s), "dpo"),
        (Chosen::of(Kto::default(), |s| s), "kto"),
    ];
    for (objective, name) in objectives {
        let learner = Learner::new(LearnConfig { objective, ..LearnConfig::default() }, 1).unwrap();
        assert!(learner.needs_reference());
        let mut trainer = Scripted::streams(&[]);
        let error = learner.update(&mut trainer, &mixed_batch(), None, &at).unwrap_err().to_string();
        let want = format!("objective `{name}` needs the log-probabilities of a reference policy");
        assert!(error.contains(&want), "{error}");
        if name != "policy-gradient" {
            let want = format!("train/4/0/1 has no reward, which objective `{name}` needs");
            check(&spoiled(|s| s.reward = None), learner.config(), &want);
        }
    }
    assert!(!Learner::new(LearnConfig::default(), 1).unwrap().needs_reference());
}

#[test]
fn a_reference_says_one_finite_number_per_trained_token() {
    let samples = [sample(0, 0, &[&[-1.0]], Fate::Reward(1.0), 1.0)];
    let refer = |stream: Vec<f32>| {
        let mut batch = Batch::of_samples(&samples, &LearnConfig::default(), PolicyVersion(3)).unwrap();
        batch
            .refer(&Says(|_, _: &merit_api::trainer::TrainSequence<'_>| stream.clone()), 1.0, 0)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        refer(vec![0.0]),
        "episode train/4/0/0: `reference` has 1 entries but the sample has 3 tokens"
    );
    let error = refer(vec![0.0, 0.0, f32::NAN]);
    assert!(error.contains("`reference` is NaN at token 2"), "{error}");
}
