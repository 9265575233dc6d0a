//! Real models, where `cargo xtask weights` has fetched them: what they compute agrees with `transformers`, and they answer.
//!
//! The golden files hold eight of the two hundred prompts that `examples/agreement.rs` compares.

use crate::support::expected::Expected;
use crate::support::*;
use merit_formats::ModelFiles;
use merit_model::*;
use std::path::PathBuf;
use std::sync::Arc;

fn golden(name: &str) -> Vec<Expected> {
    Expected::read(&PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name))
}

/// The largest distance of eight prompts, with matrices as the file has them.
fn distance(model: &str, expected: &str) -> Option<f64> {
    let files = ModelFiles::open(merit_testing::weights(model)?).unwrap();
    let ready = PackedWeights::from_files(&files, LoadOptions { context: 256 }, Held::AsStored).unwrap();
    Some(golden(expected).iter().map(|line| line.distance(&ready)).fold(0.0, f64::max))
}

#[test]
fn smollm2_agrees_with_transformers() {
    if let Some(far) = distance("smollm2-135m-instruct-q4_1.gguf", "smollm2-135m.jsonl") {
        assert!(far < 1e-4, "{far}");
    }
}

#[test]
fn gemma3_agrees_with_transformers() {
    if let Some(far) = distance("gemma3-270m-q4_k_m.gguf", "gemma3-270m.jsonl") {
        assert!(far < 1e-4, "{far}");
    }
}

#[test]
fn smollm2_knows_the_capital_of_france() {
    let Some(path) = merit_testing::weights("smollm2-135m-instruct-q4_1.gguf") else { return };
    let model = LanguageModel::open(path).unwrap();
    let ready = Arc::new(model.packed(LoadOptions { context: 256 }, Held::AsStored).unwrap());
    let tokenizer = Arc::clone(model.tokenizer());
    let mut sampler =
        Generator::over(Arc::clone(&ready), Arc::clone(&tokenizer), GeneratorSettings::default()).unwrap();
    let text = "<|im_start|>user\nWhat is the capital of France?<|im_end|>\n<|im_start|>assistant\n";
    let context = tokenizer.encode_with_specials(text);
    let params = SamplingParams { stop_tokens: model.ends().to_vec(), ..at(0.0, 12) };
    let said = sample(&mut sampler, vec![request(1, &context, params)]).remove(0);
    let answer = tokenizer.decode(&said.tokens);
    assert!(answer.contains("Paris"), "{answer}");
    // What was sampled from the quantised file is what the decoded weights say, bit for bit.
    let tokens = [&context[..], &said.tokens].concat();
    let needed: Vec<bool> = (0..tokens.len()).map(|t| t >= context.len()).collect();
    let decoded = model.packed(LoadOptions { context: 256 }, Held::Decoded(Precision::F32)).unwrap();
    let sequence = TrainSequence { tokens: &tokens, needed: &needed };
    let scores = score_packed(&decoded, &[sequence], 1.0, &Workers::new(2).unwrap()).unwrap().remove(0);
    assert_eq!(bits(&scores.logprobs[context.len()..]), bits(&said.logprobs));
}
