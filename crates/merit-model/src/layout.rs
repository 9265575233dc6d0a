//! Where each tensor lies in the flat vector of weights, and what it is called in a file.
//!
//! Matrices are stored `[in, out]`; query, key and value share one matrix, and so do gate and up, so that one product reads
//! each pair. Files hold the usual separate `[out, in]` tensors, under the names of the decoder's family.

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
    pub(crate) qkv_bias: Option<Range<usize>>,
    /// Gains of each query head and of each key head.
    pub(crate) head_norms: Option<[Range<usize>; 2]>,
    pub(crate) output: Range<usize>,
    pub(crate) feed_norm: Range<usize>,
    pub(crate) gate_up: Range<usize>,
    pub(crate) down: Range<usize>,
    /// Gains of what attention and of what the feed-forward add to the stream.
    pub(crate) post_norms: Option<[Range<usize>; 2]>,
}

/// All parts of a decoder, as ranges of the flat vector.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    pub(crate) embedding: Range<usize>,
    pub(crate) blocks: Vec<BlockLayout>,
    pub(crate) final_norm: Range<usize>,
    /// The output head, `[vocab, d]`; the embedding itself where the two are tied.
    pub(crate) head: Range<usize>,
    /// Weight of the value head; its bias follows directly.
    pub(crate) value: Option<Range<usize>>,
    pub(crate) tensors: Vec<TensorPlace>,
    pub(crate) len: usize,
}

/// Weight of the value head, by its name in a file.
pub(crate) const VALUE_WEIGHT: &str = "value_head.weight";
/// Bias of the value head, by its name in a file.
pub(crate) const VALUE_BIAS: &str = "value_head.bias";

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

    /// One vector split among several named tensors.
    fn vectors(&mut self, parts: &[(String, usize)]) -> Range<usize> {
        let start = self.len;
        for (name, len) in parts {
            self.vector(name.clone(), *len);
        }
        start..self.len
    }

    fn table(&mut self, name: &str, rows: usize, columns: usize) -> Range<usize> {
        let range = self.take(rows * columns);
        self.place(name.into(), range.start, rows, columns, columns, TensorKind::Embedding);
        range
    }

    fn block(&mut self, config: &DecoderConfig, layer: usize) -> BlockLayout {
        let (d, ff, style) = (config.d_model, config.d_ff, &config.style);
        let (wide, dim) = (config.attention_width(), config.head_dim());
        let kv = config.kv_heads * dim;
        let at = |part: &str| format!("model.layers.{layer}.{part}");
        let name = |part: &str| at(&format!("{part}.weight"));
        let qkv = |last: &str| {
            [("q", wide), ("k", kv), ("v", kv)]
                .map(|(x, width)| (at(&format!("self_attn.{x}_proj.{last}")), width))
        };
        let feed_norm =
            if style.post_norms { "pre_feedforward_layernorm" } else { "post_attention_layernorm" };
        BlockLayout {
            attention_norm: self.vector(name("input_layernorm"), d),
            qkv: self.linear(d, &qkv("weight")),
            qkv_bias: style.qkv_bias.then(|| self.vectors(&qkv("bias"))),
            head_norms: style
                .qk_norm
                .then(|| ["self_attn.q_norm", "self_attn.k_norm"].map(|part| self.vector(name(part), dim))),
            output: self.linear(wide, &[(name("self_attn.o_proj"), d)]),
            feed_norm: self.vector(name(feed_norm), d),
            gate_up: self.linear(d, &[(name("mlp.gate_proj"), ff), (name("mlp.up_proj"), ff)]),
            down: self.linear(ff, &[(name("mlp.down_proj"), d)]),
            post_norms: style.post_norms.then(|| {
                ["post_attention_layernorm", "post_feedforward_layernorm"]
                    .map(|part| self.vector(name(part), d))
            }),
        }
    }
}

impl Layout {
    pub(crate) fn new(config: &DecoderConfig) -> Self {
        let d = config.d_model;
        let mut build = Builder { len: 0, tensors: Vec::new() };
        let embedding = build.table("model.embed_tokens.weight", config.vocab, d);
        let blocks = (0..config.layers).map(|layer| build.block(config, layer)).collect();
        let final_norm = build.vector("model.norm.weight".into(), d);
        let head = if config.style.tied {
            embedding.clone()
        } else {
            build.table("lm_head.weight", config.vocab, d)
        };
        let value = config.value_head.then(|| {
            let weight = build.vector(VALUE_WEIGHT.into(), d);
            build.vector(VALUE_BIAS.into(), 1);
            weight
        });
        Self { embedding, blocks, final_norm, head, value, tensors: build.tensors, len: build.len }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::family_check::{families, tiny};

    #[test]
    fn the_tensors_cover_the_vector_once() {
        for style in families() {
            for value_head in [false, true] {
                let config = DecoderConfig { value_head, ..tiny(style.clone()) };
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
}
