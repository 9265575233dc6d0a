//! One block of the decoder, forward and backward, over any rows of any sequences.
//!
//! A list of device operations over whole buffers. The caller supplies the attention over the rows (whole sequences when
//! training, cached positions when sampling); everything else works row by row. Backward computes norms and gated units
//! again instead of keeping them.

use crate::DecoderConfig;
use crate::gradient::Gradients;
use crate::packed::{Fused, PackedWeights};
use crate::pass::is_large;
use crate::rope::Rope;
use merit_kernels::attention::room;
use merit_kernels::rotary::RotaryHeads;
use merit_kernels::{Device, Start};

/// Everything that the passes read and share.
#[derive(Clone, Copy)]
pub(crate) struct Net<'a> {
    pub(crate) device: &'a Device,
    pub(crate) packed: &'a PackedWeights,
    pub(crate) rope: &'a Rope,
}

/// What the backward pass needs of one block's forward pass.
#[derive(Debug, Default)]
pub(crate) struct BlockRecord {
    /// `q | k | v`, rotated and scaled.
    qkv: Vec<f32>,
    /// `q | k` before its norm; only where heads are normalised.
    raw: Vec<f32>,
    attended: Vec<f32>,
    /// What attention adds, before its norm; only where that is normalised.
    spoken: Vec<f32>,
    /// The residual stream between attention and feed-forward.
    middle: Vec<f32>,
    gate_up: Vec<f32>,
    /// What the feed-forward adds, before its norm; only where that is normalised.
    fed: Vec<f32>,
}

/// Scratch shared by all blocks of a pass.
#[derive(Debug, Default)]
pub(crate) struct BlockSpace {
    normed: Vec<f32>,
    active: Vec<f32>,
    dnormed: Vec<f32>,
    dqkv: Vec<f32>,
    dattended: Vec<f32>,
    /// The gradient of what attention or feed-forward added, before its norm.
    dspoken: Vec<f32>,
}

