//! A forward and backward pass over one shard: whole sequences, one after the other, in one set of buffers.

use crate::attention::{HeadMemory, attend_sequence, room};
use crate::attention_backward::{AttentionSpace, attend_backward};
use crate::block::{BlockRecord, BlockSpace, Net};
use crate::head::HeadSpace;
use crate::sequence::TrainSequence;

/// The buffers of a pass; reused from shard to shard.
#[derive(Debug, Default)]
pub(crate) struct ShardSpace {
    /// The residual stream before each block and after the last.
    pub(crate) streams: Vec<Vec<f32>>,
    records: Vec<BlockRecord>,
    block: BlockSpace,
    attention: AttentionSpace,
    positions: Vec<usize>,
    pub(crate) dx: Vec<f32>,
    pub(crate) head: HeadSpace,
}

/// Whether the records of all blocks are kept for a backward pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    All,
    Nothing,
}

impl ShardSpace {
    /// Runs all blocks; returns which of `streams` holds the last hidden states.
    pub(crate) fn forward(&mut self, net: Net, sequences: &[TrainSequence], keep: Keep) -> usize {
        let config = net.weights.config();
        let layers = config.layers;
        self.streams.resize_with(layers + 1, Vec::new);
        self.records.resize_with(layers, BlockRecord::default);
        self.positions.clear();
        self.positions.extend(sequences.iter().flat_map(|sequence| 0..sequence.rows()));
        embed(net, sequences, &mut self.streams[0]);
        let mut last = 0;
        for layer in 0..layers {
            let (from, to) =
                if keep == Keep::All { (layer, layer + 1) } else { (layer % 2, (layer + 1) % 2) };
            let record = &mut self.records[if keep == Keep::All { layer } else { 0 }];
            let mut out = std::mem::take(&mut self.streams[to]);
            let attention = &mut self.attention;
            net.block_forward(
                layer,
                &self.positions,
                &self.streams[from],
                &mut out,
                (record, &mut self.block),
                |qkv, attended| attend_shard(net, sequences, qkv, attended, attention),
            );
            self.streams[to] = out;
            last = to;
        }
        last
    }

    /// Runs all blocks backward from `dx`, adding to `grads`. Needs a forward pass that kept everything.
    pub(crate) fn backward(&mut self, net: Net, sequences: &[TrainSequence], grads: &mut [f32]) {
        let config = net.weights.config();
        let (d, wide) = (config.d_model, config.qkv_width());
        for layer in (0..config.layers).rev() {
            let attention = &mut self.attention;
            net.block_backward(
                layer,
                &self.positions,
                (&self.streams[layer], &mut self.dx),
                (&mut self.records[layer], &mut self.block),
                grads,
                |qkv, attended, dattended, dqkv| {
                    let mut start = 0;
                    for rows in sequences.iter().map(TrainSequence::rows).filter(|&rows| rows > 0) {
                        let inputs = (&qkv[start * wide..], &attended[start * d..], &dattended[start * d..]);
                        attend_backward(net.isa, config, rows, inputs, &mut dqkv[start * wide..], attention);
                        start += rows;
                    }
                },
            );
        }
        let embedding = &mut grads[net.weights.layout().embedding.clone()];
        for (token, dx) in tokens(sequences).zip(self.dx.chunks_exact(d)) {
            let row = &mut embedding[token * d..(token + 1) * d];
            row.iter_mut().zip(dx).for_each(|(row, dx)| *row += dx);
        }
    }
}

fn tokens(sequences: &[TrainSequence]) -> impl Iterator<Item = usize> {
    sequences.iter().flat_map(|sequence| &sequence.tokens[..sequence.rows()]).map(|token| token.0 as usize)
}

fn embed(net: Net, sequences: &[TrainSequence], stream: &mut Vec<f32>) {
    let d = net.weights.config().d_model;
    let rows: usize = sequences.iter().map(TrainSequence::rows).sum();
    let embedding = &net.weights.values()[net.weights.layout().embedding.clone()];
    for (token, row) in tokens(sequences).zip(room(stream, rows * d).chunks_exact_mut(d)) {
        row.copy_from_slice(&embedding[token * d..(token + 1) * d]);
    }
}

fn attend_shard(
    net: Net,
    sequences: &[TrainSequence],
    qkv: &[f32],
    attended: &mut [f32],
    space: &mut AttentionSpace,
) {
    let config = net.weights.config();
    let (d, wide, dim) = (config.d_model, config.qkv_width(), config.head_dim());
    let mut start = 0;
    for rows in sequences.iter().map(TrainSequence::rows).filter(|&rows| rows > 0) {
        let qkv = &qkv[start * wide..];
        let key_row = rows.next_multiple_of(32);
        // All key heads of the sequence, one after the other.
        let keys = room(&mut space.keys, config.kv_heads * dim * key_row);
        for kv in 0..config.kv_heads {
            let to = &mut keys[kv * dim * key_row..];
            crate::kernels::pack::transpose(&qkv[config.key_column(kv)..], rows, dim, wide, to, key_row);
        }
        let keys = &space.keys;
        let memory = |kv: usize| HeadMemory {
            keys: &keys[kv * dim * key_row..],
            key_row,
            values: &qkv[config.value_column(kv)..],
            value_row: wide,
        };
        let out = &mut attended[start * d..];
        attend_sequence(net.isa, config, (qkv, 0, rows), memory, out, &mut space.scores);
        start += rows;
    }
}
