//! Finite differences against the backward pass, for whole models of every family, tensor by tensor, and for adapters.

use crate::family_check::{families, tiny};
use crate::layout::TensorPlace;
use crate::*;
use merit_core::{Seed, TokenId};

struct Case {
    tokens: Vec<Vec<TokenId>>,
    needed: Vec<Vec<bool>>,
    coefficients: Vec<Coefficients>,
}

impl Case {
    /// Random sequences and coefficients; `on` switches the log-probability, entropy and value streams.
    fn new(config: &DecoderConfig, on: [f32; 3]) -> Self {
        let mut stream = Seed::root(2).stream();
        let mut case = Self { tokens: Vec::new(), needed: Vec::new(), coefficients: Vec::new() };
        for len in [31, 2, 7, 40] {
            case.tokens.push((0..len).map(|_| TokenId(stream.below(config.vocab as u64) as u32)).collect());
            case.needed.push((0..len).map(|t| t > 0 && stream.chance(0.7)).collect());
            let mut random = |on: f32| (0..len).map(|_| on * stream.normal() as f32).collect::<Vec<f32>>();
            case.coefficients.push(Coefficients {
                logprob: random(on[0]),
                entropy: random(on[1]),
                value: random(on[2]),
            });
        }
        case
    }

    fn sequences(&self) -> Vec<TrainSequence<'_>> {
        self.tokens
            .iter()
            .zip(&self.needed)
            .map(|(tokens, needed)| TrainSequence { tokens, needed })
            .collect()
    }

    fn loss(&self, weights: &Weights, temperature: f32) -> f64 {
        let scores = score_sequences(weights, &self.sequences(), temperature, &Workers::single()).unwrap();
        let sum =
            |c: &[f32], x: &[f32]| c.iter().zip(x).map(|(c, x)| f64::from(*c) * f64::from(*x)).sum::<f64>();
        let one = |(c, s): (&Coefficients, &SequenceScores)| {
            sum(&c.logprob, &s.logprobs) + sum(&c.entropy, &s.entropy) + sum(&c.value, &s.values)
        };
        self.coefficients.iter().zip(&scores).map(one).sum()
    }
}

/// Weights at which nothing is trivially zero.
fn shaken(config: &DecoderConfig) -> Weights {
    let mut weights = Weights::init(config, Seed::root(4)).unwrap();
    let mut stream = Seed::root(5).stream();
    weights.values_mut().iter_mut().for_each(|w| *w += 0.1 * stream.normal() as f32);
    weights
}

/// Compares the slope along random directions of each tensor with the difference of losses; `loss(i, by)` is the loss when
/// every value `i` of the tensor is moved.
fn compare(places: &[TensorPlace], gradient: &[f32], loss: impl Fn(&[usize], &[f32]) -> f64) {
    for place in places {
        let indices: Vec<usize> = (0..place.rows * place.columns)
            .map(|i| place.offset + i / place.columns * place.stride + i % place.columns)
            .collect();
        for round in 0..4 {
            let mut stream = Seed::root(6).child(&place.name, round).stream();
            let direction: Vec<f32> = indices.iter().map(|_| stream.normal() as f32).collect();
            let length = direction.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
            let step = (0.02 / length) as f32;
            let moved = |sign: f32| {
                let by: Vec<f32> = direction.iter().map(|x| sign * step * x).collect();
                loss(&indices, &by)
            };
            let along = indices.iter().zip(&direction);
            let slope: f64 = along.map(|(&i, x)| f64::from(gradient[i]) * f64::from(*x)).sum();
            let (want, got) = ((moved(1.0) - moved(-1.0)) / (2.0 * f64::from(step)) / length, slope / length);
            let scale = indices.iter().map(|&i| f64::from(gradient[i]).powi(2)).sum::<f64>().sqrt();
            let tolerance = 0.01 * (scale / (indices.len() as f64).sqrt()).max(want.abs()) + 4e-3;
            assert!((want - got).abs() < tolerance, "{}: {got} against {want}", place.name);
        }
    }
}

fn check(config: &DecoderConfig, on: [f32; 3], temperature: f32) {
    let weights = shaken(config);
    let case = Case::new(config, on);
    let settings = TrainerSettings { shard_tokens: 40, ..TrainerSettings::default() };
    let mut trainer = Trainer::new(weights.clone(), settings).unwrap();
    trainer.accumulate(&case.sequences(), temperature, &|o| case.coefficients[o.index].clone()).unwrap();
    compare(&weights.layout().tensors, trainer.gradients(), |indices, by| {
        let mut moved = weights.clone();
        indices.iter().zip(by).for_each(|(&i, by)| moved.values_mut()[i] += by);
        case.loss(&moved, temperature)
    });
}

fn plain(value_head: bool) -> DecoderConfig {
    DecoderConfig { value_head, ..tiny(Style::default()) }
}

#[test]
fn logprob_gradients_agree_with_finite_differences() {
    check(&plain(false), [1.0, 0.0, 0.0], 1.0);
}

#[test]
fn gradients_at_another_temperature_agree_with_finite_differences() {
    check(&plain(false), [1.0, 1.0, 0.0], 0.7);
}

#[test]
fn entropy_gradients_agree_with_finite_differences() {
    check(&plain(false), [0.0, 1.0, 0.0], 1.0);
}

#[test]
fn value_gradients_agree_with_finite_differences() {
    check(&plain(true), [0.0, 0.0, 1.0], 1.0);
    check(&plain(true), [1.0, 1.0, 1.0], 1.3);
}

#[test]
fn gradients_of_every_family_agree_with_finite_differences() {
    for style in families() {
        check(&tiny(style), [1.0, 0.5, 0.0], 1.1);
    }
}

#[test]
fn gradients_of_adapters_agree_with_finite_differences() {
    for style in families() {
        let config = DecoderConfig { value_head: true, ..tiny(style) };
        let base = shaken(&config);
        let settings = AdapterSettings { rank: 3, alpha: 4.0, ..AdapterSettings::default() };
        let mut adapter = Adapter::init(&base, settings, Seed::root(7)).unwrap();
        let mut stream = Seed::root(9).stream();
        adapter.values_mut().iter_mut().for_each(|w| *w += 0.1 * stream.normal() as f32);
        let case = Case::new(&config, [1.0, 0.5, 0.3]);
        let settings = TrainerSettings { shard_tokens: 40, ..TrainerSettings::default() };
        let mut trainer = Trainer::with_adapter(base.clone(), adapter.clone(), settings).unwrap();
        trainer.accumulate(&case.sequences(), 0.9, &|o| case.coefficients[o.index].clone()).unwrap();
        compare(adapter.places(), trainer.gradients(), |indices, by| {
            let mut moved = adapter.clone();
            indices.iter().zip(by).for_each(|(&i, by)| moved.values_mut()[i] += by);
            case.loss(&moved.merge(&base, &Workers::single()).unwrap(), 0.9)
        });
    }
}
