//! GGUF files that are truncated, corrupt or of another kind: each refused with the file and what in it is wrong.

use crate::support::{tiny, weights};
use merit_formats::{Encoding, Family, GgufExtras, ModelFiles, save_gguf};
use std::fs;
use std::path::Path;

/// A GGUF file put together by hand, so that every part of it can lie.
#[derive(Clone)]
struct Raw {
    version: u32,
    keys: Vec<(String, u32, Vec<u8>)>,
    /// Name, sizes (fastest first), type, offset.
    tensors: Vec<(String, Vec<u64>, u32, u64)>,
    data: usize,
    counts: Option<(u64, u64)>,
}

fn text(text: &str) -> Vec<u8> {
    [&(text.len() as u64).to_le_bytes()[..], text.as_bytes()].concat()
}

impl Raw {
    /// One layer, eight wide.
    fn new() -> Self {
        let mut raw = Self { version: 3, keys: Vec::new(), tensors: Vec::new(), data: 0, counts: None };
        raw.key("general.architecture", 8, text("llama"));
        for (key, value) in [
            ("block_count", 1),
            ("context_length", 16),
            ("embedding_length", 8),
            ("feed_forward_length", 16),
            ("attention.head_count", 2),
            ("attention.head_count_kv", 1),
        ] {
            raw.number(&format!("llama.{key}"), value);
        }
        raw.key("llama.attention.layer_norm_rms_epsilon", 6, 1e-5_f32.to_le_bytes().to_vec());
        let names: [(&str, &[u64]); 11] = [
            ("token_embd.weight", &[8, 10]),
            ("output_norm.weight", &[8]),
            ("blk.0.attn_norm.weight", &[8]),
            ("blk.0.attn_q.weight", &[8, 8]),
            ("blk.0.attn_k.weight", &[8, 4]),
            ("blk.0.attn_v.weight", &[8, 4]),
            ("blk.0.attn_output.weight", &[8, 8]),
            ("blk.0.ffn_norm.weight", &[8]),
            ("blk.0.ffn_gate.weight", &[8, 16]),
            ("blk.0.ffn_up.weight", &[8, 16]),
            ("blk.0.ffn_down.weight", &[16, 8]),
        ];
        for (name, sizes) in names {
            raw.tensors.push((name.to_owned(), sizes.to_vec(), 0, raw.data as u64));
            raw.data = (raw.data + 4 * sizes.iter().product::<u64>() as usize).next_multiple_of(32);
        }
        raw
    }

    fn key(&mut self, key: &str, kind: u32, value: Vec<u8>) {
        self.keys.retain(|(known, ..)| known != key);
        self.keys.push((key.to_owned(), kind, value));
    }

    fn number(&mut self, key: &str, value: u32) {
        self.key(key, 4, value.to_le_bytes().to_vec());
    }

    fn bytes(&self) -> Vec<u8> {
        let (tensors, keys) = self.counts.unwrap_or((self.tensors.len() as u64, self.keys.len() as u64));
        let mut out = b"GGUF".to_vec();
        out.extend(self.version.to_le_bytes());
        out.extend(tensors.to_le_bytes());
        out.extend(keys.to_le_bytes());
        for (key, kind, value) in &self.keys {
            out.extend(text(key));
            out.extend(kind.to_le_bytes());
            out.extend(value);
        }
        for (name, sizes, kind, offset) in &self.tensors {
            out.extend(text(name));
            out.extend((sizes.len() as u32).to_le_bytes());
            sizes.iter().for_each(|size| out.extend(size.to_le_bytes()));
            out.extend(kind.to_le_bytes());
            out.extend(offset.to_le_bytes());
        }
        out.resize(out.len().next_multiple_of(32) + self.data, 0);
        out
    }
}

fn error_of(bytes: &[u8]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.gguf");
    fs::write(&path, bytes).unwrap();
    match ModelFiles::open(&path) {
        Ok(_) => "opened".to_owned(),
        Err(error) => error.to_string().replace(&format!("{}/", folder.path().display()), ""),
    }
}

fn check(change: impl Fn(&mut Raw), message: &str) {
    let mut raw = Raw::new();
    change(&mut raw);
    let error = error_of(&raw.bytes());
    assert!(error.starts_with("model.gguf: ") && error.contains(message), "{error}");
}

#[test]
fn a_file_put_together_by_hand_opens() {
    assert_eq!(error_of(&Raw::new().bytes()), "opened");
    let mut older = Raw::new();
    older.version = 2;
    assert_eq!(error_of(&older.bytes()), "opened");
}

#[test]
fn every_truncation_is_an_error() {
    let whole = Raw::new().bytes();
    for length in (0..whole.len()).step_by(7).chain([whole.len() - 1]) {
        assert_ne!(error_of(&whole[..length]), "opened", "{length} of {}", whole.len());
    }
}

