//! A turn that was sampled through a window is trained on what it was sampled from, and counts as in the whole.

use crate::support::scripted::Scripted;
use crate::support::{Fate, sample};
use merit_api::trainer::{SequenceScores, TrainSequence};
use merit_core::registry::Chosen;
use merit_core::{PolicyVersion, Sample, Seed, Window};
use merit_learn::*;

/// Two tokens of prompt, then turns of two, one and two tokens with one of the world between them.
const TURNS: [&[f32]; 3] = [&[-0.25, -3.0], &[-0.75], &[-1.0, -1.25]];

fn windowed() -> Vec<Sample> {
    let through = |sample: Sample| Sample { window: Some(Window { turns: 1 }), ..sample };
    vec![
        through(sample(0, 0, &TURNS, Fate::Reward(1.0), 1.5)),
        sample(0, 1, &TURNS[..1], Fate::Reward(0.0), -0.75),
    ]
}

/// What was recorded of the tokens that each turn is read with; tokens that are not its own say nothing.
const RECORDED: [&[f32]; 4] = [
    &[0.0, 0.0, -0.25, -3.0],
    &[0.0, 0.0, 0.0, 0.0, 0.0, -0.75],
    &[0.0, 0.0, 0.0, 0.0, -1.0, -1.25],
    &[0.0, 0.0, -0.25, -3.0],
];

/// The report, and what each sequence that was read is pushed by.
fn update(config: LearnConfig) -> Result<(UpdateReport, Vec<Vec<f32>>), LearnError> {
    let says = |at: usize, sequence: &TrainSequence<'_>| {
        let logprobs = RECORDED[at].to_vec();
        assert_eq!(logprobs.len(), sequence.tokens.len(), "sequence {at}");
        SequenceScores { entropy: vec![0.0; logprobs.len()], values: vec![0.0; logprobs.len()], logprobs }
    };
    let mut trainer = Scripted::new(says);
    let learner = Learner::new(config, 1).unwrap();
    let at = UpdateContext { step: 0, version: PolicyVersion(3), temperature: 1.0, seed: Seed::root(1) };
    let report = learner.update(&mut trainer, &windowed(), None, &at)?;
    Ok((report, trainer.coefficients.iter().map(|one| one.logprob.clone()).collect()))
}

#[test]
fn each_turn_is_read_with_what_it_was_sampled_from_and_counts_as_in_the_whole() {
    for loss_agg in [Chosen::<dyn LossAgg>::of(TokenMean {}, |s| s), Chosen::of(SequenceMean {}, |s| s)] {
        let name = loss_agg.about().name;
        let (report, pushed) = update(LearnConfig { loss_agg, ..LearnConfig::default() }).unwrap();
        assert_eq!((report.samples_used, report.tokens), (2, 7), "{name}");
        // Three turns of the first sample, one of the second.
        assert_eq!(pushed.len(), 4, "{name}");
        // The streams are cut where the tokens are, so that every ratio is 1.
        assert!((report.ratio.unwrap() - 1.0).abs() < 1e-6, "{report:?}");
        // At a ratio of 1 the derivative is the scale times the advantage.
        let scales = if name == "token" { [1.0 / 7.0; 2] } else { [1.0 / 10.0, 1.0 / 4.0] };
        let of_turns = |at: usize, own: std::ops::Range<usize>, want: f32| {
            for (token, push) in pushed[at].iter().enumerate() {
                let want = if own.contains(&token) { want } else { 0.0 };
                assert!((push - want).abs() < 1e-6, "{name}: {at}, {token}: {push}, not {want}");
            }
        };
        of_turns(0, 2..4, -1.5 * scales[0]);
        of_turns(1, 5..6, -1.5 * scales[0]);
        of_turns(2, 4..6, -1.5 * scales[0]);
        of_turns(3, 2..4, 0.75 * scales[1]);
    }
}

#[test]
fn what_reads_a_whole_sequence_is_refused() {
    let objective: Chosen<dyn Objective> = Chosen::of(Gspo::default(), |s| s);
    let why = update(LearnConfig { objective, ..LearnConfig::default() }).unwrap_err().to_string();
    assert!(why.contains("`rollout.window`") && why.contains("`gspo`"), "{why}");
}
