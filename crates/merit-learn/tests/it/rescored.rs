//! Tokens that stand where they were not sampled are scored where they stand before anything is learned from them.

use crate::support::scripted::Scripted;
use crate::support::{Fate, sample};
use merit_api::trainer::{SequenceScores, TrainSequence};
use merit_core::registry::Chosen;
use merit_core::{PolicyVersion, Sample, Seed};
use merit_learn::*;

/// Two tokens of prompt, two of the policy, one of the world, two of the policy.
const TURNS: [&[f32]; 2] = [&[-0.25, -3.0], &[-0.75, -1.25]];
/// What the policy says of them where they stand; the second turn is less likely there than where it was sampled.
const IN_PLACE: [f32; 7] = [0.0, 0.0, -0.25, -3.0, 0.0, -2.0, -1.5];

fn spliced() -> Sample {
    Sample {
        on_policy: false,
        spliced: std::iter::once(5..7).collect(),
        ..sample(0, 0, &TURNS, Fate::Reward(1.0), 1.5)
    }
}

fn update(samples: &[Sample], mask: Chosen<dyn Mask>) -> Result<UpdateReport, LearnError> {
    let says = |_: usize, sequence: &TrainSequence<'_>| {
        let logprobs: Vec<f32> = IN_PLACE[..sequence.tokens.len()].into();
        SequenceScores { entropy: vec![0.0; logprobs.len()], values: vec![0.0; logprobs.len()], logprobs }
    };
    let learner = Learner::new(LearnConfig { mask, ..LearnConfig::default() }, 1).unwrap();
    let at = UpdateContext { step: 0, version: PolicyVersion(3), temperature: 1.0, seed: Seed::root(1) };
    learner.update(&mut Scripted::new(says), samples, None, &at)
}

#[test]
fn spliced_tokens_have_recomputed_log_probs() {
    let report = update(&[spliced()], Chosen::of(PolicyTokens {}, |s| s)).unwrap();
    assert_eq!((report.tokens, report.samples_used), (4, 1));
    // By the recorded numbers the ratios of the last two tokens would be e^-1.25 and e^-0.25.
    assert!((report.ratio.unwrap() - 1.0).abs() < 1e-6, "{report:?}");
    assert!(report.logprob_gap.unwrap() < 1e-6);
}

#[test]
fn what_was_not_sampled_here_and_is_not_marked_is_refused_as_before() {
    let stale = Sample { spliced: Vec::new(), ..spliced() };
    assert!(matches!(
        update(&[stale], Chosen::of(PolicyTokens {}, |s| s)),
        Err(LearnError::OffPolicy { .. })
    ));
}

#[test]
fn refused_turns_are_left_out_by_the_mask_that_says_so() {
    let sample = Sample { refused: vec![true, false], ..sample(0, 0, &TURNS, Fate::Reward(1.0), 1.5) };
    assert_eq!(NoRefusedTurns {}.of(&sample), [false, false, false, false, false, true, true]);
}
