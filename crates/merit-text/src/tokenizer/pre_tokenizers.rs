//! How byte-level tokenizers cut text before they merge, by the names that GGUF files use.
//!
//! In: the name in `tokenizer.ggml.pre`. Out: the cutting steps in the form of a `tokenizer.json`. Some vocabularies also hold
//! whole words that the merges never reach; those are looked up before merging.

use merit_core::registry::{UnknownName, nearest};
use serde_json::{Value, json};

/// A way to cut text, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PreTokenizer {
    /// Its names in GGUF files; the first is the usual one.
    pub names: &'static [&'static str],
    /// Patterns that cut one after the other, each within the pieces of the one before.
    cuts: &'static [&'static str],
    /// Whether a piece that is a token as it stands is not merged at all.
    pub(super) whole_pieces: bool,
    /// Whether text is composed (NFC) first.
    pub(super) composes: bool,
}

const GPT2: &str = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";
const QWEN2: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const LLAMA3: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const TEKKEN: &str = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+";

const fn plain(names: &'static [&'static str], cuts: &'static [&'static str]) -> PreTokenizer {
    PreTokenizer { names, cuts, whole_pieces: false, composes: false }
}

/// Every way to cut text that is known.
pub const PRE_TOKENIZERS: &[PreTokenizer] = &[
    plain(&["default"], &[r"[\p{P}\$\+<=>\^~\|]+", GPT2, r"\p{N}+", r"[0-9][0-9][0-9]"]),
    plain(&["gpt-2", "phi-2", "olmo", "mpt", "jina-es", "jina-de", "roberta-bpe", "gigachat"], &[GPT2]),
    plain(&["smollm", "starcoder", "refact", "command-r", "codeshell"], &[r"\p{N}", GPT2]),
    PreTokenizer { composes: true, ..plain(&["qwen2", "deepseek-r1-qwen", "megrez"], &[QWEN2]) },
    plain(&["stablelm2", "hunyuan"], &[QWEN2]),
    PreTokenizer {
        whole_pieces: true,
        ..plain(&["llama-bpe", "llama3", "llama-v3", "falcon3", "pixtral"], &[LLAMA3])
    },
    plain(&["dbrx", "smaug-bpe"], &[LLAMA3]),
    PreTokenizer { whole_pieces: true, ..plain(&["tekken"], &[TEKKEN]) },
];

impl PreTokenizer {
    pub(super) fn find(name: &str) -> Result<&'static Self, UnknownName> {
        let known = || PRE_TOKENIZERS.iter().flat_map(|entry| entry.names);
        PRE_TOKENIZERS.iter().find(|entry| entry.names.contains(&name)).ok_or_else(|| UnknownName {
            kind: "pre-tokenizer (`tokenizer.ggml.pre`)",
            name: name.to_owned(),
            nearest: nearest(name, known().copied()),
            known: known().map(|name| (*name).to_owned()).collect(),
        })
    }

    /// The steps as a `tokenizer.json` states them.
    pub(super) fn steps(&self) -> Value {
        let split = |cut: &&str| json!({"type": "Split", "pattern": {"Regex": cut}, "behavior": "Isolated", "invert": false});
        let last = json!({
            "type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false,
        });
        let steps: Vec<Value> = self.cuts.iter().map(split).chain([last]).collect();
        json!({"type": "Sequence", "pretokenizers": steps})
    }
}
