//! Reading new tokens into caches: one token of many sequences, or a whole prompt, in one pass.

use crate::attention::{attend_sequence, room};
use crate::block::{BlockRecord, BlockSpace, Net};
use crate::cache::KvCache;
use crate::kernels::gemm::{Left, Size, Start, gemm};
use crate::kernels::norm::normalise;
use merit_core::TokenId;

/// New tokens of one sequence, to be read behind what its cache remembers.
pub(crate) struct Feed<'a> {
    pub(crate) cache: &'a mut KvCache,
    /// At least one; checked against the vocabulary, and the context has room for them.
    pub(crate) tokens: &'a [TokenId],
}

/// Scratch of a decode pass.
#[derive(Debug, Default)]
pub(crate) struct DecodeSpace {
    streams: [Vec<f32>; 2],
    record: BlockRecord,
    block: BlockSpace,
    positions: Vec<usize>,
    scores: Vec<f32>,
    hidden: Vec<f32>,
    normed: Vec<f32>,
    logits: Vec<f32>,
}

impl DecodeSpace {
    /// Reads all feeds; afterwards `logits` and `value` answer for the last token of each.
    pub(crate) fn read(&mut self, net: Net, feeds: &mut [Feed]) {
        let config = net.weights.config();
        let (d, wide) = (config.d_model, config.qkv_width());
        self.positions.clear();
        for feed in &mut *feeds {
            let start = feed.cache.len();
            self.positions.extend(start..start + feed.tokens.len());
            feed.cache.extend(feed.tokens.len());
        }
        self.embed(net, feeds);
        for layer in 0..config.layers {
            let [first, second] = &mut self.streams;
            let (x, out) = if layer % 2 == 0 { (first, second) } else { (second, first) };
            let (positions, scores) = (&self.positions, &mut self.scores);
            let buffers = (&mut self.record, &mut self.block);
            net.block_forward(layer, positions, x, out, buffers, |qkv, attended| {
                let mut row = 0;
                for feed in &mut *feeds {
                    let rows = feed.tokens.len();
                    let qkv = &qkv[row * wide..];
                    remember(net, layer, feed, &positions[row..row + rows], qkv);
                    let memory = |kv| feed.cache.memory(layer, kv);
                    let (start, out) = (positions[row], &mut attended[row * d..]);
                    attend_sequence(net.isa, config, (qkv, start, rows), memory, out, scores);
                    row += rows;
                }
            });
        }
        self.head(net, feeds);
    }

    fn embed(&mut self, net: Net, feeds: &[Feed]) {
        let d = net.weights.config().d_model;
        let embedding = &net.weights.values()[net.weights.layout().embedding.clone()];
        let stream = room(&mut self.streams[0], self.positions.len() * d);
        let tokens = feeds.iter().flat_map(|feed| feed.tokens);
        for (row, token) in stream.chunks_exact_mut(d).zip(tokens) {
            let at = token.0 as usize * d;
            row.copy_from_slice(&embedding[at..at + d]);
        }
    }

    fn head(&mut self, net: Net, feeds: &[Feed]) {
        let config = net.weights.config();
        let (d, rows) = (config.d_model, feeds.len());
        let stream = &self.streams[config.layers % 2];
        let hidden = room(&mut self.hidden, rows * d);
        let mut end = 0;
        for (row, feed) in hidden.chunks_exact_mut(d).zip(feeds) {
            end += feed.tokens.len();
            row.copy_from_slice(&stream[(end - 1) * d..end * d]);
        }
        let gain = &net.weights.values()[net.weights.layout().final_norm.clone()];
        let normed = room(&mut self.normed, rows * d);
        normalise(net.isa, &hidden[..rows * d], gain, config.norm_eps, normed);
        let size = Size { m: rows, n: config.vocab, k: d };
        let logits = room(&mut self.logits, rows * config.vocab);
        gemm(
            net.isa,
            size,
            Left::rows(normed, d),
            net.packed.head.as_right(),
            logits,
            config.vocab,
            Start::Zero,
        );
    }

    /// The logits behind the last token of feed `index`.
    pub(crate) fn logits(&self, net: Net, index: usize) -> &[f32] {
        let vocab = net.weights.config().vocab;
        &self.logits[index * vocab..(index + 1) * vocab]
    }

    /// The value at the last token of feed `index`; `None` without a value head.
    pub(crate) fn value(&self, net: Net, index: usize) -> Option<f32> {
        let config = net.weights.config();
        let row = index * config.d_model..(index + 1) * config.d_model;
        config.value_head.then(|| net.value(&self.normed[row]))
    }
}

fn remember(net: Net, layer: usize, feed: &mut Feed, positions: &[usize], qkv: &[f32]) {
    let config = net.weights.config();
    let (keys, values, wide) = (config.key_column(0), config.value_column(0), config.qkv_width());
    for (&position, row) in positions.iter().zip(qkv.chunks_exact(wide)) {
        feed.cache.write(layer, position, &row[keys..values], &row[values..]);
    }
}
