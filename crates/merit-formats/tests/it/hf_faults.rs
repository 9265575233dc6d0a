//! Folders whose settings or files cannot be honoured: each refused by name.

use crate::support::{tiny, weights};
use merit_formats::{Encoding, Family, HfExtras, HfOptions, ModelFiles, Special, save_hf};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

fn write(folder: &Path, family: Family, options: HfOptions) {
    let config = tiny(family);
    let special = Special::default();
    let extras = HfExtras { tokenizer_json: None, chat_template: None, special: &special };
    save_hf(folder, &config, weights(&config), &extras, options).unwrap();
}

fn open(folder: &Path) -> String {
    match ModelFiles::open(folder) {
        Ok(files) => format!("opened; unread: {}", files.describe().unread_settings.join(", ")),
        Err(error) => error.to_string().replace(&format!("{}/", folder.display()), ""),
    }
}

fn edit(folder: &Path, file: &str, change: impl Fn(&mut Value)) {
    let text = fs::read_to_string(folder.join(file)).unwrap();
    let mut value: Value = serde_json::from_str(&text).unwrap();
    change(&mut value);
    fs::write(folder.join(file), value.to_string()).unwrap();
}

fn check(family: Family, key: &str, value: Value, message: &str) {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("m");
    write(&folder, family, HfOptions::default());
    edit(&folder, "config.json", |config| config[key] = value.clone());
    let said = open(&folder);
    assert!(said.contains(message), "{said}");
}

#[test]
fn settings_that_cannot_be_honoured_are_refused_by_name() {
    use Family::{Gemma3, Llama, Qwen2, Qwen3};
    check(
        Llama,
        "model_type",
        json!("mixtral"),
        "config.json: unknown model_type `mixtral`; known: llama, qwen2, qwen3, gemma3_text, gemma3",
    );
    check(Llama, "model_type", json!("qwen4"), "did you mean `qwen");
    check(
        Llama,
        "architectures",
        json!(["LlamaForSequenceClassification"]),
        "unknown architecture `LlamaForSequenceClassification`",
    );
    check(
        Llama,
        "attention_bias",
        json!(true),
        "config.json: `attention_bias`: is true; biases of this kind are not run",
    );
    check(Llama, "mlp_bias", json!(true), "`mlp_bias`");
    check(
        Llama,
        "hidden_act",
        json!("relu"),
        "`hidden_act`: is `relu`; in this family only silu or swish is run",
    );
    check(Llama, "quantization_config", json!({"quant_method": "awq"}), "`quantization_config`");
    check(Llama, "auto_map", json!({"AutoModel": "x.Y"}), "`auto_map`");
    check(
        Llama,
        "rope_scaling",
        json!({"rope_type": "yarn", "factor": 4.0}),
        "`rope_scaling.rope_type`: is `yarn`; known: default, linear, llama3",
    );
    check(Llama, "rope_scaling", json!({"rope_type": "linear"}), "`rope_scaling.factor`: is missing");
    check(Llama, "partial_rotary_factor", json!(0.5), "`partial_rotary_factor`: is 0.5");
    check(Llama, "rope_interleaved", json!(true), "`rope_interleaved`");
    check(
        Qwen2,
        "use_sliding_window",
        json!(true),
        "`use_sliding_window`: is true; a window in this family is not run",
    );
    check(
        Qwen2,
        "layer_types",
        json!(["full_attention", "sliding_attention"]),
        "`layer_types`: has layers with a window",
    );
    check(Qwen3, "num_experts", json!(8), "`num_experts`: is 8; a mixture of experts is not run");
    check(
        Gemma3,
        "final_logit_softcapping",
        json!(30.0),
        "`final_logit_softcapping`: is 30.0; a cap on logits is not run",
    );
    check(Gemma3, "attn_logit_softcapping", json!(50.0), "`attn_logit_softcapping`");
    check(Gemma3, "hidden_activation", json!("gelu"), "`hidden_activation`: is `gelu`");
    check(
        Gemma3,
        "layer_types",
        json!(["full_attention", "sliding_attention", "full_attention", "full_attention"]),
        "not a steady rhythm",
    );
    check(Gemma3, "layer_types", json!(["full_attention"]), "has 1 entries for 4 layers");
    check(Gemma3, "use_bidirectional_attention", json!(true), "`use_bidirectional_attention`");
}

