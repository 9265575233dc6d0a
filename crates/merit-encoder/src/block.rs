//! One block: every token looks at every token of its text, then the feed-forward; a norm after each.
//!
//! In and out: the rows of several texts one behind the other. Products are of rows, attention is of one text, so a text's
//! rows have the same bits in any batch.

use crate::activation::activate;
use crate::rows::add;
use crate::weights::Layer;
use merit_formats::EncoderConfig;
use merit_kernels::gemm::{Left, Right, SLACK, Size, gemm};
use merit_kernels::pack::transpose;
use merit_kernels::softmax::softmax_rows;
use merit_kernels::{Device, Start};

/// Rows of softmax are a multiple of this.
const CHUNK: usize = 16;

/// Memory of a pass over some rows.
pub(crate) struct Space {
    qkv: Vec<f32>,
    attended: Vec<f32>,
    wide: Vec<f32>,
    keys: Vec<f32>,
    scores: Vec<f32>,
}

impl Space {
    /// Room for `rows` rows, of which no text has more than `longest`.
    pub(crate) fn new(config: &EncoderConfig, rows: usize, longest: usize) -> Self {
        let stride = longest.next_multiple_of(CHUNK);
        let d = config.d_model;
        Self {
            // Products read a little behind the last column.
            qkv: vec![0.0; rows * 3 * d + SLACK],
            attended: vec![0.0; rows * d],
            wide: vec![0.0; rows * config.d_ff.max(d)],
            keys: vec![0.0; d / config.heads * stride + SLACK],
            scores: vec![0.0; longest * stride],
        }
    }
}

/// Takes the rows of texts with these `lengths` through the block.
pub(crate) fn apply(
    (device, config, layer): (&Device, &EncoderConfig, &Layer),
    lengths: &[usize],
    x: &mut [f32],
    space: &mut Space,
) {
    let d = config.d_model;
    let rows: usize = lengths.iter().sum();
    layer.qkv.apply(device, rows, x, &mut space.qkv);
    let mut first = 0;
    for &length in lengths {
        for head in 0..config.heads {
            attend(device, config, head, first..first + length, space);
        }
        first += length;
    }
    layer.merge.apply(device, rows, &space.attended, &mut space.wide);
    add(x, &space.wide[..rows * d]);
    layer.attention_norm.apply(x);
    layer.up.apply(device, rows, x, &mut space.wide);
    activate(config.activation, &mut space.wide[..rows * config.d_ff]);
    layer.down.apply(device, rows, &space.wide, &mut space.attended);
    add(x, &space.attended);
    layer.output_norm.apply(x);
}

/// One head over one text: `softmax(q kᵀ / sqrt(width)) v`.
fn attend(
    device: &Device,
    config: &EncoderConfig,
    head: usize,
    rows: std::ops::Range<usize>,
    space: &mut Space,
) {
    let (isa, d) = (device.isa(), config.d_model);
    let (width, length) = (d / config.heads, rows.len());
    if length == 0 {
        return;
    }
    let (row, stride) = (3 * d, length.next_multiple_of(CHUNK));
    let start = rows.start * row + head * width;
    let (keys, scores) = (&mut space.keys[..], &mut space.scores[..length * stride]);
    transpose(&space.qkv[start + d..], length, width, row, keys, stride);
    let size = Size { m: length, n: length, k: width };
    gemm(
        isa,
        size,
        Left::rows(&space.qkv[start..], row),
        Right::rows(keys, stride),
        scores,
        stride,
        Start::Zero,
    );
    let scale = 1.0 / (width as f32).sqrt();
    scores.iter_mut().for_each(|score| *score *= scale);
    softmax_rows(isa, scores, stride, length, 0, usize::MAX);
    let size = Size { m: length, n: width, k: length };
    let values = Right::rows(&space.qkv[start + 2 * d..], row);
    let out = &mut space.attended[rows.start * d + head * width..];
    gemm(isa, size, Left::rows(scores, stride), values, out, d, Start::Zero);
}
