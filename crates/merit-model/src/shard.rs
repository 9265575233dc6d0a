//! A forward and backward pass over one shard: whole sequences, one after the other, in one set of buffers.

use crate::block::{BlockRecord, BlockSpace, Net};
use crate::gradient::Gradients;
use crate::head::HeadSpace;
use crate::sequence::rows;
use merit_api::trainer::TrainSequence;
use merit_kernels::AttentionSpaces;
use merit_kernels::attention::room;

/// The buffers of a pass; reused from shard to shard.
#[derive(Debug, Default)]
pub(crate) struct ShardSpace {
    /// The residual stream before each block and after the last.
    pub(crate) streams: Vec<Vec<f32>>,
    records: Vec<BlockRecord>,
    /// How many streams and records the last forward pass used, in turn.
    used: (usize, usize),
    block: BlockSpace,
    attention: AttentionSpaces,
    positions: Vec<usize>,
    /// Rows of each sequence that has any.
    lengths: Vec<usize>,
    pub(crate) dx: Vec<f32>,
    pub(crate) head: HeadSpace,
}

/// What is kept for a backward pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    /// Streams and records of all blocks.
    All,
    /// Streams between blocks; each record is made again, with the same bits.
    Streams,
    Nothing,
}

impl ShardSpace {
    /// Runs all blocks; returns which of `streams` holds the last hidden states.
    pub(crate) fn forward(&mut self, net: Net, sequences: &[TrainSequence], keep: Keep) -> usize {
        let layers = net.config().layers;
        self.used = match keep {
            Keep::All => (layers + 1, layers),
            Keep::Streams => (layers + 1, 1),
            Keep::Nothing => (2, 1),
        };
        let (streams, records) = self.used;
        self.streams.resize_with(self.streams.len().max(streams), Vec::new);
        self.records.resize_with(self.records.len().max(records), BlockRecord::default);
        self.positions.clear();
        self.positions.extend(sequences.iter().flat_map(|sequence| 0..rows(sequence)));
        self.lengths.clear();
        self.lengths.extend(sequences.iter().map(rows).filter(|&rows| rows > 0));
        let len = self.positions.len() * net.config().d_model;
        net.packed.embed(net.device, tokens(sequences), &mut room(&mut self.streams[0], len)[..len]);
        for layer in 0..layers {
            self.block_forward(net, layer, Some((layer + 1) % streams));
        }
        layers % streams
    }

    /// One block from its stream to stream `to`, or only to its record.
    fn block_forward(&mut self, net: Net, layer: usize, to: Option<usize>) {
        let (from, record) = (layer % self.used.0, layer % self.used.1);
        let mut out = to.map(|to| std::mem::take(&mut self.streams[to]));
        let (lengths, attention) = (&self.lengths, &self.attention);
        net.block_forward(
            layer,
            &self.positions,
            &self.streams[from],
            out.as_mut(),
            (&mut self.records[record], &mut self.block),
            |qkv, out| net.device.attend_whole((net.config(), layer), lengths, qkv, out, attention),
        );
        if let Some((to, out)) = to.zip(out) {
            self.streams[to] = out;
        }
    }

    /// Runs all blocks backward from `dx`, adding to `gradients`. Needs a forward pass that kept streams or everything.
    pub(crate) fn backward(&mut self, net: Net, sequences: &[TrainSequence], gradients: &mut Gradients) {
        let (layers, d) = (net.config().layers, net.config().d_model);
        for layer in (0..layers).rev() {
            if self.used.1 < layers {
                self.block_forward(net, layer, None);
            }
            let record = layer % self.used.1;
            let (lengths, attention) = (&self.lengths, &self.attention);
            net.block_backward(
                layer,
                &self.positions,
                (&self.streams[layer], &mut self.dx),
                (&mut self.records[record], &mut self.block),
                gradients,
                |qkv, out, dout, dqkv| {
                    let at = (net.config(), layer);
                    net.device.attend_whole_back(at, lengths, (qkv, out, dout), dqkv, attention);
                },
            );
        }
        if let Some(embedding) = gradients.embedding() {
            let scale = net.config().style.embedding_scale.unwrap_or(1.0);
            net.device.scatter_add(scale, &self.dx, d, tokens(sequences), embedding);
        }
    }
}

fn tokens(sequences: &[TrainSequence]) -> impl Iterator<Item = usize> {
    sequences.iter().flat_map(|sequence| &sequence.tokens[..rows(sequence)]).map(|token| token.0 as usize)
}
