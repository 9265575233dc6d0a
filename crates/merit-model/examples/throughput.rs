//! Tokens per second of training and sampling, one JSON object per line, with the share of this machine's peak.
//!
//! `throughput [shapes S,M,L,135M] [modes train,sample,peak] [threads 1,2] [precisions f32,bf16] [rounds] [shard tokens]`
//!
//! Beside the wall clock, tokens are counted per second of processor time (Linux only), which a busy machine disturbs less.
//! `peak` measures what one thread does at best: multiply-adds of f32, products of bf16, bytes copied.
#![allow(clippy::print_stdout)]

use merit_core::{Seed, TokenId};
use merit_kernels::{Device, peak};
use merit_model::*;
use std::sync::Arc;
use std::time::Instant;

type Failure = Box<dyn std::error::Error>;

const PROMPT: usize = 8;
/// Tokens that a row samples.
const DRAWN: usize = 128;

/// A shape and the batch that trains it.
struct Case {
    name: String,
    config: DecoderConfig,
    rows: usize,
    length: usize,
}

impl Case {
    fn of(name: &str) -> Result<Self, Failure> {
        let (vocab, d_model, layers, heads, kv_heads, d_ff, rows, length) = match name {
            "S" => (264, 64, 3, 4, 2, 176, 32, 128),
            "M" => (512, 128, 6, 4, 2, 352, 32, 128),
            "L" => (2048, 256, 10, 8, 4, 704, 32, 128),
            "135M" => (49_152, 576, 30, 9, 3, 1536, 4, 256),
            _ => return Err(format!("no shape `{name}`; known: S, M, L, 135M").into()),
        };
        let config = DecoderConfig {
            vocab,
            layers,
            d_model,
            heads,
            kv_heads,
            d_ff,
            rope_base: 10_000.0,
            norm_eps: 1e-5,
            max_context: 512,
            value_head: false,
            style: Style::default(),
        };
        Ok(Self { name: name.to_owned(), config, rows, length })
    }

    /// Multiply-adds of one token's matrices; the embedding is read as the head, and nothing else of it is multiplied.
    fn matrix_terms(&self) -> f64 {
        self.config.parameters() as f64
    }

    /// Multiply-adds of one token's attention, scores and mixing, with `seen` positions before it.
    fn attention_terms(&self, seen: f64) -> f64 {
        2.0 * (self.config.layers * self.config.attention_width()) as f64 * seen
    }

    /// Floating-point operations of one token: two a multiply-add, and in training two more such passes backwards.
    fn flops_per_token(&self, mode: &str) -> f64 {
        if mode == "train" {
            6.0 * (self.matrix_terms() + self.attention_terms(self.length as f64 / 2.0))
        } else {
            2.0 * (self.matrix_terms() + self.attention_terms(PROMPT as f64 + DRAWN as f64 / 2.0))
        }
    }

    /// Bytes that one token must move at least: in sampling its share of the weights, read once a step for the batch; in
    /// training its share of weights, gradients and moments, four read and three written once a step.
    fn bytes_per_token(&self, mode: &str, batch: usize, precision: Precision) -> f64 {
        let width = if precision == Precision::Bf16 { 2.0 } else { 4.0 };
        let weights = self.config.parameters() as f64;
        if mode == "train" {
            7.0 * 4.0 * weights / (self.rows * self.length) as f64
        } else {
            width * weights / batch as f64
        }
    }
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let list = |index: usize, default: &str| {
        let text = arguments.get(index).map_or(default, String::as_str);
        text.split(',').map(str::to_owned).collect::<Vec<String>>()
    };
    let number =
        |index: usize, default: usize| arguments.get(index).map_or(Ok(default), |text| text.parse::<usize>());
    let (rounds, shard) = (number(4, 5)?, number(5, TrainerSettings::default().shard_tokens)?);
    let modes = list(1, "train,sample");
    if modes.iter().any(|mode| mode == "peak") {
        report_peak();
    }
    for name in list(0, "S,M,L") {
        let case = Case::of(&name)?;
        let weights = Arc::new(Weights::init(&case.config, Seed::root(1))?);
        for (threads, precision) in
            list(2, "1").iter().flat_map(|threads| list(3, "f32").into_iter().map(move |p| (threads, p)))
        {
            let setting =
                Setting { threads: threads.parse()?, precision: precision_of(&precision)?, rounds, shard };
            for mode in &modes {
                match mode.as_str() {
                    "train" => {
                        report(&case, "train", case.rows, &setting, &train(&case, &weights, &setting)?)
                    }
                    "sample" => {
                        for batch in [16, 64] {
                            report(&case, "sample", batch, &setting, &sample(&weights, batch, &setting)?);
                        }
                    }
                    "peak" => {}
                    _ => return Err(format!("no mode `{mode}`; known: train, sample, peak").into()),
                }
            }
        }
    }
    Ok(())
}

struct Setting {
    threads: usize,
    precision: Precision,
    rounds: usize,
    shard: usize,
}

fn precision_of(name: &str) -> Result<Precision, Failure> {
    match name {
        "f32" => Ok(Precision::F32),
        "bf16" => Ok(Precision::Bf16),
        _ => Err(format!("no precision `{name}`; known: f32, bf16").into()),
    }
}

fn name_of(precision: Precision) -> &'static str {
    if precision == Precision::Bf16 { "bf16" } else { "f32" }
}

