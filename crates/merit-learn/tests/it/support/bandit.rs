//! A tiny real policy that says a few tokens after a prompt, and episodes of it.
#![allow(unreachable_pub)]

use merit_core::*;
use merit_model::*;
use std::sync::{Arc, Mutex};

pub const TEMPERATURE: f32 = 0.8;

pub fn trainer(value_head: bool, threads: usize) -> Trainer {
    let config = DecoderConfig {
        vocab: tokenizer().vocab_len(),
        layers: 2,
        d_model: 32,
        heads: 4,
        kv_heads: 2,
        d_ff: 64,
        rope_base: 1e4,
        norm_eps: 1e-5,
        max_context: 32,
        value_head,
        style: Style::default(),
    };
    let weights = Weights::init(&config, Seed::root(11)).unwrap();
    Trainer::new(
        weights,
        TrainerSettings { threads, lanes: 3, shard_tokens: 16, ..TrainerSettings::default() },
    )
    .unwrap()
}

pub fn tokenizer() -> Arc<Tokenizer> {
    Arc::new(Tokenizer::train(["heads or tails"].into_iter(), 0))
}

pub fn token(text: &str) -> TokenId {
    tokenizer().encode(text)[0]
}

pub fn prompt() -> Vec<TokenId> {
    tokenizer().encode("flip:")
}

/// `count` completions of `tokens` tokens by the present policy.
pub fn completions(trainer: &Trainer, count: u64, tokens: usize, seed: Seed) -> Vec<Completion> {
    let mut generator =
        Generator::new(trainer.snapshot(), tokenizer(), GeneratorSettings::default()).unwrap();
    let params = SamplingParams { temperature: TEMPERATURE, max_tokens: tokens, ..SamplingParams::default() };
    let params = Arc::new(params);
    for member in 0..count {
        let seed = seed.child("member", member);
        generator.submit(SampleRequest {
            session: SessionId(member),
            context: prompt(),
            params: params.clone(),
            seed,
        });
    }
    let done = Arc::new(Mutex::new(Vec::new()));
    let kept = done.clone();
    let sink = CompletionSink::new(move |result| kept.lock().unwrap().push(result.result.unwrap()));
    while generator.pump(&sink) == Pump::Busy {}
    let mut done = std::mem::take(&mut *done.lock().unwrap());
    done.sort_by_key(|completion| completion.session);
    done
}

/// The samples of one group: reward by `reward`, advantage = reward - mean, return = reward.
pub fn samples(
    completions: &[Completion],
    version: PolicyVersion,
    reward: impl Fn(&[TokenId]) -> f32,
) -> Vec<Sample> {
    let rewards: Vec<f32> = completions.iter().map(|c| reward(&c.tokens)).collect();
    let mean = rewards.iter().sum::<f32>() / rewards.len() as f32;
    let sample = |(completion, reward): (&Completion, &f32)| {
        let scored = super::scored_tokens(prompt(), completion, version, f64::from(*reward));
        let mut sample = Sample::of(&scored, 0).unwrap();
        let stream = |value: f32| sample.mask.iter().map(|&m| if m { value } else { 0.0 }).collect();
        sample.advantages = Some(stream(reward - mean));
        sample.returns = Some(stream(*reward));
        sample
    };
    completions.iter().zip(&rewards).map(sample).collect()
}

/// Probability of saying `answer` right after the prompt.
pub fn probability(trainer: &mut Trainer, answer: TokenId) -> f32 {
    let tokens = [prompt(), vec![answer]].concat();
    let needed: Vec<bool> = (0..tokens.len()).map(|t| t + 1 == tokens.len()).collect();
    let scores = trainer.score(&[TrainSequence { tokens: &tokens, needed: &needed }], 1.0).unwrap();
    scores[0].logprobs.last().unwrap().exp()
}
