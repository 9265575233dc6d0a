//! A tiny encoder with made-up weights, as a folder; and the real one, where it was fetched.

use safetensors::Dtype;
use safetensors::tensor::TensorView;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

pub(crate) const WIDTH: usize = 24;
pub(crate) const HEADS: usize = 3;
pub(crate) const FEED: usize = 40;
pub(crate) const LAYERS: usize = 2;
pub(crate) const POSITIONS: usize = 32;
pub(crate) const EPS: f64 = 1e-6;

/// Marks, then words and endings.
const WORDS: [&str; 14] =
    ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "cat", "sat", "on", "mat", "##s", "dog", "ran", "away", "."];

pub(crate) type Tensors = BTreeMap<String, (Vec<usize>, Vec<f32>)>;

/// Numbers that look random and are the same everywhere: a finalised counter (splitmix64) to [-1, 1).
fn noise(index: u64) -> f32 {
    let mut z = index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 40) as f32 / (1 << 23) as f32 - 1.0
}

/// Every tensor of the tiny encoder.
pub(crate) fn tensors() -> Tensors {
    let mut shapes = vec![
        ("embeddings.word_embeddings.weight".to_owned(), vec![WORDS.len(), WIDTH]),
        ("embeddings.position_embeddings.weight".to_owned(), vec![POSITIONS, WIDTH]),
        ("embeddings.token_type_embeddings.weight".to_owned(), vec![2, WIDTH]),
    ];
    let norm = |at: &str| ["weight", "bias"].map(|part| (format!("{at}LayerNorm.{part}"), vec![WIDTH]));
    let linear = |at: String, out: usize, inputs: usize| {
        [(format!("{at}.weight"), vec![out, inputs]), (format!("{at}.bias"), vec![out])]
    };
    shapes.extend(norm("embeddings."));
    for layer in 0..LAYERS {
        let at = format!("encoder.layer.{layer}.");
        for part in ["self.query", "self.key", "self.value", "output.dense"] {
            shapes.extend(linear(format!("{at}attention.{part}"), WIDTH, WIDTH));
        }
        shapes.extend(norm(&format!("{at}attention.output.")));
        shapes.extend(linear(format!("{at}intermediate.dense"), FEED, WIDTH));
        shapes.extend(linear(format!("{at}output.dense"), WIDTH, FEED));
        shapes.extend(norm(&format!("{at}output.")));
    }
    let make = |(seed, (name, shape)): (usize, (String, Vec<usize>))| {
        let gain = if name.ends_with("LayerNorm.weight") { 1.0 } else { 0.0 };
        let size = shape.iter().product::<usize>();
        let values = (0..size).map(|i| gain + 0.5 * noise((seed * 100_000 + i) as u64)).collect();
        (name, (shape, values))
    };
    shapes.into_iter().enumerate().map(make).collect()
}

fn put(folder: &Path, name: &str, value: &Value) {
    std::fs::write(folder.join(name), value.to_string()).unwrap();
}

/// Writes the folder of an encoder with these tensors.
pub(crate) fn write(folder: &Path, tensors: &Tensors) {
    put(
        folder,
        "config.json",
        &json!({
            "model_type": "bert", "vocab_size": WORDS.len(), "num_hidden_layers": LAYERS, "hidden_size": WIDTH,
            "num_attention_heads": HEADS, "intermediate_size": FEED, "max_position_embeddings": POSITIONS,
            "type_vocab_size": 2, "layer_norm_eps": EPS, "hidden_act": "gelu",
        }),
    );
    let module = |kind: &str, path: &str| json!({"type": format!("sentence_transformers.models.{kind}"), "path": path});
    let modules = json!([
        module("Transformer", ""),
        module("Pooling", "1_Pooling"),
        module("Normalize", "2_Normalize")
    ]);
    put(folder, "modules.json", &modules);
    std::fs::create_dir_all(folder.join("1_Pooling")).unwrap();
    put(&folder.join("1_Pooling"), "config.json", &json!({"pooling_mode_mean_tokens": true}));
    put(folder, "sentence_bert_config.json", &json!({"max_seq_length": 16, "do_lower_case": false}));
    put(folder, "tokenizer.json", &tokenizer());
    let bytes: BTreeMap<&String, Vec<u8>> = tensors
        .iter()
        .map(|(name, (_, values))| (name, values.iter().flat_map(|v| v.to_le_bytes()).collect()))
        .collect();
    let views = tensors.iter().map(|(name, (shape, _))| {
        (name.clone(), TensorView::new(Dtype::F32, shape.clone(), &bytes[name]).unwrap())
    });
    let file = safetensors::serialize(views, None).unwrap();
    std::fs::write(folder.join("model.safetensors"), file).unwrap();
}

fn tokenizer() -> Value {
    let special = |id: usize| {
        json!({"id": id, "content": WORDS[id], "single_word": false, "lstrip": false, "rstrip": false,
               "normalized": false, "special": true})
    };
    let vocab: serde_json::Map<String, Value> =
        WORDS.iter().zip(0..).map(|(word, id)| ((*word).to_owned(), json!(id))).collect();
    let mark = |name: &str| json!({"SpecialToken": {"id": name, "type_id": 0}});
    let text = json!({"Sequence": {"id": "A", "type_id": 0}});
    json!({
        "version": "1.0", "truncation": null, "padding": null,
        "added_tokens": (0..4).map(special).collect::<Vec<_>>(),
        "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
                       "strip_accents": null, "lowercase": true},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "TemplateProcessing", "single": [mark("[CLS]"), text, mark("[SEP]")],
            "pair": [mark("[CLS]"), text, mark("[SEP]"), {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {"[CLS]": {"id": "[CLS]", "ids": [2], "tokens": ["[CLS]"]},
                               "[SEP]": {"id": "[SEP]", "ids": [3], "tokens": ["[SEP]"]}}},
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": true},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                  "max_input_chars_per_word": 100, "vocab": vocab},
    })
}