fn report_peak() {
    let device = Device::single();
    println!(
        "{}",
        serde_json::json!({
            "mode": "peak", "unit": device.dot().name(),
            "f32_flops_per_s": peak::f32_flops_per_s(device.isa()).round(),
            "bf16_flops_per_s": peak::bf16_flops_per_s(device.dot()).round(),
            "copied_bytes_per_s": peak::copied_bytes_per_s().round(),
        })
    );
}

/// Tokens per second of one round, by the wall and by the processor.
struct Rate {
    wall: f64,
    processor: f64,
}

struct Clock {
    wall: Instant,
    processor_s: f64,
}

impl Clock {
    fn start() -> Self {
        Self { wall: Instant::now(), processor_s: processor_s() }
    }

    fn rate(&self, tokens: usize) -> Rate {
        let tokens = tokens as f64;
        Rate {
            wall: tokens / self.wall.elapsed().as_secs_f64(),
            processor: tokens / (processor_s() - self.processor_s),
        }
    }
}

/// Seconds that all threads of this process have run; 0 where the system does not tell.
fn processor_s() -> f64 {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let texts = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("schedstat")).ok());
    let spent = texts.filter_map(|text| text.split_whitespace().next()?.parse::<f64>().ok());
    spent.sum::<f64>() * 1e-9
}

fn report(case: &Case, mode: &str, batch: usize, setting: &Setting, rates: &[Rate]) {
    let median = |pick: fn(&Rate) -> f64| {
        let mut sorted: Vec<f64> = rates.iter().map(pick).collect();
        sorted.sort_by(f64::total_cmp);
        sorted[sorted.len() / 2].round()
    };
    let rounds: Vec<f64> = rates.iter().map(|rate| rate.wall.round()).collect();
    println!(
        "{}",
        serde_json::json!({
            "shape": case.name, "parameters": case.config.parameters(), "mode": mode, "batch": batch,
            "length": if mode == "train" { case.length } else { DRAWN },
            "prompt": if mode == "sample" { PROMPT } else { 0 },
            "threads": setting.threads, "precision": name_of(setting.precision),
            "tokens_per_s": median(|rate| rate.wall), "tokens_per_processor_s": median(|rate| rate.processor),
            "flops_per_token": case.flops_per_token(mode).round(),
            "bytes_per_token": case.bytes_per_token(mode, batch, setting.precision).round(),
            "rounds": rounds,
        })
    );
}

fn train(case: &Case, weights: &Arc<Weights>, setting: &Setting) -> Result<Vec<Rate>, ModelError> {
    let Setting { threads, precision, shard, .. } = *setting;
    let settings = TrainerSettings { threads, precision, shard_tokens: shard, ..TrainerSettings::default() };
    let mut trainer = Trainer::new(Arc::clone(weights), settings)?;
    let mut stream = Seed::root(2).stream();
    let (vocab, count) = (case.config.vocab as u64, case.rows * case.length);
    let mut row = || (0..=case.length).map(|_| TokenId(stream.below(vocab) as u32)).collect();
    let tokens: Vec<Vec<TokenId>> = (0..case.rows).map(|_| row()).collect();
    let needed: Vec<bool> = (0..=case.length).map(|t| t > 0).collect();
    let batch: Vec<TrainSequence> =
        tokens.iter().map(|tokens| TrainSequence { tokens, needed: &needed }).collect();
    let mut rates = Vec::new();
    for _ in 0..=setting.rounds {
        let clock = Clock::start();
        trainer.accumulate(&batch, 1.0, &|outputs| Coefficients {
            logprob: vec![-1.0 / count as f32; outputs.logprobs.len()],
            ..Coefficients::default()
        })?;
        trainer.apply(&AdamWSettings::default())?;
        rates.push(clock.rate(count));
    }
    Ok(rates.split_off(1))
}

fn sample(weights: &Arc<Weights>, batch: usize, setting: &Setting) -> Result<Vec<Rate>, ModelError> {
    let tokenizer = Arc::new(Tokenizer::train(std::iter::empty(), 0));
    let ready = Arc::new(PackedWeights::for_sampling(Arc::clone(weights), setting.precision));
    let settings =
        GeneratorSettings { max_batch: batch, threads: setting.threads, ..GeneratorSettings::default() };
    let mut generator = Generator::over(ready, tokenizer, settings)?;
    let params = Arc::new(SamplingParams { max_tokens: DRAWN, ..SamplingParams::default() });
    let sink = CompletionSink::new(|answer| {
        assert_eq!(
            answer.result.map(|said| said.tokens.len()),
            Ok(DRAWN),
            "every row samples its whole length"
        );
    });
    let mut rates = Vec::new();
    for round in 0..=setting.rounds {
        let clock = Clock::start();
        for session in 0..batch as u64 {
            let context = (0..PROMPT as u32).map(|i| TokenId(7 + i + session as u32)).collect();
            let seed = Seed::root(3).child("session", session + 1000 * round as u64);
            generator.submit(SampleRequest {
                session: SessionId(session),
                context,
                params: Arc::clone(&params),
                seed,
            });
        }
        while generator.pump(&sink) == Pump::Busy {}
        rates.push(clock.rate(batch * DRAWN));
        (0..batch as u64).for_each(|session| generator.close(SessionId(session)));
    }
    Ok(rates.split_off(1))
}
