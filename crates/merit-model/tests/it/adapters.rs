//! Adapters: what is sampled is what is trained is what is merged; only the adapter learns; files read back.

use crate::support::*;
use merit_core::{Seed, TokenId};
use merit_model::*;
use std::sync::Arc;

fn settings(targets: &[Target]) -> AdapterSettings {
    AdapterSettings { rank: 4, alpha: 8.0, targets: targets.to_vec() }
}

fn trainer(base: &Arc<Weights>, targets: &[Target], run: TrainerSettings) -> Trainer {
    let adapter = Adapter::init(base, settings(targets), Seed::root(21)).unwrap();
    Trainer::with_adapter(Arc::clone(base), adapter, run).unwrap()
}

fn batch(config: &DecoderConfig) -> Vec<(Vec<TokenId>, Vec<bool>)> {
    let one = |i: u64| {
        let tokens = prompt(config, i, 20 + 7 * i as usize);
        let needed = (0..tokens.len()).map(|t| t > 0).collect();
        (tokens, needed)
    };
    (0..4).map(one).collect()
}

fn sequences(batch: &[(Vec<TokenId>, Vec<bool>)]) -> Vec<TrainSequence<'_>> {
    batch.iter().map(|(tokens, needed)| TrainSequence { tokens, needed }).collect()
}

fn likelier(outputs: &SequenceOutputs) -> Coefficients {
    let value = outputs.values.iter().map(|value| value - 1.0).collect();
    Coefficients { logprob: vec![-0.02; outputs.logprobs.len()], value, ..Coefficients::default() }
}

fn train(trainer: &mut Trainer, updates: usize) {
    let batch = batch(trainer.weights().config());
    for _ in 0..updates {
        trainer.accumulate(&sequences(&batch), 1.0, &likelier).unwrap();
        trainer.apply(&AdamWSettings { lr: 1e-2, ..AdamWSettings::default() }).unwrap();
    }
}

#[test]
fn a_fresh_adapter_changes_no_bit() {
    let base = weights(&even());
    let mut adapted = trainer(&base, &Target::ALL, TrainerSettings::default());
    let mut plain = Trainer::new(Arc::clone(&base), TrainerSettings::default()).unwrap();
    let batch = batch(&even());
    let (a, b) = (adapted.score(&sequences(&batch), 1.0), plain.score(&sequences(&batch), 1.0));
    assert_eq!(a.unwrap(), b.unwrap());
    assert_eq!(bits(adapted.snapshot().values()), bits(base.values()));
}

#[test]
fn sampled_trained_and_merged_logprobs_have_the_same_bits() {
    for config in [odd(), even()] {
        for precision in [Precision::F32, Precision::Bf16] {
            let base = weights(&config);
            let run = TrainerSettings { precision, ..TrainerSettings::default() };
            let mut trainer = trainer(&base, &Target::ALL, run);
            train(&mut trainer, 3);
            let context = prompt(&config, 2, 9);
            let ask = || (0..3).map(|session| request(session, &context, at(1.0, 25))).collect();
            let settings = GeneratorSettings::default();
            let mut shared = Generator::over(trainer.policy(), bytes_only(), settings.clone()).unwrap();
            let said = sample(&mut shared, ask());
            let merged = Arc::new(PackedWeights::for_sampling(trainer.snapshot(), precision));
            let mut apart = Generator::over(merged, bytes_only(), settings).unwrap();
            for (one, other) in said.iter().zip(sample(&mut apart, ask())) {
                assert_eq!(
                    (bits(&one.logprobs), bits(&one.values)),
                    (bits(&other.logprobs), bits(&other.values))
                );
                let tokens = [&context[..], &one.tokens].concat();
                let needed: Vec<bool> = (0..tokens.len()).map(|t| t >= context.len()).collect();
                let scores =
                    trainer.score(&[TrainSequence { tokens: &tokens, needed: &needed }], 1.0).unwrap();
                assert_eq!(bits(&scores[0].logprobs[context.len()..]), bits(&one.logprobs));
                assert_eq!(bits(&scores[0].values[context.len()..]), bits(&one.values));
            }
        }
    }
}

#[test]
fn an_adapter_learns_and_its_base_stays() {
    let base = weights(&even());
    let before = bits(base.values());
    let mut trainer =
        trainer(&base, &[Target::QProj, Target::VProj, Target::DownProj], TrainerSettings::default());
    assert!(trainer.adapter().unwrap().values().len() < base.values().len() / 4);
    assert_eq!(trainer.gradients().len(), trainer.adapter().unwrap().values().len());
    let batch = batch(&even());
    let loss = |trainer: &mut Trainer| -> f32 {
        -trainer.score(&sequences(&batch), 1.0).unwrap().iter().flat_map(|s| &s.logprobs).sum::<f32>()
    };
    let start = loss(&mut trainer);
    train(&mut trainer, 20);
    assert!(loss(&mut trainer) < 0.95 * start, "{} against {start}", loss(&mut trainer));
    assert_eq!(bits(trainer.weights().values()), before);
    assert_ne!(bits(trainer.snapshot().values()), before);
}

