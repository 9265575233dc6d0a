//! Training: gradients do not depend on threads or instruction sets, updates learn, and faults change nothing.

use crate::support::*;
use merit_core::TokenId;
use merit_model::*;

struct Batch(Vec<(Vec<TokenId>, Vec<bool>)>);

impl Batch {
    fn new(config: &DecoderConfig, count: u64) -> Self {
        let one = |i: u64| {
            let tokens = prompt(config, i, 2 + (i as usize * 37) % 120);
            let needed = (0..tokens.len()).map(|t| t > 0 && !(t + i as usize).is_multiple_of(3)).collect();
            (tokens, needed)
        };
        Self((0..count).map(one).collect())
    }

    fn sequences(&self) -> Vec<TrainSequence<'_>> {
        self.0.iter().map(|(tokens, needed)| TrainSequence { tokens, needed }).collect()
    }
}

fn objective(outputs: &SequenceOutputs) -> Coefficients {
    Coefficients {
        logprob: outputs.logprobs.iter().map(|logprob| 0.1 * logprob - 1.0).collect(),
        entropy: outputs.entropy.iter().map(|entropy| 0.01 * entropy).collect(),
        value: outputs.values.iter().map(|value| value - 1.0).collect(),
    }
}

fn gradient(config: &DecoderConfig, threads: usize, isa: Isa) -> Vec<u32> {
    let settings = TrainerSettings { threads, shard_tokens: 200, ..TrainerSettings::default() };
    let mut trainer = Trainer::new(weights(config), settings).unwrap().with_isa(isa);
    let batch = Batch::new(config, 14);
    trainer.accumulate(&batch.sequences(), 0.8, &objective).unwrap();
    assert!(trainer.gradient_norm() > 0.0);
    bits(trainer.gradients())
}

#[test]
fn gradients_have_the_same_bits_on_any_threads_and_instruction_set() {
    for config in [odd(), even()] {
        let one = gradient(&config, 1, Isa::best());
        assert!(one == gradient(&config, 2, Isa::best()));
        assert!(one == gradient(&config, 4, Isa::best()));
        for isa in Isa::available() {
            assert!(one == gradient(&config, 1, isa), "{isa:?}");
        }
    }
}

#[test]
fn the_objective_sees_the_scores_of_the_present_weights() {
    let config = odd();
    let batch = Batch::new(&config, 9);
    let mut trainer = Trainer::new(weights(&config), TrainerSettings::default()).unwrap();
    let scores = trainer.score(&batch.sequences(), 0.8).unwrap();
    let again =
        score_sequences(trainer.weights(), &batch.sequences(), 0.8, &Workers::new(2).unwrap()).unwrap();
    assert_eq!(scores, again);
    let check = |outputs: &SequenceOutputs| {
        let want = &scores[outputs.index];
        assert_eq!(
            (outputs.logprobs, outputs.entropy, outputs.values),
            (&want.logprobs[..], &want.entropy[..], &want.values[..])
        );
        Coefficients::default()
    };
    trainer.accumulate(&batch.sequences(), 0.8, &check).unwrap();
    assert_eq!(trainer.gradient_norm(), 0.0);
    for ((_, needed), scores) in batch.0.iter().zip(&scores) {
        for (t, &needed) in needed.iter().enumerate() {
            assert_eq!(needed, scores.logprobs[t] < 0.0);
            assert!(scores.entropy[t] <= (config.vocab as f32).ln());
        }
    }
}

#[test]
fn a_tiny_model_learns_a_sequence_by_heart() {
    let config = DecoderConfig { vocab: 37, value_head: false, ..odd() };
    let weights = Weights::init(&config, merit_core::Seed::root(1)).unwrap();
    let mut trainer = Trainer::new(weights, TrainerSettings::default()).unwrap();
    let tokens = prompt(&config, 1, 40);
    let needed: Vec<bool> = (0..40).map(|t| t > 0).collect();
    let sequence = [TrainSequence { tokens: &tokens, needed: &needed }];
    let adamw = AdamWSettings { lr: 1e-2, ..AdamWSettings::default() };
    for _ in 0..150 {
        let nll = |o: &SequenceOutputs| Coefficients {
            logprob: vec![-1.0 / 39.0; o.logprobs.len()],
            ..Coefficients::default()
        };
        trainer.accumulate(&sequence, 1.0, &nll).unwrap();
        trainer.apply(&adamw).unwrap();
    }
    let loss = -trainer.score(&sequence, 1.0).unwrap()[0].logprobs.iter().sum::<f32>() / 39.0;
    assert!(loss < 0.05, "loss {loss}");
    assert_eq!(trainer.updates(), 150);
}

