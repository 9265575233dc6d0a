//! The ablation that trains what the world said: which tokens, with which credit and which old log-probabilities.

use crate::support::scripted::Scripted;
use crate::support::{Fate, sample};
use merit_api::trainer::SequenceScores;
use merit_core::registry::Chosen;
use merit_core::{PolicyVersion, Seed};
use merit_learn::*;

/// Two tokens of prompt, two of the policy, one of the world, two of the policy.
const TURNS: [&[f32]; 2] = [&[-0.25, -3.0], &[-0.75, -1.25]];
const WORLD: usize = 4;

/// The coefficients of the only sample that counts, and the report.
fn update(mask: Chosen<dyn Mask>, fate: Fate) -> (Vec<f32>, UpdateReport) {
    let samples = [sample(0, 0, &TURNS, fate, 1.5), sample(0, 1, &[&[-1.0]], Fate::Unscorable, 1.0)];
    let says = |_: usize, sequence: &merit_api::trainer::TrainSequence<'_>| {
        let logprobs: Vec<f32> = [0.0, 0.0, -0.25, -3.0, -0.6, -0.75, -1.25][..sequence.tokens.len()].into();
        SequenceScores { entropy: vec![0.0; logprobs.len()], values: vec![0.0; logprobs.len()], logprobs }
    };
    let mut trainer = Scripted::new(says);
    let learner = Learner::new(LearnConfig { mask, ..LearnConfig::default() }, 1).unwrap();
    let at = UpdateContext { step: 0, version: PolicyVersion(3), temperature: 1.0, seed: Seed::root(1) };
    let report = learner.update(&mut trainer, &samples, None, &at).unwrap();
    (trainer.coefficients.into_iter().next().map(|c| c.logprob).unwrap_or_default(), report)
}

fn check(mask: Chosen<dyn Mask>, tokens: usize, of_the_world: f32) {
    let (coefficients, report) = update(mask, Fate::Reward(1.0));
    assert_eq!((report.tokens, report.samples_used, report.samples_masked), (tokens, 1, 1));
    // Nothing has moved yet, so every ratio is 1 and a token's share of the loss is -advantage / tokens.
    let share = -1.5 / tokens as f32;
    for at in [2, 3, 5, 6] {
        assert!((coefficients[at] - share).abs() < 1e-6, "token {at}: {coefficients:?}");
    }
    assert!((coefficients[WORLD] - of_the_world).abs() < 1e-6, "{coefficients:?}");
    assert!((report.ratio.unwrap() - 1.0).abs() < 1e-6);
    assert!(report.logprob_gap.unwrap() < 1e-6);
}

#[test]
fn what_the_world_said_is_trained_by_the_ablation_and_by_nobody_else() {
    check(Chosen::of(PolicyTokens {}, |s| s), 4, 0.0);
    check(Chosen::of(TrainOnObservations {}, |s| s), 5, -1.5 / 5.0);
}

#[test]
fn an_episode_that_does_not_count_stays_out_of_the_ablation_too() {
    let (_, report) = update(Chosen::of(TrainOnObservations {}, |s| s), Fate::GraderFailed);
    assert_eq!((report.optimiser_steps, report.samples_masked), (0, 2));
}
