//! Where each tensor lies in the flat vector of weights, and what it is called in a file.
//!
//! Matrices are stored `[in, out]`; query, key and value share one matrix, and so do gate and up, so that one product reads
//! each pair. Files hold the usual separate `[out, in]` tensors.

use crate::DecoderConfig;
use std::ops::Range;

/// One tensor of a file: `rows × columns` at `offset`, `stride` floats from row to row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TensorPlace {
    pub(crate) name: String,
    pub(crate) offset: usize,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) stride: usize,
    pub(crate) kind: TensorKind,
}

/// How a tensor is laid out in a file, and whether it decays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TensorKind {
    /// `[in, out]` here, `[out, in]` in a file.
    Linear,
    /// `[vocab, d]` in both.
    Embedding,
    /// One dimension.
    Vector,
}

impl TensorPlace {
    pub(crate) fn shape(&self) -> Vec<usize> {
        match self.kind {
            TensorKind::Linear => vec![self.columns, self.rows],
            TensorKind::Embedding => vec![self.rows, self.columns],
            TensorKind::Vector => vec![self.columns],
        }
    }
}

/// The parts of one block, as ranges of the flat vector.
#[derive(Debug, Clone)]
pub(crate) struct BlockLayout {
    pub(crate) attention_norm: Range<usize>,
    pub(crate) qkv: Range<usize>,
    pub(crate) output: Range<usize>,
    pub(crate) feed_norm: Range<usize>,
    pub(crate) gate_up: Range<usize>,
    pub(crate) down: Range<usize>,
}

/// All parts of a decoder, as ranges of the flat vector.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    pub(crate) embedding: Range<usize>,
    pub(crate) blocks: Vec<BlockLayout>,
    pub(crate) final_norm: Range<usize>,
    /// Weight of the value head; its bias follows directly.
    pub(crate) value: Option<Range<usize>>,
    pub(crate) tensors: Vec<TensorPlace>,
    pub(crate) len: usize,
}

struct Builder {
    len: usize,
    tensors: Vec<TensorPlace>,
}

impl Builder {
    fn take(&mut self, len: usize) -> Range<usize> {
        self.len += len;
        self.len - len..self.len
    }

    fn place(
        &mut self,
        name: String,
        offset: usize,
        rows: usize,
        columns: usize,
        stride: usize,
        kind: TensorKind,
    ) {
        self.tensors.push(TensorPlace { name, offset, rows, columns, stride, kind });
    }

    fn vector(&mut self, name: String, len: usize) -> Range<usize> {
        let range = self.take(len);
        self.place(name, range.start, 1, len, len, TensorKind::Vector);
        range
    }

    /// One matrix whose columns are split among several named tensors.
    fn linear(&mut self, rows: usize, parts: &[(String, usize)]) -> Range<usize> {
        let width = parts.iter().map(|(_, columns)| columns).sum();
        let range = self.take(rows * width);
        let mut column = range.start;
        for (name, columns) in parts {
            self.place(name.clone(), column, rows, *columns, width, TensorKind::Linear);
            column += columns;
        }
        range
    }
}

impl Layout {
    pub(crate) fn new(config: &DecoderConfig) -> Self {
        let (d, ff) = (config.d_model, config.d_ff);
        let kv = config.kv_heads * config.head_dim();
        let mut build = Builder { len: 0, tensors: Vec::new() };
        let embedding = build.take(config.vocab * d);
        build.place("model.embed_tokens.weight".into(), 0, config.vocab, d, d, TensorKind::Embedding);
        let mut blocks = Vec::new();
        for layer in 0..config.layers {
            let name = |part: &str| format!("model.layers.{layer}.{part}.weight");
            blocks.push(BlockLayout {
                attention_norm: build.vector(name("input_layernorm"), d),
                qkv: build.linear(
                    d,
                    &[
                        (name("self_attn.q_proj"), d),
                        (name("self_attn.k_proj"), kv),
                        (name("self_attn.v_proj"), kv),
                    ],
                ),
                output: build.linear(d, &[(name("self_attn.o_proj"), d)]),
                feed_norm: build.vector(name("post_attention_layernorm"), d),
                gate_up: build.linear(d, &[(name("mlp.gate_proj"), ff), (name("mlp.up_proj"), ff)]),
                down: build.linear(ff, &[(name("mlp.down_proj"), d)]),
            });
        }
        let final_norm = build.vector("model.norm.weight".into(), d);
        let value = config.value_head.then(|| {
            let weight = build.vector("value_head.weight".into(), d);
            build.vector("value_head.bias".into(), 1);
            weight
        });
        Self { embedding, blocks, final_norm, value, tensors: build.tensors, len: build.len }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tensors_cover_the_vector_once() {
        for value_head in [false, true] {
            let config = DecoderConfig {
                vocab: 37,
                layers: 2,
                d_model: 24,
                heads: 3,
                kv_heads: 1,
                d_ff: 40,
                rope_base: 1e4,
                norm_eps: 1e-5,
                max_context: 64,
                value_head,
            };
            let layout = Layout::new(&config);
            assert_eq!(layout.len, config.parameters());
            let mut hits = vec![0; layout.len];
            for place in &layout.tensors {
                for row in 0..place.rows {
                    let start = place.offset + row * place.stride;
                    hits[start..start + place.columns].iter_mut().for_each(|hit| *hit += 1);
                }
            }
            assert!(hits.iter().all(|&hit| hit == 1));
        }
    }
}
