//! Small models, prompts and a collector of completions for the behaviour tests.

pub(crate) mod expected;

use merit_core::{Seed, TokenId};
use merit_model::*;
use std::sync::{Arc, Mutex};

/// Odd on purpose: three heads of eight, a vocabulary that fills no vector.
pub(crate) fn odd() -> DecoderConfig {
    DecoderConfig {
        vocab: 269,
        layers: 2,
        d_model: 24,
        heads: 3,
        kv_heads: 1,
        d_ff: 40,
        rope_base: 1e4,
        norm_eps: 1e-5,
        max_context: 160,
        value_head: true,
        style: Style::default(),
    }
}

/// Even: heads and widths that fill vectors.
pub(crate) fn even() -> DecoderConfig {
    DecoderConfig {
        vocab: 320,
        layers: 3,
        d_model: 64,
        heads: 4,
        kv_heads: 2,
        d_ff: 176,
        max_context: 200,
        ..odd()
    }
}

/// Every second layer sees twenty positions; heads are wider than the model divided by their number.
pub(crate) fn windowed() -> DecoderConfig {
    let window = Some(Window { size: 20, every: 2, rope_base: 500.0 });
    DecoderConfig { style: Style { window, head_dim: Some(24), ..Style::default() }, ..even() }
}

pub(crate) fn weights(config: &DecoderConfig) -> Arc<Weights> {
    let mut weights = Weights::init(config, Seed::root(11)).unwrap();
    // The value head starts at zero; move everything a little so that nothing is trivially equal.
    let mut stream = Seed::root(12).stream();
    weights.values_mut().iter_mut().for_each(|w| *w += 0.05 * stream.normal() as f32);
    Arc::new(weights)
}

pub(crate) fn bytes_only() -> Arc<Tokenizer> {
    Arc::new(Tokenizer::train(std::iter::empty(), 0))
}

pub(crate) fn generator(weights: &Arc<Weights>, max_batch: usize, threads: usize) -> Generator {
    let settings = GeneratorSettings { max_batch, threads, ..GeneratorSettings::default() };
    Generator::new(Arc::clone(weights), bytes_only(), settings).unwrap()
}

pub(crate) fn prompt(config: &DecoderConfig, index: u64, len: usize) -> Vec<TokenId> {
    let mut stream = Seed::root(13).child("prompt", index).stream();
    (0..len).map(|_| TokenId(stream.below(config.vocab as u64) as u32)).collect()
}

pub(crate) fn request(session: u64, context: &[TokenId], params: SamplingParams) -> SampleRequest {
    let seed = Seed::root(14).child("session", session);
    SampleRequest { session: SessionId(session), context: context.to_vec(), params: Arc::new(params), seed }
}

pub(crate) fn at(temperature: f32, max_tokens: usize) -> SamplingParams {
    SamplingParams { temperature, max_tokens, ..SamplingParams::default() }
}

/// Pumps until idle and returns what came out, by session.
pub(crate) fn drain(sampler: &mut dyn Sampler) -> Vec<SessionResult> {
    let results = Arc::new(Mutex::new(Vec::new()));
    let sink = CompletionSink::new({
        let results = Arc::clone(&results);
        move |result| results.lock().unwrap().push(result)
    });
    while sampler.pump(&sink) == Pump::Busy {}
    let mut results = std::mem::take(&mut *results.lock().unwrap());
    results.sort_by_key(|result| result.session);
    results
}

/// Pumps so many times at most and returns what came out.
pub(crate) fn pump(sampler: &mut dyn Sampler, times: usize) -> Vec<SessionResult> {
    let results = Arc::new(Mutex::new(Vec::new()));
    let sink = CompletionSink::new({
        let results = Arc::clone(&results);
        move |result| results.lock().unwrap().push(result)
    });
    (0..times).for_each(|_| {
        sampler.pump(&sink);
    });
    std::mem::take(&mut *results.lock().unwrap())
}

pub(crate) fn sample(sampler: &mut dyn Sampler, requests: Vec<SampleRequest>) -> Vec<Completion> {
    requests.into_iter().for_each(|request| sampler.submit(request));
    drain(sampler).into_iter().map(|result| result.result.unwrap()).collect()
}

/// What training says of a completion behind its context: log-probabilities and values.
pub(crate) fn trained(
    weights: &Weights,
    context: &[TokenId],
    said: &Completion,
    temperature: f32,
) -> (Vec<f32>, Vec<f32>) {
    let tokens = [context, &said.tokens].concat();
    let needed: Vec<bool> = (0..tokens.len()).map(|t| t >= context.len()).collect();
    let sequence = TrainSequence { tokens: &tokens, needed: &needed };
    let scores = score_sequences(weights, &[sequence], temperature, &Workers::single()).unwrap().remove(0);
    (scores.logprobs[context.len()..].to_vec(), scores.values[context.len()..].to_vec())
}

pub(crate) fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}