#[test]
fn heads_that_lie_are_refused() {
    check(|raw| raw.version = 1, "GGUF version 1; versions 2 and 3");
    check(|raw| raw.version = 3_u32.swap_bytes(), "big-endian");
    check(|raw| raw.counts = Some((u64::MAX, 8)), "18446744073709551615 tensors cannot lie in");
    check(|raw| raw.counts = Some((11, 1 << 40)), "1099511627776 keys cannot lie in");
    assert!(error_of(b"GGML....").contains("does not begin with `GGUF`"));
    assert!(error_of(b"").contains("does not begin with `GGUF`"));
}

#[test]
fn tensors_that_lie_are_refused_by_name() {
    check(
        |raw| raw.tensors[3].3 = 1 << 30,
        "tensor `blk.0.attn_q.weight`: 256 bytes at 1073741824 do not lie in",
    );
    check(|raw| raw.tensors[3].3 = u64::MAX - 31, "`blk.0.attn_q.weight`");
    check(|raw| raw.tensors[3].3 = 33, "offset 33 is not a multiple of 32");
    check(|raw| raw.tensors[4].3 = raw.tensors[3].3, "overlap");
    check(|raw| raw.tensors[3].1 = vec![1 << 33, 1 << 33], "more values than can be counted");
    check(|raw| raw.tensors[3].1 = vec![1 << 62], "more bytes than can be counted");
    check(|raw| raw.tensors[3].1 = vec![8, 0], "none may be 0");
    check(|raw| raw.tensors[3].1 = vec![1; 5], "has 5 dimensions");
    check(|raw| raw.tensors[3].1 = vec![], "has 0 dimensions");
    check(|raw| raw.tensors[3].1 = vec![4, 8], "has shape [8, 4], the settings make it [8, 8]");
    check(|raw| raw.tensors[3].2 = 16, "tensor `blk.0.attn_q.weight`: is of type IQ2_XXS; F32, F16,");
    check(|raw| raw.tensors[3].2 = 99, "is of type number 99");
    check(|raw| raw.tensors[3].2 = 8, "rows of 8 values are not whole blocks of 32 values (Q8_0)");
    check(|raw| raw.tensors[4].0 = raw.tensors[3].0.clone(), "tensor `blk.0.attn_q.weight`: is there twice");
    check(|raw| raw.tensors[4].0 = String::new(), "has a name of 0 bytes");
    check(
        |raw| raw.tensors[4].0 = "blk.0.attn_sinks.weight".to_owned(),
        "tensor `blk.0.attn_k.weight`: is missing",
    );
    check(|raw| drop(raw.tensors.remove(4)), "tensor `blk.0.attn_k.weight`: is missing");
    let extra =
        |raw: &mut Raw| raw.tensors.push(("blk.0.attn_q.bias".to_owned(), vec![8], 0, raw.data as u64));
    check(
        |raw| {
            extra(raw);
            raw.data += 32;
        },
        "tensor `blk.0.attn_q.bias`: is no part of a Llama decoder",
    );
}

#[test]
fn settings_that_cannot_be_honoured_are_refused_by_name() {
    check(
        |raw| raw.key("general.architecture", 8, text("mamba")),
        "unknown GGUF architecture `mamba`; known: llama, qwen2, qwen3, gemma3",
    );
    check(|raw| raw.key("general.architecture", 8, text("lama")), "did you mean `llama`?");
    check(|raw| raw.number("general.architecture", 4), "does not say what it is");
    check(|raw| raw.number("llama.expert_count", 8), "`llama.expert_count`: is 8; a mixture of experts");
    check(
        |raw| raw.number("llama.attention.sliding_window", 8),
        "`llama.attention.sliding_window`: is 8; a window",
    );
    check(
        |raw| raw.number("llama.rope.dimension_count", 2),
        "`llama.rope.dimension_count`: is not the width of a head, 4",
    );
    check(
        |raw| raw.key("llama.rope.scaling.type", 8, text("yarn")),
        "`llama.rope.scaling.type`: is `yarn`; known: none, linear",
    );
    check(|raw| raw.number("llama.attention.value_length", 2), "has shape");
    check(|raw| raw.number("llama.block_count", 100_000), "100000 layers cannot be made of 11 tensors");
    check(|raw| raw.number("llama.block_count", 1 << 30), "at most 8589934592 are held");
    check(|raw| raw.number("llama.block_count", 0), "`layers` is 0");
    check(|raw| raw.number("llama.attention.head_count", 0), "`heads` is 0");
    check(
        |raw| raw.key("llama.context_length", 8, text("long")),
        "`llama.context_length`: must be a whole number from 0",
    );
    check(
        |raw| raw.keys.retain(|(key, ..)| key != "llama.embedding_length"),
        "`llama.embedding_length`: is missing",
    );
    check(|raw| raw.number("split.count", 3), "split over 3 files");
    check(|raw| raw.number("general.alignment", 33), "`general.alignment`: must be a power of two");
    check(|raw| raw.keys.push(raw.keys[3].clone()), "is there twice");
    check(|raw| raw.key("x", 13, vec![0; 8]), "`x`: is of the unknown kind 13");
    check(
        |raw| raw.key("x", 8, (1_u64 << 60).to_le_bytes().to_vec()),
        "`x`: is truncated or corrupt: 1152921504606846976 bytes",
    );
    check(
        |raw| raw.key("x", 9, [&8_u32.to_le_bytes()[..], &(1_u64 << 60).to_le_bytes()].concat()),
        "`x`: is truncated or corrupt: 1152921504606846976 texts",
    );
}

