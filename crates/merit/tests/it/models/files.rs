//! `merit model`: what files say, the same model in another form, adapters merged.

use crate::models::made::{TEMPLATE, adapter, gguf, smollm};
use crate::models::process::merit;
use merit_formats::ModelFiles;
use std::path::Path;

fn words<'a>(words: &[&'a str], paths: &[&'a Path]) -> Vec<String> {
    let paths = paths.iter().map(|path| path.display().to_string());
    words.iter().map(|word| (*word).to_owned()).chain(paths).collect()
}

/// The greedy continuation of a prompt.
fn greedy(model: &Path) -> String {
    let mut command = words(&["generate"], &[model]);
    command.extend(["--temperature", "0", "--max-tokens", "16", "--precision", "f32"].map(str::to_owned));
    merit(&command, "{\"prompt\": \"the cat sat 12 times\"}\n").well().out
}

#[test]
fn info_tells_the_shape_the_encodings_and_the_memory() {
    let folder = tempfile::tempdir().unwrap();
    let model = gguf(folder.path(), Some(TEMPLATE));
    let said = merit(&words(&["model", "info"], &[&model]), "").well();
    for part in [
        "apache-2.0",
        "llama",
        "2 layers, width 32, vocabulary 260",
        "256 tokens",
        "F32",
        "gguf gpt2",
        "yes (default)",
    ] {
        assert!(said.out.contains(part), "{part}: {}", said.out);
    }
    let told = merit(&words(&["model", "info", "--json"], &[&model]), "").well().json().remove(0);
    let parameters = ModelFiles::open(&model).unwrap().config().parameters() as u64;
    assert_eq!((told["kind"].as_str(), told["parameters"].as_u64()), (Some("decoder"), Some(parameters)));
    assert_eq!(told["memory"]["train_full_bytes"].as_u64(), Some(20 * parameters));
    // Seven projections of rank 16: 16 (64 + 48 + 48 + 64 + 96 + 96 + 96) in each of two layers.
    assert_eq!(told["memory"]["lora_parameters"].as_u64(), Some(2 * 16 * 512));
}

#[test]
fn a_model_survives_the_way_to_safetensors_and_back_with_its_tokenizer_and_template() {
    let folder = tempfile::tempdir().unwrap();
    let model = gguf(folder.path(), Some(TEMPLATE));
    let (hf, back) = (folder.path().join("hf"), folder.path().join("back.gguf"));
    merit(&words(&["model", "convert"], &[&model, &hf]), "").well();
    merit(&words(&["model", "convert"], &[&hf, &back]), "").well();
    assert_eq!(greedy(&model), greedy(&hf));
    assert_eq!(greedy(&model), greedy(&back));
    let (first, last) = (ModelFiles::open(&model).unwrap(), ModelFiles::open(&back).unwrap());
    assert_eq!(first.tokenizer(), last.tokenizer());
    assert_eq!(last.chat_template(), Some(TEMPLATE));
    let small = folder.path().join("small.gguf");
    merit(&words(&["model", "convert", "--encoding", "q8_0"], &[&hf, &small]), "").well();
    assert!(small.metadata().unwrap().len() < back.metadata().unwrap().len() / 2);
}

#[test]
fn nothing_is_replaced_unasked_and_nothing_is_left_behind() {
    let folder = tempfile::tempdir().unwrap();
    let model = gguf(folder.path(), None);
    let to = folder.path().join("hf");
    let convert = |extra: &[&str], from: &Path, to: &Path| {
        merit(&words(&[&["model", "convert"], extra].concat(), &[from, to]), "")
    };
    convert(&[], &model, &to).well();
    convert(&[], &model, &to).refused("--force replaces it");
    convert(&["--force"], &model, &to).well();
    convert(&["--force"], &model, &model).refused("is what is read");
    convert(&["--to", "safetensors"], &model, &folder.path().join("x.gguf"))
        .refused("named like a GGUF file");
    convert(&["--encoding", "q8_0"], &model, &folder.path().join("x")).refused("take f32, f16 or bf16");
    convert(&[], &model, &folder.path().join("no/where")).refused("is no folder");
    let mut left: Vec<String> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    assert_eq!(left, ["hf", "tiny.gguf"]);
}

#[test]
fn an_adapter_is_merged_as_its_formula_says() {
    let folder = tempfile::tempdir().unwrap();
    let (model, change) = (gguf(folder.path(), Some(TEMPLATE)), adapter(folder.path()));
    let to = folder.path().join("merged");
    merit(&words(&["model", "merge"], &[&model, &change, &to]), "").well();
    let (base, merged) = (ModelFiles::open(&model).unwrap(), ModelFiles::open(&to).unwrap());
    let peft = merit_formats::Adapter::open(&change).unwrap();
    let name = "model.layers.1.self_attn.q_proj";
    let (pair, d) = (&peft.tensors[name], 32);
    let (before, after) =
        (base.values(&format!("{name}.weight")).unwrap(), merged.values(&format!("{name}.weight")).unwrap());
    for (index, (before, after)) in before.iter().zip(&after).enumerate() {
        let (row, column) = (index / d, index % d);
        let sum: f32 = (0..2).map(|k| pair.b[row * 2 + k] * pair.a[k * d + column]).sum();
        assert!((before + 2.0 * sum - after).abs() < 1e-5, "{row}, {column}: {before} became {after}");
    }
    assert_eq!(
        base.values("model.layers.0.mlp.up_proj.weight").unwrap(),
        merged.values("model.layers.0.mlp.up_proj.weight").unwrap()
    );
    assert_ne!(greedy(&model), greedy(&to));
    let told = merit(&words(&["model", "info", "--json"], &[&change]), "").well().json().remove(0);
    assert_eq!(
        (told["kind"].as_str(), told["rank"].as_u64(), told["parameters"].as_u64()),
        (Some("adapter"), Some(2), Some(256))
    );
    merit(&words(&["model", "merge"], &[&model, &model, &folder.path().join("x")]), "")
        .refused("adapter_config.json");
}

#[test]
fn damaged_and_unknown_files_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let model = gguf(folder.path(), None);
    let bytes = std::fs::read(&model).unwrap();
    let cut = folder.path().join("cut.gguf");
    std::fs::write(&cut, &bytes[..bytes.len() - 1000]).unwrap();
    merit(&words(&["model", "info"], &[&cut]), "").refused("cut.gguf");
    merit(&words(&["chat"], &[&cut]), "hi\n").refused("cut.gguf");
    let text = folder.path().join("notes.txt");
    std::fs::write(&text, "no model").unwrap();
    merit(&words(&["model", "info"], &[&text]), "").refused("neither a GGUF file");
    merit(&words(&["model", "info"], &[&folder.path().join("nothing")]), "").refused("nothing");
    let empty = folder.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    merit(&words(&["model", "convert"], &[&empty, &folder.path().join("out")]), "").refused("holds neither");
}

#[test]
fn smollm2_and_the_encoder_beside_it_are_described() {
    let Some(model) = smollm() else { return };
    let told = merit(&words(&["model", "info", "--json"], &[&model]), "").well().json().remove(0);
    assert_eq!((told["family"].as_str(), told["parameters"].as_u64()), (Some("llama"), Some(134_515_008)));
    let encoder = model.with_file_name("all-minilm-l6-v2");
    if encoder.exists() {
        let said = merit(&words(&["model", "info"], &[&encoder]), "").well().out;
        assert!(said.contains("384 numbers, pooled by mean, brought to length 1"), "{said}");
    }
}
