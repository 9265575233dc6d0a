//! How far a model of ours is from `transformers`.
//!
//! `cargo run --release -p merit-model --example agreement -- export MODEL FOLDER PROMPTS.jsonl IDS.jsonl` writes the
//! model as a folder that `transformers` loads, and the prompts as token ids. Then
//! `benchmarks/agreement/reference_logits.py FOLDER REFERENCE.jsonl --prompts IDS.jsonl` writes what it computes, and
//! `… agreement -- compare MODEL REFERENCE.jsonl [f32|bf16|stored] [threads]` prints one JSON line per prompt and a summary.
#![allow(clippy::print_stdout)]

use merit_core::TokenId;
use merit_formats::{HfExtras, HfOptions, save_hf};
use merit_model::*;
use serde_json::{Value, json};
use std::io::Write as _;

type Failure = Box<dyn std::error::Error>;

const USAGE: &str =
    "export MODEL FOLDER PROMPTS.jsonl IDS.jsonl | compare MODEL REFERENCE.jsonl [f32|bf16|stored] [threads]";

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["export", model, folder, prompts, ids] => export(model, folder, prompts, ids),
        ["compare", model, reference, ref rest @ ..] => {
            compare(model, reference, rest.first().unwrap_or(&"f32"), rest.get(1).unwrap_or(&"1").parse()?)
        }
        _ => Err(USAGE.into()),
    }
}

fn export(model: &str, folder: &str, prompts: &str, ids: &str) -> Result<(), Failure> {
    let model = LanguageModel::open(model)?;
    let weights = model.weights(LoadOptions::default())?;
    let extras = HfExtras { tokenizer_json: None, chat_template: None, special: model.files().special() };
    save_hf(folder, model.files().config(), weights.named_tensors(), &extras, HfOptions::default())?;
    let mut out = std::fs::File::create(ids)?;
    for line in std::fs::read_to_string(prompts)?.lines() {
        let prompt: Value = serde_json::from_str(line)?;
        let text = prompt["text"].as_str().ok_or("a prompt has a `text`")?;
        let ids: Vec<u32> = model.tokenizer().encode_framed(text).iter().map(|token| token.0).collect();
        writeln!(out, "{}", json!({ "ids": ids }))?;
    }
    Ok(())
}

fn compare(model: &str, reference: &str, held: &str, threads: usize) -> Result<(), Failure> {
    let held = match held {
        "f32" => Held::Decoded(Precision::F32),
        "bf16" => Held::Decoded(Precision::Bf16),
        "stored" => Held::AsStored,
        other => return Err(format!("no form `{other}`; known: f32, bf16, stored").into()),
    };
    let files = merit_formats::ModelFiles::open(model)?;
    let ready = PackedWeights::from_files(&files, LoadOptions { context: 2048 }, held)?;
    let workers = Workers::new(threads)?;
    let (mut worst, mut count) = ([0.0_f64; 3], 0);
    for line in std::fs::read_to_string(reference)?.lines() {
        let expected: Value = serde_json::from_str(line)?;
        let far = distances(&ready, &expected, &workers)?;
        println!("{}", json!({ "prompt": count, "logprobs": far[0], "logsumexp": far[1], "top": far[2] }));
        worst.iter_mut().zip(far).for_each(|(worst, far)| *worst = worst.max(far));
        count += 1;
    }
    println!("{}", json!({ "prompts": count, "logprobs": worst[0], "logsumexp": worst[1], "top": worst[2] }));
    Ok(())
}

/// The largest distance of log-probabilities, of the normaliser and of the top logits.
fn distances(ready: &PackedWeights, expected: &Value, workers: &Workers) -> Result<[f64; 3], Failure> {
    let numbers = |key: &str| -> Result<Vec<f64>, Failure> {
        let list = expected[key].as_array().ok_or_else(|| format!("a line lacks `{key}`"))?;
        Ok(list.iter().filter_map(Value::as_f64).collect())
    };
    let tokens: Vec<TokenId> = numbers("ids")?.iter().map(|&id| TokenId(id as u32)).collect();
    let needed: Vec<bool> = (0..tokens.len()).map(|t| t > 0).collect();
    let sequence = TrainSequence { tokens: &tokens, needed: &needed };
    let scores = score_packed(ready, &[sequence], 1.0, workers)?.remove(0);
    let logits = next_logits(ready, &tokens, workers)?;
    let most = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let sum: f64 = logits.iter().map(|&x| f64::from(x - most).exp()).sum();
    let wanted = numbers("logprobs")?;
    let logprobs = scores.logprobs[1..].iter().zip(wanted).map(|(got, want)| (f64::from(*got) - want).abs());
    let top = expected["top"].as_array().ok_or("a line lacks `top`")?.iter().filter_map(|pair| {
        let (id, logit) = (pair[0].as_u64()?, pair[1].as_f64()?);
        Some((f64::from(*logits.get(id as usize)?) - logit).abs())
    });
    let logsumexp = expected["logsumexp"].as_f64().ok_or("a line lacks `logsumexp`")?;
    let far = (f64::from(most) + sum.ln() - logsumexp).abs();
    Ok([logprobs.fold(0.0, f64::max), far, top.fold(0.0, f64::max)])
}