impl<'a> Net<'a> {
    pub(crate) fn config(&self) -> &'a DecoderConfig {
        &self.packed.config
    }

    /// `x` to `out`, or only to the record; `attend(qkv, attended)` is called between the projections.
    pub(crate) fn block_forward(
        &self,
        layer: usize,
        positions: &[usize],
        x: &[f32],
        out: Option<&mut Vec<f32>>,
        (record, space): (&mut BlockRecord, &mut BlockSpace),
        attend: impl FnOnce(&[f32], &mut [f32]),
    ) {
        let (config, block, device) = (self.config(), &self.packed.blocks[layer], self.device);
        let (ff, wide, rows) = (config.d_ff, config.qkv_width(), positions.len());
        let stream = rows * config.d_model;

        let normed = room(&mut space.normed, stream);
        device.normalise(&x[..stream], &block.attention_norm, config.norm_eps, normed);
        let qkv = room(&mut record.qkv, rows * wide);
        let start = self.start_from(block.qkv_bias.as_deref(), &mut qkv[..rows * wide]);
        device.product(&block.qkv, rows, normed, qkv, start);
        self.normalise_heads(layer, rows, qkv, &mut record.raw);
        device.rotate(qkv, rotary_heads(config), positions, self.rope.angles(config, layer));
        device.round_memory(config, self.packed.memory_precision(), &mut qkv[..rows * wide]);
        let attended = room(&mut record.attended, rows * config.attention_width());
        attend(qkv, attended);
        let middle = room(&mut record.middle, stream);
        let post = block.post_norms.as_ref().map(|[attention, _]| &attention[..]);
        self.join(Fused::Output, layer, (rows, attended), (x, middle), (post, &mut record.spoken, normed));

        device.normalise(&middle[..stream], &block.feed_norm, config.norm_eps, normed);
        let gate_up = room(&mut record.gate_up, rows * 2 * ff);
        device.product(&block.gate_up, rows, normed, gate_up, Start::Zero);
        let active = room(&mut space.active, rows * ff);
        device.gate(config.style.activation, &gate_up[..rows * 2 * ff], ff, active);
        let post = block.post_norms.as_ref().map(|[_, feed]| &feed[..]);
        match (out, post) {
            (Some(out), _) => {
                let out = room(out, stream);
                self.join(Fused::Down, layer, (rows, active), (middle, out), (post, &mut record.fed, normed));
            }
            // The way back reads what was fed before its norm, and nothing behind it.
            (None, Some(_)) => {
                device.product(&block.down, rows, active, room(&mut record.fed, stream), Start::Zero)
            }
            (None, None) => {}
        }
    }

    /// Lets the sums of a product begin with a bias, where there is one.
    fn start_from(&self, bias: Option<&[f32]>, rows: &mut [f32]) -> Start {
        let Some(bias) = bias else { return Start::Zero };
        self.device.fill_rows(bias, rows);
        Start::Resume
    }

    fn normalise_heads(&self, layer: usize, rows: usize, qkv: &mut [f32], raw: &mut Vec<f32>) {
        let config = self.config();
        let Some([queries, keys]) = &self.packed.blocks[layer].head_norms else { return };
        let (wide, key, value) = (config.qkv_width(), config.key_column(0), config.value_column(0));
        let raw = room(raw, rows * value);
        let qkv = &mut qkv[..rows * wide];
        for (raw, row) in raw.chunks_exact_mut(value).zip(qkv.chunks_exact(wide)) {
            raw.copy_from_slice(&row[..value]);
        }
        self.device.normalise_heads(qkv, (wide, 0, key), queries, config.norm_eps);
        self.device.normalise_heads(qkv, (wide, key, value), keys, config.norm_eps);
    }

    /// `out = x + y w`, or `out = x + norm(y w)` where what is added has a gain; `added` then keeps `y w`.
    ///
    /// In a small decoder the sums go on from the stream. In a large one, some of whose streams grow to thousands, that would
    /// round every step of a sum to the stream's last bit; there a sum is finished before it joins.
    fn join(
        &self,
        fused: Fused,
        layer: usize,
        (rows, y): (usize, &[f32]),
        (x, out): (&[f32], &mut [f32]),
        (gain, added, normed): (Option<&[f32]>, &mut Vec<f32>, &mut [f32]),
    ) {
        let matrix = fused.of(&self.packed.blocks[layer]);
        let stream = rows * self.config().d_model;
        out[..stream].copy_from_slice(&x[..stream]);
        if gain.is_none() && !is_large(self.config()) {
            return self.device.product(matrix, rows, y, out, Start::Resume);
        }
        let Some(gain) = gain else {
            self.device.product(matrix, rows, y, normed, Start::Zero);
            return self.device.add(&normed[..stream], &mut out[..stream]);
        };
        let added = room(added, stream);
        self.device.product(matrix, rows, y, added, Start::Zero);
        self.device.normalise(&added[..stream], gain, self.config().norm_eps, normed);
        self.device.add(&normed[..stream], &mut out[..stream]);
    }

    /// `dx` comes in as the gradient of the block's output and leaves as that of its input; weight gradients are added to
    /// `gradients`. `attend_backward(qkv, attended, dattended, dqkv)` is called between the projections. The record is spent.
    pub(crate) fn block_backward(
        &self,
        layer: usize,
        positions: &[usize],
        (x, dx): (&[f32], &mut [f32]),
        (record, space): (&mut BlockRecord, &mut BlockSpace),
        gradients: &mut Gradients,
        attend_backward: impl FnOnce(&[f32], &[f32], &[f32], &mut [f32]),
    ) {
        self.feed_backward(layer, positions.len(), dx, record, space, gradients);

        let (config, block, device) = (self.config(), &self.packed.blocks[layer], self.device);
        let (wide, rows) = (config.qkv_width(), positions.len());
        let (stream, eps) = (rows * config.d_model, config.norm_eps);
        let BlockSpace { normed, dnormed, dqkv, dattended, dspoken, .. } = space;
        let dspoken = self.part_backward(layer, 0, rows, (&record.spoken, &*dx), dspoken, gradients);
        let dattended = room(dattended, rows * config.attention_width());
        device.product_back(&block.output, rows, dspoken, dattended, Start::Zero);
        gradients.linear(self, (layer, Fused::Output), rows, &record.attended, dspoken);
        let dqkv = room(dqkv, rows * wide);
        attend_backward(&record.qkv, &record.attended, dattended, dqkv);
        device.rotate_back(dqkv, rotary_heads(config), positions, self.rope.angles(config, layer));
        self.normalise_heads_back(layer, rows, dqkv, &record.raw, gradients);
        if let Some(dbias) = gradients.vector(|layout| layout.blocks[layer].qkv_bias.clone()) {
            device.sum_rows(&dqkv[..rows * wide], dbias);
        }
        let dnormed = room(dnormed, stream);
        device.product_back(&block.qkv, rows, dqkv, dnormed, Start::Zero);
        let normed = room(normed, stream);
        device.normalise(&x[..stream], &block.attention_norm, eps, normed);
        gradients.linear(self, (layer, Fused::Qkv), rows, normed, dqkv);
        let dgain = gradients.gain(config.d_model, |layout| layout.blocks[layer].attention_norm.clone());
        device.normalise_back(&x[..stream], &block.attention_norm, eps, &dnormed[..stream], dx, dgain);
    }

    fn feed_backward(
        &self,
        layer: usize,
        rows: usize,
        dx: &mut [f32],
        record: &mut BlockRecord,
        space: &mut BlockSpace,
        gradients: &mut Gradients,
    ) {
        let (config, block, device) = (self.config(), &self.packed.blocks[layer], self.device);
        let (ff, stream, eps) = (config.d_ff, rows * config.d_model, config.norm_eps);
        let BlockSpace { normed, active, dnormed, dspoken, .. } = space;
        let dfed = self.part_backward(layer, 1, rows, (&record.fed, &*dx), dspoken, gradients);
        let active = room(active, rows * ff);
        device.product_back(&block.down, rows, dfed, active, Start::Zero);
        let gate_up = &mut record.gate_up;
        device.gate_back(config.style.activation, &mut gate_up[..rows * 2 * ff], ff, active);
        gradients.linear(self, (layer, Fused::Down), rows, active, dfed);
        let dnormed = room(dnormed, stream);
        device.product_back(&block.gate_up, rows, gate_up, dnormed, Start::Zero);
        let (middle, normed) = (&record.middle[..stream], room(normed, stream));
        device.normalise(middle, &block.feed_norm, eps, normed);
        gradients.linear(self, (layer, Fused::GateUp), rows, normed, gate_up);
        let dgain = gradients.gain(config.d_model, |layout| layout.blocks[layer].feed_norm.clone());
        device.normalise_back(middle, &block.feed_norm, eps, &dnormed[..stream], dx, dgain);
    }

    /// The gradient of what attention (`part` 0) or feed-forward (1) said, from that of the stream it joined: the same, or
    /// taken back through its norm.
    fn part_backward<'s>(
        &self,
        layer: usize,
        part: usize,
        rows: usize,
        (added, dx): (&[f32], &'s [f32]),
        space: &'s mut Vec<f32>,
        gradients: &mut Gradients,
    ) -> &'s [f32] {
        let config = self.config();
        let Some(norms) = &self.packed.blocks[layer].post_norms else { return dx };
        let stream = rows * config.d_model;
        let dspoken = room(space, stream);
        dspoken[..stream].fill(0.0);
        let place = |layout: &crate::layout::Layout| {
            let norms = layout.blocks[layer].post_norms.as_ref().expect("the layout follows the style");
            norms[part].clone()
        };
        let dgain = gradients.gain(config.d_model, place);
        let (gain, eps) = (&norms[part], config.norm_eps);
        self.device.normalise_back(&added[..stream], gain, eps, &dx[..stream], dspoken, dgain);
        dspoken
    }

    fn normalise_heads_back(
        &self,
        layer: usize,
        rows: usize,
        dqkv: &mut [f32],
        raw: &[f32],
        gradients: &mut Gradients,
    ) {
        let config = self.config();
        let Some(norms) = &self.packed.blocks[layer].head_norms else { return };
        let (wide, key, value) = (config.qkv_width(), config.key_column(0), config.value_column(0));
        for (part, (from, to)) in [(0, key), (key, value)].into_iter().enumerate() {
            let dgain = gradients.gain(config.head_dim(), |layout| {
                let norms = layout.blocks[layer].head_norms.as_ref().expect("the layout follows the style");
                norms[part].clone()
            });
            self.device.normalise_heads_back(
                (&raw[..rows * value], value),
                &mut dqkv[..rows * wide],
                (wide, from, to),
                (&norms[part], config.norm_eps),
                dgain,
            );
        }
    }
}

fn rotary_heads(config: &DecoderConfig) -> RotaryHeads {
    RotaryHeads {
        width: config.qkv_width(),
        keys: config.key_column(0),
        values: config.value_column(0),
        scale: config.query_scale(),
    }
}
