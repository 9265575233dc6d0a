//! The plain decoder of the first release: its files, scores, gradients and updates keep their bits.

use crate::support::*;
use merit_model::*;

/// Fowler, Noll and Vo's hash, 64 bits.
fn hash(bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes
        .into_iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

fn hash_floats(values: &[f32]) -> u64 {
    hash(values.iter().flat_map(|value| value.to_bits().to_le_bytes()))
}

fn objective(outputs: &SequenceOutputs) -> Coefficients {
    Coefficients {
        logprob: outputs.logprobs.iter().map(|logprob| 0.1 * logprob - 1.0).collect(),
        entropy: outputs.entropy.iter().map(|entropy| 0.01 * entropy).collect(),
        value: outputs.values.iter().map(|value| value - 1.0).collect(),
    }
}

fn check(config: &DecoderConfig, want: [u64; 5]) {
    let mut trainer =
        Trainer::new(weights(config), TrainerSettings { shard_tokens: 200, ..TrainerSettings::default() })
            .unwrap();
    let file = hash(trainer.weights().to_safetensors());
    let batch: Vec<_> = (0..14).map(|i| prompt(config, i, 2 + (i as usize * 37) % 120)).collect();
    let needed: Vec<Vec<bool>> =
        batch.iter().map(|tokens| (0..tokens.len()).map(|t| t > 0 && t % 3 != 0).collect()).collect();
    let sequences: Vec<TrainSequence> =
        batch.iter().zip(&needed).map(|(tokens, needed)| TrainSequence { tokens, needed }).collect();
    let scores: Vec<f32> = trainer
        .score(&sequences, 0.8)
        .unwrap()
        .into_iter()
        .flat_map(|s| [s.logprobs, s.entropy, s.values].concat())
        .collect();
    trainer.accumulate(&sequences, 0.8, &objective).unwrap();
    let gradient = hash_floats(trainer.gradients());
    let adamw = AdamWSettings { weight_decay: 0.1, ..AdamWSettings::default() };
    trainer.apply(&adamw).unwrap();
    for _ in 0..2 {
        trainer.accumulate(&sequences, 1.0, &objective).unwrap();
        trainer.apply(&adamw).unwrap();
    }
    let said = sample(
        &mut generator(&trainer.snapshot(), 3, 1),
        (0..5).map(|i| request(i, &batch[i as usize + 2], at(0.9, 20))).collect(),
    );
    let logprobs: Vec<f32> = said.iter().flat_map(|said| said.logprobs.clone()).collect();
    let got = [
        file,
        hash_floats(&scores),
        gradient,
        hash_floats(trainer.weights().values()),
        hash_floats(&logprobs),
    ];
    assert_eq!(got, want, "{got:#018x?}");
}

#[test]
fn the_odd_decoder_keeps_its_bits() {
    check(
        &odd(),
        [
            0x5e18_7ada_0805_40c7,
            0x33a8_91f8_b46d_8ab2,
            0x786b_05fd_5324_b90c,
            0x4990_1ae7_863d_d53a,
            0xb3fb_b3a2_52fa_2cdf,
        ],
    );
}

#[test]
fn the_even_decoder_keeps_its_bits() {
    check(
        &even(),
        [
            0xb7bb_f679_55f0_309a,
            0x568a_d551_b093_4396,
            0xc9f1_07fc_40e7_b8c0,
            0x2c75_f4d3_6544_07d5,
            0x3509_5d98_e987_f1ec,
        ],
    );
}
