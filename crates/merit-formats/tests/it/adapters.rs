//! Low-rank adapters in PEFT's folders.

use merit_formats::{Adapter, LowRank};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;

fn adapter() -> Adapter {
    let pair = |inputs: usize, outputs: usize| LowRank {
        inputs,
        outputs,
        a: (0..2 * inputs).map(|v| v as f32).collect(),
        b: (0..2 * outputs).map(|v| -(v as f32)).collect(),
    };
    Adapter {
        base: Some("somewhere/tiny".to_owned()),
        rank: 2,
        alpha: 16.0,
        targets: vec!["down_proj".to_owned(), "q_proj".to_owned()],
        tensors: BTreeMap::from([
            ("model.layers.0.self_attn.q_proj".to_owned(), pair(4, 6)),
            ("model.layers.0.mlp.down_proj".to_owned(), pair(8, 4)),
        ]),
    }
}

#[test]
fn an_adapter_comes_back_as_it_was() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("a");
    adapter().save(&folder).unwrap();
    adapter().save(&folder).unwrap();
    assert_eq!(Adapter::open(&folder).unwrap(), adapter());
}

fn check(key: &str, value: Value, message: &str) {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("a");
    adapter().save(&folder).unwrap();
    let path = folder.join("adapter_config.json");
    let mut config: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    config[key] = value;
    fs::write(&path, config.to_string()).unwrap();
    let error = Adapter::open(&folder).unwrap_err().to_string();
    assert!(error.contains(message), "{error}");
}

#[test]
fn other_ways_of_changing_a_model_are_refused_by_name() {
    check("peft_type", json!("IA3"), "`peft_type`: is IA3; only LORA is read");
    check("use_dora", json!(true), "`use_dora`: is true");
    check("use_rslora", json!(true), "`use_rslora`: is true");
    check("bias", json!("all"), "`bias`: is `all`");
    check("modules_to_save", json!(["lm_head"]), "`modules_to_save`");
    check("rank_pattern", json!({"q_proj": 8}), "`rank_pattern`");
    check("r", json!(4), "which does not fit rank 4");
    check("r", json!(0), "`r`: is 0");
    check("lora_alpha", Value::Null, "`lora_alpha`: is missing");
    check("target_modules", json!("all-linear"), "`target_modules`: must be a list");
    check("target_modules", json!(["q_proj"]), "tensor `model.layers.0.mlp.down_proj`: is changed");
}

#[test]
fn an_adapter_that_does_not_add_up_is_not_saved() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("a");
    let mut short = adapter();
    short.tensors.get_mut("model.layers.0.mlp.down_proj").unwrap().a.pop();
    let error = short.save(&folder).unwrap_err().to_string();
    assert!(error.contains("tensor `model.layers.0.mlp.down_proj`: A has 15 values and B 8"), "{error}");
    assert!(!folder.exists());
}
