//! Reading new tokens into caches: one token of many sequences, or a whole prompt, in one pass.

use crate::block::{BlockRecord, BlockSpace, Net};
use crate::cache::KvCache;
use merit_core::TokenId;
use merit_kernels::attention::room;
use merit_kernels::{AttentionSpaces, PageData, PageLayout, Reading, Start};

/// New tokens of one sequence, to be read behind what is remembered.
pub(crate) struct Feed<'a> {
    /// Pages for the new tokens are reserved.
    pub(crate) memory: &'a mut KvCache,
    /// At least one; checked against the vocabulary, and the context has room for them.
    pub(crate) tokens: &'a [TokenId],
    /// Whether what follows the last of them is asked for.
    pub(crate) predicts: bool,
}

/// Scratch of a decode pass.
#[derive(Debug, Default)]
pub(crate) struct DecodeSpace {
    streams: [Vec<f32>; 2],
    record: BlockRecord,
    block: BlockSpace,
    positions: Vec<usize>,
    attention: AttentionSpaces,
    hidden: Vec<f32>,
    normed: Vec<f32>,
    logits: Vec<f32>,
}

impl DecodeSpace {
    /// Reads all feeds; afterwards `logits` and `value` answer for the last token of each that predicts.
    pub(crate) fn read(&mut self, net: Net, feeds: &mut [Feed]) {
        let config = net.config();
        self.positions.clear();
        for feed in &mut *feeds {
            let start = feed.memory.len();
            self.positions.extend(start..start + feed.tokens.len());
        }
        self.embed(net, feeds);
        for layer in 0..config.layers {
            let [first, second] = &mut self.streams;
            let (x, out) = if layer % 2 == 0 { (first, second) } else { (second, first) };
            let (positions, attention) = (&self.positions, &self.attention);
            let buffers = (&mut self.record, &mut self.block);
            net.block_forward(layer, positions, x, Some(out), buffers, |qkv, attended| {
                write(net, layer, feeds, qkv);
                attend(net, layer, feeds, qkv, attended, attention);
            });
        }
        self.head(net, feeds);
    }

    fn embed(&mut self, net: Net, feeds: &[Feed]) {
        let len = self.positions.len() * net.config().d_model;
        let tokens = feeds.iter().flat_map(|feed| feed.tokens).map(|token| token.0 as usize);
        net.packed.embed(net.device, tokens, &mut room(&mut self.streams[0], len)[..len]);
    }

    fn head(&mut self, net: Net, feeds: &[Feed]) {
        let config = net.config();
        let (d, rows) = (config.d_model, feeds.iter().filter(|feed| feed.predicts).count());
        let stream = &self.streams[config.layers % 2];
        let hidden = room(&mut self.hidden, rows * d);
        let mut last_rows = hidden.chunks_exact_mut(d);
        let mut end = 0;
        for feed in feeds {
            end += feed.tokens.len();
            if feed.predicts
                && let Some(row) = last_rows.next()
            {
                row.copy_from_slice(&stream[(end - 1) * d..end * d]);
            }
        }
        let normed = room(&mut self.normed, rows * d);
        net.normalise_last(&hidden[..rows * d], normed);
        let logits = room(&mut self.logits, rows * config.vocab);
        net.device.product(&net.packed.head, rows, normed, logits, Start::Zero);
    }

    /// The logits behind the last token of feed `index` of those that predict.
    pub(crate) fn logits(&self, net: Net, index: usize) -> &[f32] {
        let vocab = net.config().vocab;
        &self.logits[index * vocab..(index + 1) * vocab]
    }

    /// The value at the last token of feed `index` of those that predict; `None` without a value head.
    pub(crate) fn value(&self, net: Net, index: usize) -> Option<f32> {
        let config = net.config();
        let row = index * config.d_model..(index + 1) * config.d_model;
        config.value_head.then(|| net.value(&self.normed[row]))
    }
}

/// Stores keys and values of all new positions in one layer.
fn write(net: Net, layer: usize, feeds: &mut [Feed], qkv: &[f32]) {
    let config = net.config();
    let (keys, values) = (config.key_column(0), config.value_column(0));
    let mut rows = qkv.chunks_exact(config.qkv_width());
    for index in 0..feeds.len() {
        if let Some(next) = feeds.get(index + 1) {
            next.memory.expect(layer, next.memory.len());
        }
        let feed = &mut feeds[index];
        let start = feed.memory.len();
        for (position, row) in (start..start + feed.tokens.len()).zip(&mut rows) {
            feed.memory.write(layer, position, &row[keys..values], &row[values..]);
        }
    }
}

/// Attends from all new positions over the pages of their sequences.
fn attend(
    net: Net,
    layer: usize,
    feeds: &[Feed],
    qkv: &[f32],
    attended: &mut [f32],
    spaces: &AttentionSpaces,
) {
    let pages: Vec<&PageData> = feeds.iter().flat_map(|feed| feed.memory.data()).collect();
    let mut rest = &pages[..];
    let reading = |feed: &Feed| {
        let (own, others) = rest.split_at(feed.memory.data().len());
        rest = others;
        Reading { pages: own, start: feed.memory.len(), rows: feed.tokens.len() }
    };
    let readings: Vec<Reading> = feeds.iter().map(reading).collect();
    let layout = PageLayout::of(net.config(), net.packed.memory_precision());
    net.device.attend_pages((net.config(), layer, layout), &readings, qkv, attended, spaces);
}
