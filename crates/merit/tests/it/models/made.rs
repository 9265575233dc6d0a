//! A tiny decoder with made-up weights and a tokenizer of bytes, as the commands find models: written by the test itself.

use merit_formats::{
    Adapter, DecoderConfig, Encoding, GgufExtras, GgufVocabulary, LowRank, NamedTensor, Style, TensorRole,
    TokenKind, expected_tensors, save_gguf,
};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub(crate) const TEMPLATE: &str = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}\
     {% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

/// The characters that stand for bytes in byte-level tokenizers: printable ones for themselves, the rest from 256 on.
fn letters() -> Vec<String> {
    let stands = |byte: u32| matches!(byte, 33..=126 | 161..=172 | 174..=255);
    let mut next = 256;
    let mut letter = |byte: u32| {
        next += u32::from(!stands(byte));
        char::from_u32(if stands(byte) { byte } else { next - 1 }).unwrap().to_string()
    };
    (0..256).map(&mut letter).collect()
}

/// Every byte, one merge, and the marks of a chat.
pub(crate) fn vocabulary() -> GgufVocabulary {
    let mut tokens = letters();
    tokens.push("th".to_owned());
    let plain = tokens.len();
    tokens.extend(["<|endoftext|>", "<|im_start|>", "<|im_end|>"].map(str::to_owned));
    let kinds = (0..tokens.len()).map(|id| if id < plain { TokenKind::Normal } else { TokenKind::Control });
    GgufVocabulary {
        model: "gpt2".to_owned(),
        pre: Some("gpt-2".to_owned()),
        kinds: kinds.collect(),
        tokens,
        scores: Vec::new(),
        merges: vec!["t h".to_owned()],
        bos: None,
        eos: Some(plain as u32 + 2),
        unknown: None,
        padding: None,
        add_bos: false,
        add_eos: false,
        add_space_prefix: false,
    }
}

pub(crate) fn config() -> DecoderConfig {
    DecoderConfig {
        vocab: vocabulary().tokens.len(),
        layers: 2,
        d_model: 32,
        heads: 4,
        kv_heads: 2,
        d_ff: 64,
        rope_base: 1e4,
        norm_eps: 1e-5,
        max_context: 256,
        value_head: false,
        style: Style::default(),
    }
}

/// Numbers that look random and are the same everywhere: a finalised counter (splitmix64) to [-1, 1).
fn noise(index: u64) -> f32 {
    let mut z = index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 40) as f32 / (1 << 23) as f32 - 1.0
}

/// Writes the model as a GGUF file, with a chat template or without.
pub(crate) fn gguf(folder: &Path, template: Option<&str>) -> PathBuf {
    gguf_of(folder, template, &config())
}

/// The same of another shape.
pub(crate) fn gguf_of(folder: &Path, template: Option<&str>, config: &DecoderConfig) -> PathBuf {
    let (path, vocabulary) = (folder.join("tiny.gguf"), vocabulary());
    let tensor = |(seed, expected): (usize, merit_formats::ExpectedTensor)| {
        let size = expected.shape.iter().product::<usize>();
        let gain = if expected.role == TensorRole::Gain { 1.0 } else { 0.0 };
        let values = (0..size).map(|i| gain + 0.4 * noise((seed * 1_000_000 + i) as u64)).collect();
        Ok(NamedTensor { name: expected.name, shape: expected.shape, values: Cow::Owned(values) })
    };
    let tensors = expected_tensors(config).into_iter().enumerate().map(tensor);
    let extras = GgufExtras {
        name: Some("tiny"),
        licence: Some("apache-2.0"),
        vocabulary: Some(&vocabulary),
        chat_template: template,
    };
    save_gguf(&path, config, tensors, &extras, Encoding::F32).unwrap();
    path
}

/// Writes a low-rank change of every query matrix.
pub(crate) fn adapter(folder: &Path) -> PathBuf {
    let (path, config, rank) = (folder.join("adapter"), config(), 2);
    let change = |layer: usize| {
        let values = |seed: usize, size: usize| {
            (0..size).map(|i| 0.3 * noise((seed * 777 + layer * 99 + i) as u64)).collect()
        };
        let d = config.d_model;
        let pair = LowRank { inputs: d, outputs: d, a: values(1, rank * d), b: values(2, d * rank) };
        (format!("model.layers.{layer}.self_attn.q_proj"), pair)
    };
    let tensors: BTreeMap<String, LowRank> = (0..config.layers).map(change).collect();
    let adapter = Adapter {
        base: Some("tiny".to_owned()),
        rank,
        alpha: 4.0,
        targets: vec!["q_proj".to_owned()],
        tensors,
    };
    adapter.save(&path).unwrap();
    path
}

/// SmolLM2-135M-Instruct. Absent: it was not fetched, and the test is skipped.
pub(crate) fn smollm() -> Option<PathBuf> {
    merit_testing::weights("smollm2-135m-instruct-q4_1.gguf")
}