#[test]
fn sizes_that_do_not_fit_are_refused() {
    use Family::Llama;
    check(Llama, "hidden_size", Value::Null, "config.json: `hidden_size`: is missing");
    check(Llama, "hidden_size", json!("64"), "`hidden_size`: must be a whole number from 0, not \"64\"");
    check(Llama, "hidden_size", json!(-64), "not -64");
    check(Llama, "vocab_size", json!(54), "`vocab_size`: is 54, the embedding has 53 rows");
    check(Llama, "num_hidden_layers", json!(5), "tensor `model.layers.4.input_layernorm.weight`: is missing");
    check(
        Llama,
        "num_hidden_layers",
        json!(3),
        "tensor `model.layers.3.input_layernorm.weight`: is no part of a Llama decoder",
    );
    check(Llama, "num_hidden_layers", json!(100_000), "100000 layers cannot be made of 38 tensors");
    check(Llama, "num_attention_heads", json!(0), "`heads` is 0");
    check(Llama, "num_key_value_heads", json!(3), "is not a multiple of `kv_heads` 3");
    check(Llama, "intermediate_size", json!(97), "has shape [96, 64], the settings make it [97, 64]");
    check(Llama, "tie_word_embeddings", json!(false), "tensor `lm_head.weight`: is missing");
    check(Llama, "something_new", json!(3), "opened; unread: something_new");
    check(Llama, "initializer_range", json!(0.02), "opened; unread: ");
}

#[test]
fn newer_and_older_forms_of_rotary_settings_mean_the_same() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("m");
    write(&folder, Family::Gemma3, HfOptions::default());
    let before = ModelFiles::open(&folder).unwrap().config().clone();
    edit(&folder, "config.json", |config| {
        let map = config.as_object_mut().unwrap();
        for key in ["rope_theta", "rope_scaling", "rope_local_base_freq", "sliding_window_pattern"] {
            map.remove(key);
        }
        config["rope_parameters"] = json!({
            "full_attention": { "rope_type": "default", "rope_theta": 20000.0 },
            "sliding_attention": { "rope_type": "default", "rope_theta": 5000.0 },
        });
    });
    assert_eq!(ModelFiles::open(&folder).unwrap().config(), &before);
    let folder = place.path().join("n");
    write(&folder, Family::Qwen3, HfOptions::default());
    let before = ModelFiles::open(&folder).unwrap().config().clone();
    edit(&folder, "config.json", |config| {
        config.as_object_mut().unwrap().remove("rope_theta");
        config["rope_parameters"] = json!({ "rope_type": "default", "rope_theta": 20000.0 });
    });
    assert_eq!(ModelFiles::open(&folder).unwrap().config(), &before);
}

#[test]
fn a_text_model_beside_an_image_model_is_read_alone() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("m");
    write(&folder, Family::Gemma3, HfOptions::default());
    let before = ModelFiles::open(&folder).unwrap();
    let values = before.values("model.layers.0.mlp.up_proj.weight").unwrap();
    let config = before.config().clone();
    drop(before);
    edit(&folder, "config.json", |config| {
        let mut text = config.take();
        text.as_object_mut().unwrap().remove("architectures");
        *config = json!({ "model_type": "gemma3", "architectures": ["Gemma3ForConditionalGeneration"], "text_config": text, "vision_config": {} });
    });
    // Names in the head grow by as much as the file; offsets count from the data.
    let bytes = fs::read(folder.join("model.safetensors")).unwrap();
    let length = u64::from_le_bytes(*bytes.first_chunk().unwrap()) as usize;
    let head =
        std::str::from_utf8(&bytes[8..8 + length]).unwrap().replace("\"model.", "\"language_model.model.");
    let mut changed = (head.len() as u64).to_le_bytes().to_vec();
    changed.extend(head.as_bytes());
    changed.extend(&bytes[8 + length..]);
    fs::write(folder.join("model.safetensors"), changed).unwrap();
    let after = ModelFiles::open(&folder).unwrap();
    assert_eq!(after.config(), &config);
    assert_eq!(after.values("model.layers.0.mlp.up_proj.weight").unwrap(), values);
}

