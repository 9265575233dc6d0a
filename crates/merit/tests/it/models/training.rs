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

/// The same recipe without its `[warm_start]`.
fn without_warm_start(recipe: &str) {
    let text = std::fs::read_to_string(recipe).unwrap();
    let (start, end) = (text.find("[warm_start]").unwrap(), text.find("[rollout]").unwrap());
    std::fs::write(recipe, [&text[..start], &text[end..]].concat()).unwrap();
}

#[test]
fn a_model_from_a_file_learns_by_reward_without_a_warm_start() {
    let folder = tempfile::tempdir().unwrap();
    let recipe = recipe(folder.path(), "");
    without_warm_start(&recipe);
    assert!(merit(&["recipe", "check", &recipe], "").well().out.contains("is fine"));
    assert!(!merit(&["recipe", "show", &recipe], "").well().out.contains("warm_start"));
    let run = folder.path().join("run").display().to_string();
    let set: Vec<&str> = SMALL[1..].iter().flat_map(|word| ["--set", word]).collect();
    let said = merit(&[&["train", &recipe, "--json", "--run", &run], &set[..]].concat(), "").well();
    let stages: Vec<String> =
        said.json().iter().filter_map(|event| event["what"].as_str().map(str::to_owned)).collect();
    assert_eq!(
        stages,
        ["held-out evaluation before learning", "learning by reward", "held-out evaluation after learning"]
    );
    let report = String::from_utf8(bytes(&run, "report.html")).unwrap();
    for told in [said.out, said.err, merit(&["show", &run], "").well().out, report] {
        let told = told.to_lowercase().replace('-', " ");
        assert!(!told.contains("warm start") && !told.contains("warm_start"), "{told}");
    }
    merit(&["rollout", "--run", &run, "--tasks", "1"], "").well();
}

#[test]
fn who_cannot_go_without_a_warm_start_is_told_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let from_file = recipe(folder.path(), "");
    without_warm_start(&from_file);
    let train = |recipe: &str, set: &[&str]| {
        let set: Vec<&str> = set.iter().flat_map(|word| ["--set", word]).collect();
        merit(&[&["train", recipe, "--run", "never"], &set[..]].concat(), "")
    };
    train(&from_file, &["interleave={ learning_rate = 1e-3, when = { type = \"random\", p = 0.5 } }"])
        .refused("there is no `[warm_start]`");
    train(&from_file, &["stages=[{ type = \"imitate\", from = \"demonstrations\" }]"])
        .refused("there is no `[warm_start]` that says how");
    let text = std::fs::read_to_string(&from_file).unwrap();
    let (start, end) = (text.find("[model]").unwrap(), text.find("[rollout]").unwrap());
    let fresh = folder.path().join("fresh.toml");
    std::fs::write(&fresh, [&text[..start], &text[end..]].concat()).unwrap();
    let fresh = fresh.display().to_string();
    train(&fresh, &[]).refused("cannot speak before it has imitated demonstrations; add a `[warm_start]`");
    merit(&["recipe", "check", &fresh], "").refused("add a `[warm_start]` table");
    assert!(!std::path::Path::new("never").exists());
}

#[test]
fn a_recipe_that_is_only_played_needs_no_model_no_warm_start_and_no_word_about_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("play.toml");
    let text = "name = \"play\"\nworld = { type = \"ledger\" }\nreward = { type = \"exact-answer\" }\n\
                credit = { type = \"grpo\" }\nbudget = { steps = 1, groups = 1, group_size = 2 }\n";
    std::fs::write(&path, text).unwrap();
    let path = path.display().to_string();
    assert!(merit(&["rollout", &path, "--tasks", "1"], "").well().out.contains("solved"));
    merit(&["train", &path], "").refused("add a `[warm_start]` table");
}
