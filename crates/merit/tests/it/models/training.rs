//! `merit train` of a recipe whose model comes from a file, whole and by an adapter.

use crate::models::made::{TEMPLATE, gguf};
use crate::models::process::merit;
use std::path::Path;

/// The words that make a recipe of the small one: a model from a file, two steps of everything.
const SMALL: [&str; 6] = [
    "warm_start.steps=2",
    "budget.steps=2",
    "budget.groups=2",
    "evaluation.tasks=2",
    "evaluation.tasks_between=2",
    "rollout.max_turn_tokens=12",
];

fn recipe(folder: &Path, model: &str) -> String {
    let small = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tiny/tiny.toml");
    let text = std::fs::read_to_string(small).unwrap();
    let at = |table: &str| text.find(table).unwrap();
    let (start, end, controls) = (at("[model]"), at("[warm_start]"), at("[[controls]]"));
    let file = gguf(folder, Some(TEMPLATE));
    let model = format!("[model]\nfile = {:?}\ncontext = 250\n{model}\n\n", file.display().to_string());
    let path = folder.join("recipe.toml");
    std::fs::write(&path, [&text[..start], &model, &text[end..controls]].concat()).unwrap();
    path.display().to_string()
}

/// The folder of the policy that training leaves.
fn trained(model: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let (recipe, run) = (recipe(folder.path(), model), folder.path().join("run").display().to_string());
    let set: Vec<&str> = SMALL.iter().flat_map(|word| ["--set", word]).collect();
    merit(&[&["train", &recipe, "--json", "--run", &run], &set[..]].concat(), "").well();
    (folder, run)
}

fn bytes(run: &str, file: &str) -> Vec<u8> {
    std::fs::read(Path::new(run).join(file)).unwrap()
}

#[test]
fn recomputed_activations_leave_the_bits_of_whole_and_of_adapted_models() {
    for train in ["{ type = \"full\" }", "{ type = \"lora\", rank = 4, alpha = 8.0 }"] {
        for precision in ["f32", "bf16"] {
            let model = format!("precision = \"{precision}\"\ntrain = {train}");
            let (_kept, kept) = trained(&model);
            let (_again, again) = trained(&format!("{model}\nrecompute = true"));
            let file = "policy/model.safetensors";
            assert!(bytes(&kept, file) == bytes(&again, file), "{model}");
        }
    }
}

#[test]
fn what_training_leaves_is_a_model_that_merit_reads_and_that_differs_from_its_base() {
    let (folder, run) = trained("train = { type = \"lora\", rank = 4, alpha = 8.0 }");
    let (policy, adapter) = (format!("{run}/policy"), format!("{run}/adapter"));
    let base = folder.path().join("tiny.gguf").display().to_string();
    let merged = folder.path().join("merged").display().to_string();
    merit(&["model", "info", &policy], "").well();
    merit(&["model", "merge", &base, &adapter, &merged], "").well();
    let file = "model.safetensors";
    assert!(bytes(&policy, file) == bytes(&merged, file), "the policy is the base with its adapter");
    let plain = folder.path().join("plain").display().to_string();
    merit(&["model", "convert", &base, &plain], "").well();
    assert!(bytes(&policy, file) != bytes(&plain, file), "training changed nothing");
}