fn list(kind: u32, count: u64, bytes: Vec<u8>) -> Vec<u8> {
    [&kind.to_le_bytes()[..], &count.to_le_bytes(), &bytes].concat()
}

#[test]
fn tokenizers_that_do_not_add_up_are_refused() {
    let with_tokens = |raw: &mut Raw, count: u64| {
        raw.key("tokenizer.ggml.model", 8, text("gpt2"));
        raw.key("tokenizer.ggml.tokens", 9, list(8, count, (0..count).flat_map(|_| text("a")).collect()));
    };
    check(|raw| raw.key("tokenizer.ggml.model", 8, text("gpt2")), "`tokenizer.ggml.tokens`: is missing");
    check(|raw| with_tokens(raw, 11), "`tokenizer.ggml.tokens`: 11 tokens, the embedding has 10 rows");
    check(
        |raw| {
            with_tokens(raw, 4);
            raw.number("tokenizer.ggml.eos_token_id", 4);
        },
        "`tokenizer.ggml.eos_token_id`: must be the id of one of the 4 tokens",
    );
    check(
        |raw| {
            with_tokens(raw, 2);
            raw.key("tokenizer.ggml.token_type", 9, list(5, 1, vec![1, 0, 0, 0]));
        },
        "has 1 entries for 2 tokens",
    );
    check(
        |raw| {
            with_tokens(raw, 1);
            raw.key("tokenizer.ggml.token_type", 9, list(5, 1, vec![9, 0, 0, 0]));
        },
        "token 0 has the unknown kind",
    );
}

#[test]
fn numbers_once_per_layer_count_if_they_are_the_same() {
    let mut raw = Raw::new();
    raw.key("llama.attention.head_count_kv", 9, list(4, 1, 1_u32.to_le_bytes().to_vec()));
    assert_eq!(error_of(&raw.bytes()), "opened");
    raw.key(
        "llama.attention.head_count_kv",
        9,
        list(4, 2, [1_u32.to_le_bytes(), 2_u32.to_le_bytes()].concat()),
    );
    assert!(error_of(&raw.bytes()).contains("differs between layers"));
}

#[test]
fn stretching_by_divisors_that_no_rule_gives_is_refused() {
    let factors =
        |raw: &mut Raw| raw.tensors.push(("rope_freqs.weight".to_owned(), vec![2], 0, raw.data as u64));
    // Divisors of 0 are not Llama 3's.
    check(
        |raw| {
            factors(raw);
            raw.data += 32;
        },
        "`rope_freqs.weight`: these divisors are not those",
    );
}

#[test]
fn weights_that_are_not_numbers_are_refused_when_they_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.gguf");
    let config = tiny(Family::Llama);
    save_gguf(&path, &config, weights(&config), &GgufExtras::default(), Encoding::Q8_0).unwrap();
    let mut bytes = fs::read(&path).unwrap();
    let end = bytes.len();
    // The last tensor is the last gain, 64 values.
    bytes[end - 4..].copy_from_slice(&f32::NAN.to_le_bytes());
    fs::write(&path, bytes).unwrap();
    let files = ModelFiles::open(&path).unwrap();
    let error = files.gain("model.norm.weight").unwrap_err().to_string();
    assert!(error.contains("tensor `model.norm.weight`: value 63 of shape [64] is NaN"), "{error}");
}

#[test]
fn paths_that_are_no_model_say_what_to_give() {
    let folder = tempfile::tempdir().unwrap();
    let open = |path: &Path| ModelFiles::open(path).map(|_| ()).unwrap_err().to_string();
    assert!(open(&folder.path().join("nothing.gguf")).starts_with("cannot open "));
    assert!(open(folder.path()).contains("holds neither `config.json` nor a .gguf file"));
    fs::write(folder.path().join("a.txt"), "words").unwrap();
    assert!(open(&folder.path().join("a.txt")).contains("is neither a GGUF file nor named .safetensors"));
    fs::write(folder.path().join("a.gguf"), Raw::new().bytes()).unwrap();
    assert_eq!(ModelFiles::open(folder.path()).unwrap().config().vocab, 10);
    fs::write(folder.path().join("b.gguf"), Raw::new().bytes()).unwrap();
    assert!(open(folder.path()).contains("holds 2 .gguf files"));
}
