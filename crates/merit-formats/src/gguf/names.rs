//! Names of tensors in GGUF, and the order of rows in the files of one family.

use crate::expected::{EMBEDDING, HEAD, LAST_NORM};
use crate::{DecoderConfig, Family};

/// Divisors of the rotary frequencies, where the family stretches them unevenly.
pub(crate) const ROPE_FACTORS: &str = "rope_freqs.weight";

/// Parts of a block: in `transformers`, in GGUF.
const PARTS: [(&str, &str); 10] = [
    ("input_layernorm", "attn_norm"),
    ("self_attn.q_proj", "attn_q"),
    ("self_attn.k_proj", "attn_k"),
    ("self_attn.v_proj", "attn_v"),
    ("self_attn.o_proj", "attn_output"),
    ("self_attn.q_norm", "attn_q_norm"),
    ("self_attn.k_norm", "attn_k_norm"),
    ("mlp.gate_proj", "ffn_gate"),
    ("mlp.up_proj", "ffn_up"),
    ("mlp.down_proj", "ffn_down"),
];
/// `post_attention_layernorm` stands before the feed-forward in most families and after attention in Gemma 3.
const PLAIN_NORMS: [(&str, &str); 1] = [("post_attention_layernorm", "ffn_norm")];
const GEMMA_NORMS: [(&str, &str); 3] = [
    ("post_attention_layernorm", "post_attention_norm"),
    ("pre_feedforward_layernorm", "ffn_norm"),
    ("post_feedforward_layernorm", "post_ffw_norm"),
];

/// What a tensor of `transformers` is called in GGUF.
pub(crate) fn gguf_name(name: &str, family: Family) -> Option<String> {
    match name {
        EMBEDDING => return Some("token_embd.weight".to_owned()),
        LAST_NORM => return Some("output_norm.weight".to_owned()),
        HEAD => return Some("output.weight".to_owned()),
        _ => {}
    }
    let (layer, rest) = name.strip_prefix("model.layers.")?.split_once('.')?;
    let (part, ending) = rest.rsplit_once('.')?;
    let norms: &[(&str, &str)] = if family == Family::Gemma3 { &GEMMA_NORMS } else { &PLAIN_NORMS };
    let (_, theirs) = PARTS.iter().chain(norms).find(|(ours, _)| *ours == part)?;
    Some(format!("blk.{layer}.{theirs}.{ending}"))
}

/// The heads of a tensor whose rows are interleaved in GGUF, for those that are.
///
/// Llama's converter puts rows `j` and `j + dim / 2` of a head side by side, so that neighbours turn together; other
/// families keep the halves apart, which is the order here.
pub(crate) fn interleaved_heads(name: &str, config: &DecoderConfig) -> Option<usize> {
    if config.style.family != Family::Llama {
        return None;
    }
    if name.contains(".self_attn.q_proj.") {
        Some(config.heads)
    } else {
        name.contains(".self_attn.k_proj.").then_some(config.kv_heads)
    }
}

/// Rows of each head from `0 h 1 h+1 …` to `0 1 … h h+1 …`, where `h` is half a head.
pub(crate) fn split_halves(rows: &[u8], heads: usize, row_bytes: usize) -> Vec<u8> {
    reorder(rows, heads, row_bytes, |row, dim| if row < dim / 2 { 2 * row } else { 2 * (row - dim / 2) + 1 })
}

/// The inverse of [`split_halves`].
pub(crate) fn interleave(rows: &[u8], heads: usize, row_bytes: usize) -> Vec<u8> {
    reorder(rows, heads, row_bytes, |row, dim| row / 2 + (row % 2) * (dim / 2))
}

/// Row `r` of each head becomes what was row `from(r, dim)`.
fn reorder(rows: &[u8], heads: usize, row_bytes: usize, from: impl Fn(usize, usize) -> usize) -> Vec<u8> {
    let dim = rows.len() / row_bytes / heads;
    let mut out = Vec::with_capacity(rows.len());
    for head in rows.chunks_exact(dim * row_bytes) {
        for row in 0..dim {
            let at = from(row, dim) * row_bytes;
            out.extend_from_slice(&head[at..at + row_bytes]);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_each_head_are_parted_into_halves() {
        // Two heads of four rows, two bytes a row.
        let rows = b"a0a2a1a3b0b2b1b3";
        assert_eq!(split_halves(rows, 2, 2), b"a0a1a2a3b0b1b2b3");
        assert_eq!(interleave(b"a0a1a2a3b0b1b2b3", 2, 2), rows);
    }

    #[test]
    fn the_norm_after_attention_has_another_name_in_gemma() {
        let name = "model.layers.7.post_attention_layernorm.weight";
        assert_eq!(gguf_name(name, Family::Qwen2).as_deref(), Some("blk.7.ffn_norm.weight"));
        assert_eq!(gguf_name(name, Family::Gemma3).as_deref(), Some("blk.7.post_attention_norm.weight"));
        assert_eq!(gguf_name("model.layers.7.nothing.weight", Family::Llama), None);
    }
}
