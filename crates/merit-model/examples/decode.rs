//! Greedy decoding of a model file, as `benchmarks/peers/llama_decode.py` does it with llama.cpp.
//!
//! `decode MODEL [BATCH] [THREADS] [TOKENS] [stored|stored-bf16|f32|bf16]` (1, 1, 64, stored; `stored-bf16`: weights as
//! stored, activations in bf16). BATCH sequences read the same prompt and
//! then TOKENS tokens each; tokens that end a text do not end a sequence. Only the steps are timed, after two tokens of each
//! sequence. One JSON line: seconds on the wall and of the processor, tokens a second by both, the tokens of the first sequence.
#![allow(clippy::print_stdout)]

use merit_core::{Seed, TokenId};
use merit_model::{
    CompletionSink, Generator, GeneratorSettings, Held, LanguageModel, LoadOptions, Precision, Pump,
    SampleRequest, Sampler as _, SamplingParams, SessionId,
};
use rustix::time::{ClockId, clock_gettime};
use serde_json::json;
use std::sync::{Arc, Mutex, PoisonError};

type Failure = Box<dyn std::error::Error>;

const TEXT: &str = "The capital of France is Paris. Here is a short story about a lighthouse keeper who found a map in a bottle:";
/// Tokens of each sequence before the clock starts.
const WARM: usize = 2;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let word = |index: usize, or: &'static str| arguments.get(index).map_or(or, String::as_str);
    let path =
        arguments.first().ok_or("decode MODEL [BATCH] [THREADS] [TOKENS] [stored|stored-bf16|f32|bf16]")?;
    let number = |index: usize, or: &'static str| word(index, or).parse::<usize>();
    let (batch, threads, tokens) = (number(1, "1")?, number(2, "1")?, number(3, "64")?);
    let held = match word(4, "stored") {
        "stored" | "stored-bf16" => Held::AsStored,
        "f32" => Held::Decoded(Precision::F32),
        "bf16" => Held::Decoded(Precision::Bf16),
        other => return Err(format!("no form `{other}`; known: stored, stored-bf16, f32, bf16").into()),
    };

    let before = wall();
    let model = LanguageModel::open(path)?;
    let mut ready = model.packed(LoadOptions { context: 2048 }, held)?;
    if word(4, "stored") == "stored-bf16" {
        ready = ready.with_activations(Precision::Bf16);
    }
    let settings = GeneratorSettings { threads, max_batch: batch, ..GeneratorSettings::default() };
    let mut generator = Generator::over(Arc::new(ready), Arc::clone(model.tokenizer()), settings)?;
    let load_s = wall() - before;

    let prompt = model.tokenizer().encode(TEXT);
    submit(&mut generator, &prompt, batch, WARM + tokens);
    let timed = run(&mut generator, batch, WARM + tokens)?;
    println!(
        "{}",
        json!({
            "what": "decode", "model": path, "held": word(4, "stored"), "batch": batch, "threads": threads,
            "prompt": prompt.len(), "tokens": tokens, "load_s": load_s, "seconds": timed.wall_s, "cpu_seconds": timed.cpu_s,
            "tokens_per_s": timed.count as f64 / timed.wall_s, "tokens_per_cpu_s": timed.count as f64 / timed.cpu_s,
            "drawn": timed.first.iter().map(|token| token.0).collect::<Vec<u32>>(),
        })
    );
    Ok(())
}

fn submit(generator: &mut Generator, prompt: &[TokenId], batch: usize, max_tokens: usize) {
    let params = Arc::new(SamplingParams { temperature: 0.0, max_tokens, ..SamplingParams::default() });
    for session in 0..batch as u64 {
        generator.submit(SampleRequest {
            session: SessionId(session),
            context: prompt.to_vec(),
            params: Arc::clone(&params),
            seed: Seed::root(session),
        });
    }
}

struct Timed {
    count: usize,
    wall_s: f64,
    cpu_s: f64,
    first: Vec<TokenId>,
}

/// Steps until the first sequence is done; the clock runs from where the last one is warm.
fn run(generator: &mut Generator, batch: usize, max_tokens: usize) -> Result<Timed, Failure> {
    let drawn = Arc::new(Mutex::new(vec![Vec::new(); batch]));
    let sink = {
        let drawn = Arc::clone(&drawn);
        CompletionSink::new(|_| ()).with_tokens(move |token| {
            let mut drawn = drawn.lock().unwrap_or_else(PoisonError::into_inner);
            drawn[token.session.0 as usize].push(token.drawn.token);
        })
    };
    let lengths = || -> Vec<usize> {
        drawn.lock().unwrap_or_else(PoisonError::into_inner).iter().map(Vec::len).collect()
    };
    let mut start = None;
    loop {
        let pump = generator.pump(&sink);
        let lengths = lengths();
        let count: usize = lengths.iter().sum();
        if start.is_none() && lengths.iter().all(|&length| length >= WARM) {
            start = Some((count, wall(), processor()));
            continue;
        }
        if lengths.contains(&max_tokens) || pump == Pump::Idle {
            let (from, wall_s, cpu_s) = start.ok_or("the sequences ended before the clock started")?;
            let (wall_s, cpu_s) = (wall() - wall_s, processor() - cpu_s);
            let first = drawn.lock().unwrap_or_else(PoisonError::into_inner).swap_remove(0);
            return Ok(Timed { count: count - from, wall_s, cpu_s, first });
        }
    }
}

fn wall() -> f64 {
    seconds(ClockId::Monotonic)
}

fn processor() -> f64 {
    seconds(ClockId::ProcessCPUTime)
}

fn seconds(clock: ClockId) -> f64 {
    let time = clock_gettime(clock);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}
