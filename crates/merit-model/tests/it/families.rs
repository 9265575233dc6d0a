//! Every family of decoders computes what `transformers` computes, from the same files, and writes files back that say the
//! same. The golden folders are made by `benchmarks/agreement/family_models.py`.

use crate::support::expected::Expected;
use crate::support::*;
use merit_formats::{Encoding, HfExtras, HfOptions, ModelFiles, Special, save_hf};
use merit_model::*;
use std::path::PathBuf;
use std::sync::Arc;

const FAMILIES: [&str; 5] = ["smollm2", "llama3", "qwen2", "qwen3", "gemma3"];

fn folder(family: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden/families").join(family)
}

fn open(family: &str) -> ModelFiles {
    ModelFiles::open(folder(family)).unwrap()
}

/// The largest distance over all prompts of a family.
fn distance(family: &str, ready: &PackedWeights) -> f64 {
    let expected = Expected::read(&folder(family).join("expected.jsonl"));
    assert!(expected.len() >= 4);
    expected.iter().map(|line| line.distance(ready)).fold(0.0, f64::max)
}

#[test]
fn logits_and_logprobs_agree_with_transformers() {
    for family in FAMILIES {
        let files = open(family);
        let weights = Weights::from_files(&files, LoadOptions::default()).unwrap();
        let far = distance(family, &PackedWeights::for_sampling(weights, Precision::F32));
        assert!(far < 2e-5, "{family}: {far}");
        for held in [Held::AsStored, Held::Decoded(Precision::F32)] {
            let far =
                distance(family, &PackedWeights::from_files(&files, LoadOptions::default(), held).unwrap());
            assert!(far < 2e-5, "{family}, {held:?}: {far}");
        }
    }
}

#[test]
fn bf16_products_stay_near() {
    for family in FAMILIES {
        let held = Held::Decoded(Precision::Bf16);
        let ready = PackedWeights::from_files(&open(family), LoadOptions::default(), held).unwrap();
        let far = distance(family, &ready);
        assert!(far > 1e-5 && far < 0.5, "{family}: {far}");
    }
}

#[test]
fn all_ways_of_loading_give_the_same_bits() {
    for family in FAMILIES {
        let files = open(family);
        let load = |held| PackedWeights::from_files(&files, LoadOptions::default(), held).unwrap();
        let tokens = prompt(files.config(), 3, 30);
        let logits = |ready: &PackedWeights| bits(&next_logits(ready, &tokens, &Workers::single()).unwrap());
        let trained = Weights::from_files(&files, LoadOptions::default()).unwrap();
        let one = logits(&PackedWeights::for_sampling(trained, Precision::F32));
        assert_eq!(one, logits(&load(Held::AsStored)), "{family}");
        assert_eq!(one, logits(&load(Held::Decoded(Precision::F32))), "{family}");
    }
}

#[test]
fn sampled_logprobs_are_the_trained_ones_in_every_family_and_precision() {
    for family in FAMILIES {
        let weights = Arc::new(Weights::from_files(&open(family), LoadOptions::default()).unwrap());
        for precision in [Precision::F32, Precision::Bf16] {
            let settings = TrainerSettings { precision, ..TrainerSettings::default() };
            let mut trainer = Trainer::new(Arc::clone(&weights), settings).unwrap();
            let mut sampler =
                Generator::over(trainer.policy(), bytes_only(), GeneratorSettings::default()).unwrap();
            let context = prompt(weights.config(), 5, 7);
            let requests = (0..3).map(|session| request(session, &context, at(0.9, 20))).collect();
            for said in sample(&mut sampler, requests) {
                let tokens = [&context[..], &said.tokens].concat();
                let needed: Vec<bool> = (0..tokens.len()).map(|t| t >= context.len()).collect();
                let sequence = TrainSequence { tokens: &tokens, needed: &needed };
                let scores = trainer.score(&[sequence], 0.9).unwrap().remove(0);
                let trained = &scores.logprobs[context.len()..];
                assert_eq!(bits(trained), bits(&said.logprobs), "{family} {precision:?}");
            }
        }
    }
}

#[test]
fn what_is_exported_reads_back_bit_by_bit() {
    let scratch = tempfile::tempdir().unwrap();
    for family in FAMILIES {
        let weights = Weights::from_files(&open(family), LoadOptions::default()).unwrap();
        let to = scratch.path().join(family);
        let special = Special::default();
        let extras = HfExtras { tokenizer_json: None, chat_template: None, special: &special };
        let options = HfOptions { encoding: Encoding::F32, ..HfOptions::default() };
        save_hf(&to, weights.config(), weights.named_tensors(), &extras, options).unwrap();
        let back = Weights::from_files(&ModelFiles::open(&to).unwrap(), LoadOptions::default()).unwrap();
        let same = weights.values().iter().zip(back.values()).all(|(a, b)| {
            // Gemma's files hold one less than the gain, which may cost the last bit.
            a == b || (family == "gemma3" && (a - b).abs() < 2e-7)
        });
        assert!(same && back.config() == weights.config(), "{family}");
    }
}

#[test]
fn the_context_is_capped_by_whoever_loads() {
    let files = open("qwen2");
    let short = Weights::from_files(&files, LoadOptions { context: 16 }).unwrap();
    assert_eq!(short.config().max_context, 16);
    assert_eq!(
        Weights::from_files(&files, LoadOptions { context: 1 << 20 }).unwrap().config().max_context,
        64
    );
    let refused = Weights::from_files(&files, LoadOptions { context: 0 }).unwrap_err().to_string();
    assert!(refused.contains("context"), "{refused}");
}

#[test]
fn a_value_head_is_a_file_of_its_own() {
    let plain = Weights::from_files(&open("smollm2"), LoadOptions::default()).unwrap();
    assert!(plain.value_head_to_safetensors().is_none());
    let before = bits(plain.values());
    let mut weights = plain.clone().with_value_head();
    assert_eq!(bits(&weights.values()[..before.len()]), before);
    let last = weights.values().len() - 1;
    weights.values_mut()[last] = 2.5;
    let file = weights.value_head_to_safetensors().unwrap();
    let mut other = plain.clone().with_value_head();
    other.load_value_head(&file).unwrap();
    assert_eq!(bits(other.values()), bits(weights.values()));
    let refused = other.load_value_head(b"nonsense").unwrap_err().to_string();
    assert!(refused.contains("checkpoint"), "{refused}");
    let refused = plain.clone().load_value_head(&file).unwrap_err().to_string();
    assert!(refused.contains("no value head to load into"), "{refused}");
    // A width that is not this decoder's.
    let gemma = Weights::from_files(&open("gemma3"), LoadOptions::default()).unwrap();
    assert_eq!(gemma.config().d_model, plain.config().d_model);
    assert!(gemma.with_value_head().load_value_head(&file).is_ok());
}