#[test]
fn gradients_of_adapters_have_the_same_bits_on_any_threads() {
    let base = weights(&even());
    let gradient = |threads| {
        let run = TrainerSettings { threads, shard_tokens: 40, ..TrainerSettings::default() };
        let mut trainer = trainer(&base, &Target::ALL, run);
        train(&mut trainer, 1);
        let batch = batch(&even());
        trainer.accumulate(&sequences(&batch), 1.0, &likelier).unwrap();
        bits(trainer.gradients())
    };
    let one = gradient(1);
    assert!(one == gradient(2) && one == gradient(3));
}

#[test]
fn saving_and_loading_in_the_middle_changes_nothing() {
    let base = weights(&odd());
    let mut straight = trainer(&base, &Target::ALL, TrainerSettings::default());
    train(&mut straight, 2);
    let file = straight.adapter().unwrap().to_safetensors();
    let adapter = Adapter::from_safetensors(&file, base.config()).unwrap();
    let mut resumed = Trainer::with_adapter(Arc::clone(&base), adapter, TrainerSettings::default()).unwrap();
    resumed.load_optimiser(&straight.optimiser_to_safetensors()).unwrap();
    train(&mut straight, 2);
    train(&mut resumed, 2);
    assert_eq!(bits(straight.adapter().unwrap().values()), bits(resumed.adapter().unwrap().values()));
    assert_eq!(straight.adapter().unwrap().to_safetensors(), resumed.adapter().unwrap().to_safetensors());
    for len in [0, 9, 400, file.len() - 1] {
        let error = Adapter::from_safetensors(&file[..len], base.config()).unwrap_err();
        assert!(matches!(error, ModelError::Checkpoint(_)), "{len} bytes: {error}");
    }
    let refused = Adapter::from_safetensors(&file, &even()).unwrap_err().to_string();
    assert!(refused.contains("want"), "{refused}");
}

#[test]
fn a_folder_of_peft_reads_back() {
    let config = DecoderConfig { value_head: false, ..even() };
    let base = weights(&config);
    let mut trainer = trainer(&base, &[Target::KProj, Target::UpProj], TrainerSettings::default());
    train(&mut trainer, 1);
    let adapter = trainer.adapter().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("adapter");
    adapter.to_peft(Some("base".into())).save(&to).unwrap();
    let peft = merit_formats::Adapter::open(&to).unwrap();
    let back = Adapter::from_peft(&peft, &config).unwrap();
    assert_eq!(bits(back.values()), bits(adapter.values()));
    assert_eq!(back.settings(), adapter.settings());
    let error = Adapter::from_peft(&peft, &DecoderConfig { d_ff: 80, ..config.clone() }).unwrap_err();
    assert!(error.to_string().contains("changes a matrix of shape [176, 64], want [80, 64]"), "{error}");
    let error = Adapter::from_peft(&peft, &DecoderConfig { layers: 2, ..config }).unwrap_err();
    assert!(error.to_string().contains("model.layers.2"), "{error}");
}

#[test]
fn adapters_that_cannot_work_are_refused_with_the_reason() {
    let base = weights(&odd());
    let check = |settings: AdapterSettings, message: &str| {
        let error = Adapter::init(&base, settings, Seed::root(1)).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    };
    check(AdapterSettings { rank: 0, ..AdapterSettings::default() }, "`rank` is 0");
    check(AdapterSettings { rank: 25, ..AdapterSettings::default() }, "between 1 and 24");
    check(AdapterSettings { alpha: f32::NAN, ..AdapterSettings::default() }, "`alpha`");
    check(AdapterSettings { targets: vec![], ..AdapterSettings::default() }, "`targets` is empty");
    check(
        AdapterSettings { targets: vec![Target::QProj, Target::QProj], ..AdapterSettings::default() },
        "names `q_proj` twice",
    );
    let unknown = serde_json::from_str::<AdapterSettings>(r#"{"rank":4,"dropout":0.1}"#);
    assert!(unknown.unwrap_err().to_string().contains("dropout"));
    let elsewhere = Adapter::init(&base, settings(&Target::ALL), Seed::root(1)).unwrap();
    let refused = Trainer::with_adapter(weights(&even()), elsewhere, TrainerSettings::default());
    let refused = refused.err().map(|error| error.to_string()).unwrap_or_default();
    assert!(refused.contains("a decoder of another shape"), "{refused}");
}
