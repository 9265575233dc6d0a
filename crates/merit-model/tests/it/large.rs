//! Large decoders: one buffer of gradients, threads inside operations, blocks run again on the way back.

use crate::support::*;
use merit_core::TokenId;
use merit_model::*;
use std::sync::Arc;

/// Just above sixteen million weights, most of them in the embedding, so that a test stays quick.
fn large() -> DecoderConfig {
    DecoderConfig {
        vocab: 65_536,
        d_model: 256,
        heads: 4,
        kv_heads: 2,
        d_ff: 384,
        layers: 2,
        value_head: false,
        ..odd()
    }
}

fn batch(config: &DecoderConfig) -> Vec<(Vec<TokenId>, Vec<bool>)> {
    let one = |i: u64| {
        let tokens = prompt(config, i, 9 + 11 * i as usize);
        let needed = (0..tokens.len()).map(|t| t > 0 && t % 2 == 1).collect();
        (tokens, needed)
    };
    (0..3).map(one).collect()
}

fn sequences(batch: &[(Vec<TokenId>, Vec<bool>)]) -> Vec<TrainSequence<'_>> {
    batch.iter().map(|(tokens, needed)| TrainSequence { tokens, needed }).collect()
}

fn objective(outputs: &SequenceOutputs) -> Coefficients {
    Coefficients {
        logprob: outputs.logprobs.iter().map(|logprob| 0.1 * logprob - 1.0).collect(),
        entropy: outputs.entropy.iter().map(|entropy| 0.01 * entropy).collect(),
        value: outputs.values.iter().map(|value| value - 1.0).collect(),
    }
}

fn gradient(weights: &Arc<Weights>, settings: TrainerSettings) -> Vec<u32> {
    let mut trainer = Trainer::new(Arc::clone(weights), settings).unwrap();
    let batch = batch(weights.config());
    trainer.accumulate(&sequences(&batch), 0.9, &objective).unwrap();
    assert!(trainer.gradient_norm() > 0.0);
    bits(trainer.gradients())
}

#[test]
fn gradients_of_a_large_decoder_have_the_same_bits_on_any_threads_and_with_blocks_run_again() {
    let weights = weights(&large());
    assert!(large().parameters() > 16_000_000);
    for precision in [Precision::F32, Precision::Bf16] {
        let settings = TrainerSettings { precision, shard_tokens: 32, ..TrainerSettings::default() };
        let one = gradient(&weights, settings.clone());
        let again = TrainerSettings { threads: 2, recompute: true, lanes: 7, ..settings };
        assert!(one == gradient(&weights, again), "{precision:?}");
    }
}

#[test]
fn blocks_run_again_give_the_same_bits_in_small_decoders() {
    for config in [odd(), even()] {
        let weights = weights(&config);
        let kept = gradient(&weights, TrainerSettings::default());
        let again = TrainerSettings { recompute: true, ..TrainerSettings::default() };
        assert!(kept == gradient(&weights, again));
    }
}

#[test]
fn an_error_in_a_large_batch_leaves_no_half_gradient() {
    let mut trainer =
        Trainer::new(weights(&large()), TrainerSettings { shard_tokens: 16, ..TrainerSettings::default() })
            .unwrap();
    let batch = batch(&large());
    let late = |outputs: &SequenceOutputs| match outputs.index {
        2 => Coefficients { logprob: vec![1.0], ..Coefficients::default() },
        _ => objective(outputs),
    };
    let refused = trainer.accumulate(&sequences(&batch), 1.0, &late).unwrap_err().to_string();
    assert!(refused.contains("sequence 2: the objective gave 1 "), "{refused}");
    assert_eq!(trainer.gradient_norm(), 0.0);
}

#[test]
fn bf16_learns_what_f32_learns() {
    let config = DecoderConfig { vocab: 37, value_head: false, ..even() };
    let losses = [Precision::F32, Precision::Bf16].map(|precision| {
        let weights = Weights::init(&config, merit_core::Seed::root(1)).unwrap();
        let run = TrainerSettings { precision, ..TrainerSettings::default() };
        let mut trainer = Trainer::new(weights, run).unwrap();
        let tokens = prompt(&config, 1, 40);
        let needed: Vec<bool> = (0..40).map(|t| t > 0).collect();
        let sequence = [TrainSequence { tokens: &tokens, needed: &needed }];
        for _ in 0..60 {
            let nll = |o: &SequenceOutputs| Coefficients {
                logprob: vec![-1.0 / 39.0; o.logprobs.len()],
                ..Coefficients::default()
            };
            trainer.accumulate(&sequence, 1.0, &nll).unwrap();
            trainer.apply(&AdamWSettings { lr: 1e-2, ..AdamWSettings::default() }).unwrap();
        }
        -trainer.score(&sequence, 1.0).unwrap()[0].logprobs.iter().sum::<f32>() / 39.0
    });
    assert!(losses.iter().all(|&loss| loss < 0.1), "{losses:?}");
}