#[test]
fn saving_and_loading_in_the_middle_changes_nothing() {
    let config = odd();
    let batch = Batch::new(&config, 5);
    let adamw = AdamWSettings { weight_decay: 0.1, ..AdamWSettings::default() };
    let step = |trainer: &mut Trainer| {
        trainer.accumulate(&batch.sequences(), 1.0, &objective).unwrap();
        trainer.apply(&adamw).unwrap()
    };
    let mut straight = Trainer::new(weights(&config), TrainerSettings::default()).unwrap();
    step(&mut straight);
    let loaded = Weights::from_safetensors(&straight.weights().to_safetensors()).unwrap();
    let mut resumed = Trainer::new(loaded, TrainerSettings::default()).unwrap();
    resumed.load_optimiser(&straight.optimiser_to_safetensors()).unwrap();
    let before = straight.snapshot();
    assert_eq!(step(&mut straight), step(&mut resumed));
    assert_eq!(bits(straight.weights().values()), bits(resumed.weights().values()));
    assert_ne!(bits(before.values()), bits(straight.weights().values()));
    let refused = resumed.load_optimiser(b"nonsense").unwrap_err().to_string();
    assert!(refused.contains("checkpoint"), "{refused}");
}

#[test]
fn a_gradient_that_is_not_finite_changes_no_weight() {
    let config = odd();
    let batch = Batch::new(&config, 3);
    let mut trainer = Trainer::new(weights(&config), TrainerSettings::default()).unwrap();
    let before = bits(trainer.weights().values());
    let bad = |o: &SequenceOutputs| Coefficients {
        logprob: vec![f32::INFINITY; o.logprobs.len()],
        ..Coefficients::default()
    };
    trainer.accumulate(&batch.sequences(), 1.0, &bad).unwrap();
    let error = trainer.apply(&AdamWSettings::default()).unwrap_err();
    assert!(matches!(error, ModelError::NonFiniteGradient { .. }));
    assert_eq!(before, bits(trainer.weights().values()));
    assert_eq!(trainer.gradient_norm(), 0.0);
}

#[test]
fn long_gradients_are_clipped() {
    let config = odd();
    let batch = Batch::new(&config, 3);
    let mut trainer = Trainer::new(weights(&config), TrainerSettings::default()).unwrap();
    trainer.accumulate(&batch.sequences(), 1.0, &objective).unwrap();
    let norm = trainer.gradient_norm();
    let stats = trainer
        .apply(&AdamWSettings { clip_norm: Some(norm as f32 / 2.0), ..AdamWSettings::default() })
        .unwrap();
    assert_eq!((stats.grad_norm, stats.clipped), (norm, true));
}

#[test]
fn bad_batches_are_refused_with_the_reason() {
    let config = odd();
    let mut trainer = Trainer::new(weights(&config), TrainerSettings::default()).unwrap();
    let mut check = |tokens: &[TokenId], needed: &[bool], temperature: f32, message: &str| {
        let error =
            trainer.accumulate(&[TrainSequence { tokens, needed }], temperature, &objective).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
    };
    let two = [TokenId(1), TokenId(2)];
    check(&two, &[false], 1.0, "`needed` has 1 entries for 2 tokens");
    check(&two, &[true, false], 1.0, "the first token has no context");
    check(&[TokenId(1), TokenId(269)], &[false, true], 1.0, "token 269 is outside the vocabulary of 269");
    check(&[TokenId(0); 161], &[false; 161], 1.0, "161 tokens, but the context holds 160");
    check(&two, &[false, true], 0.0, "temperature 0");
    let short = |_: &SequenceOutputs| Coefficients { logprob: vec![0.0], ..Coefficients::default() };
    let error = trainer
        .accumulate(&[TrainSequence { tokens: &two, needed: &[false, true] }], 1.0, &short)
        .unwrap_err();
    assert!(error.to_string().contains("gave 1 logprob coefficients for 2 tokens"), "{error}");
}

#[test]
fn empty_batches_and_sequences_without_needs_are_fine() {
    let config = odd();
    let mut trainer = Trainer::new(weights(&config), TrainerSettings::default()).unwrap();
    trainer.accumulate(&[], 1.0, &objective).unwrap();
    let idle = TrainSequence { tokens: &[TokenId(3); 5], needed: &[false; 5] };
    let empty = TrainSequence { tokens: &[], needed: &[] };
    let scores = trainer.score(&[idle, empty, idle], 1.0).unwrap();
    assert_eq!(scores.iter().map(|s| s.logprobs.len()).collect::<Vec<_>>(), [5, 0, 5]);
    trainer.accumulate(&[idle, empty], 1.0, &objective).unwrap();
    assert_eq!(trainer.gradient_norm(), 0.0);
}