#[test]
fn an_index_that_lies_is_refused() {
    let check = |change: &dyn Fn(&mut Value), message: &str| {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("m");
        write(&folder, Family::Llama, HfOptions { encoding: Encoding::F32, shard_bytes: 300_000 });
        edit(&folder, "model.safetensors.index.json", change);
        let said = open(&folder);
        assert!(said.contains(message), "{said}");
    };
    let name = "model.norm.weight";
    check(
        &|index| index["weight_map"][name] = json!("../../etc/passwd"),
        "must lie in a file of the same folder",
    );
    check(&|index| index["weight_map"][name] = json!(".."), "must lie in a file of the same folder");
    check(
        &|index| index["weight_map"][name] = json!("model-00001-of-00002.safetensors"),
        "tensor `model.norm.weight`: is not in `model-00001",
    );
    check(&|index| index["weight_map"][name] = json!("model-99.safetensors"), "cannot open");
    check(
        &|index| index["weight_map"]["ghost"] = json!("model-00001-of-00002.safetensors"),
        "tensor `ghost`: is not in",
    );
    check(&|index| *index = json!({}), "`weight_map`: must map names of tensors to files");
}

#[test]
fn missing_and_broken_files_are_named() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("m");
    write(&folder, Family::Llama, HfOptions::default());
    let whole = fs::read(folder.join("model.safetensors")).unwrap();
    fs::write(folder.join("model.safetensors"), &whole[..whole.len() - 1]).unwrap();
    let said = open(&folder);
    assert!(said.starts_with("model.safetensors: tensor `") && said.contains("is it truncated?"), "{said}");
    fs::remove_file(folder.join("model.safetensors")).unwrap();
    assert!(open(&folder).contains("holds neither `model.safetensors` nor"));
    fs::write(folder.join("config.json"), "{").unwrap();
    assert!(open(&folder).starts_with("config.json: is not JSON"));
    fs::write(folder.join("config.json"), "[]").unwrap();
    assert!(open(&folder).starts_with("config.json: must hold a JSON map"));
}

#[test]
fn tokenizer_files_are_read_in_all_their_forms() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("m");
    write(&folder, Family::Llama, HfOptions::default());
    fs::write(
        folder.join("tokenizer.json"),
        r#"{"added_tokens":[{"id":3,"content":"<e>"},{"id":4,"content":"<b>"}]}"#,
    )
    .unwrap();
    let config = json!({
        "bos_token": { "content": "<b>", "special": true },
        "eos_token": "<e>",
        "chat_template": [{ "name": "default", "template": "D" }, { "name": "tool_use", "template": "T" }],
    });
    fs::write(folder.join("tokenizer_config.json"), config.to_string()).unwrap();
    fs::write(folder.join("generation_config.json"), r#"{"eos_token_id":[7,3]}"#).unwrap();
    let files = ModelFiles::open(&folder).unwrap();
    let special = files.special();
    assert_eq!(special.bos.as_ref().map(|token| token.id), Some(4));
    assert_eq!(special.eos.iter().map(|token| token.id).collect::<Vec<_>>(), [3, 7]);
    assert_eq!((files.chat_template(), files.chat_templates()["tool_use"].as_str()), (Some("D"), "T"));
    drop(files);
    fs::write(folder.join("chat_template.jinja"), "J").unwrap();
    assert_eq!(ModelFiles::open(&folder).unwrap().chat_template(), Some("J"));
    fs::write(folder.join("generation_config.json"), r#"{"eos_token_id":"x"}"#).unwrap();
    assert!(open(&folder).contains("`eos_token_id`: must be the id of a token"));
    fs::write(folder.join("tokenizer.json"), "nothing").unwrap();
    assert!(open(&folder).starts_with("tokenizer.json: is not a tokenizer"));
}
