//! Tokens per second of training and sampling, one JSON object per line.
//!
//! `cargo run --release -p merit-model --example throughput -- [shapes S,M,L] [modes train,sample] [threads 1,2] [rounds] [shard]`
//!
//! Beside the wall clock, tokens are counted per second of processor time (Linux only), which a busy machine disturbs less.
#![allow(clippy::print_stdout)]

use merit_core::{Seed, TokenId};
use merit_model::*;
use std::sync::Arc;
use std::time::Instant;

const LEN: usize = 128;
const PROMPT: usize = 8;

fn shape(name: &str) -> Option<DecoderConfig> {
    let (vocab, d_model, layers, heads, kv_heads, d_ff) = match name {
        "S" => (264, 64, 3, 4, 2, 176),
        "M" => (512, 128, 6, 4, 2, 352),
        "L" => (2048, 256, 10, 8, 4, 704),
        _ => return None,
    };
    let (rope_base, norm_eps, max_context) = (10_000.0, 1e-5, 512);
    Some(DecoderConfig {
        vocab,
        layers,
        d_model,
        heads,
        kv_heads,
        d_ff,
        rope_base,
        norm_eps,
        max_context,
        value_head: false,
    })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let list = |index: usize, default: &str| {
        let text = arguments.get(index).map_or(default, String::as_str);
        text.split(',').map(str::to_owned).collect::<Vec<String>>()
    };
    let rounds: usize = arguments.get(3).map_or(Ok(5), |text| text.parse())?;
    let shard: usize =
        arguments.get(4).map_or(Ok(TrainerSettings::default().shard_tokens), |text| text.parse())?;
    for name in list(0, "S,M,L") {
        let config = shape(&name).ok_or_else(|| format!("no shape `{name}`; known: S, M, L"))?;
        let weights = Arc::new(Weights::init(&config, Seed::root(1))?);
        for threads in list(2, "1") {
            let threads: usize = threads.parse()?;
            for mode in list(1, "train,sample") {
                match mode.as_str() {
                    "train" => {
                        let rates = train(&weights, threads, shard, rounds)?;
                        report(&name, &config, "train", 32, threads, &rates);
                    }
                    "sample" => {
                        for batch in [16, 64] {
                            let rates = sample(&weights, batch, threads, rounds)?;
                            report(&name, &config, "sample", batch, threads, &rates);
                        }
                    }
                    _ => return Err(format!("no mode `{mode}`; known: train, sample").into()),
                }
            }
        }
    }
    Ok(())
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

fn report(shape: &str, config: &DecoderConfig, mode: &str, batch: usize, threads: usize, rates: &[Rate]) {
    let median = |pick: fn(&Rate) -> f64| {
        let mut sorted: Vec<f64> = rates.iter().map(pick).collect();
        sorted.sort_by(f64::total_cmp);
        sorted[sorted.len() / 2].round()
    };
    let rounds: Vec<f64> = rates.iter().map(|rate| rate.wall.round()).collect();
    println!(
        "{}",
        serde_json::json!({
            "shape": shape, "parameters": config.parameters(), "mode": mode, "batch": batch, "length": LEN,
            "prompt": if mode == "sample" { PROMPT } else { 0 },
            "threads": threads, "tokens_per_s": median(|rate| rate.wall),
            "tokens_per_processor_s": median(|rate| rate.processor), "rounds": rounds,
        })
    );
}

fn train(
    weights: &Arc<Weights>,
    threads: usize,
    shard: usize,
    rounds: usize,
) -> Result<Vec<Rate>, ModelError> {
    let settings = TrainerSettings { threads, shard_tokens: shard, ..TrainerSettings::default() };
    let mut trainer = Trainer::new(Arc::clone(weights), settings)?;
    let mut stream = Seed::root(2).stream();
    let vocab = weights.config().vocab as u64;
    let tokens: Vec<Vec<TokenId>> =
        (0..32).map(|_| (0..=LEN).map(|_| TokenId(stream.below(vocab) as u32)).collect()).collect();
    let needed: Vec<bool> = (0..=LEN).map(|t| t > 0).collect();
    let batch: Vec<TrainSequence> =
        tokens.iter().map(|tokens| TrainSequence { tokens, needed: &needed }).collect();
    let mut rates = Vec::new();
    for _ in 0..=rounds {
        let clock = Clock::start();
        trainer.accumulate(&batch, 1.0, &|outputs| Coefficients {
            logprob: vec![-1.0 / (32 * LEN) as f32; outputs.logprobs.len()],
            ..Coefficients::default()
        })?;
        trainer.apply(&AdamWSettings::default())?;
        rates.push(clock.rate(32 * LEN));
    }
    Ok(rates.split_off(1))
}

fn sample(
    weights: &Arc<Weights>,
    batch: usize,
    threads: usize,
    rounds: usize,
) -> Result<Vec<Rate>, ModelError> {
    let tokenizer = Arc::new(Tokenizer::train(std::iter::empty(), 0));
    let mut generator =
        Generator::new(Arc::clone(weights), tokenizer, GeneratorSettings { max_batch: batch, threads })?;
    let params = Arc::new(SamplingParams { max_tokens: LEN, ..SamplingParams::default() });
    let sink = CompletionSink::new(|answer| {
        assert_eq!(
            answer.result.map(|said| said.tokens.len()),
            Ok(LEN),
            "every row samples its whole length"
        );
    });
    let mut rates = Vec::new();
    for round in 0..=rounds {
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
        rates.push(clock.rate(batch * LEN));
        (0..batch as u64).for_each(|session| generator.close(SessionId(session)));
    }
    Ok(rates.split_off(1))
}
