//! Attention over whole sequences, forward and backward, as training and scoring need it.
//!
//! Rows of several sequences lie one behind the other. Each key head of each sequence is a piece of work of its own, which
//! any thread may do.

// Lets threads write different parts of one result.
#![allow(unsafe_code)]

use crate::attention::{HeadMemory, Runs, attend_heads, multiply_adds, room};
use crate::attention_backward::{AttentionSpace, HeadBackward};
use crate::pack::transpose;
use crate::target::Target;
use crate::{Device, Scratch};
use merit_formats::DecoderConfig;

/// Scratch of the attention passes, for whichever threads they run on.
pub type AttentionSpaces = Scratch<AttentionSpace>;

impl Device {
    /// Attends within each sequence: from rows `q | k | v` to rows of attended values, `lengths[i]` rows of sequence i
    /// behind those of the sequences before it.
    pub fn attend_whole(
        &self,
        (config, layer): (&DecoderConfig, usize),
        lengths: &[usize],
        qkv: &[f32],
        out: &mut [f32],
        spaces: &AttentionSpaces,
    ) {
        let (width, out_width) = (config.qkv_width(), config.attention_width());
        let total: usize = lengths.iter().sum();
        assert!(total * out_width <= out.len(), "attention: the result does not fit");
        let target = Target { data: out.as_mut_ptr(), row: out_width };
        let (work, firsts) = (whole_work(config, layer, lengths), starts(lengths));
        self.for_heads(work, (lengths.len(), config.kv_heads), spaces, |space, sequence, kv| {
            let (first, rows) = (firsts[sequence], lengths[sequence]);
            let qkv = &qkv[first * width..];
            let key_row = transpose_head(qkv, rows, config.key_column(kv), config, &mut space.keys);
            let (keys, values) = (&space.keys[..], &qkv[config.value_column(kv)..]);
            let memory =
                Runs { len: key_row, at: |_| HeadMemory { keys, key_row, values, value_row: width } };
            let (head, rows) = ((config, layer, kv), (qkv, 0, rows));
            // SAFETY: all rows were found to fit; no other piece has the rows of this sequence in these columns.
            unsafe {
                attend_heads(self.isa(), head, rows, &memory, target.from(first, 0), &mut space.scores)
            };
        });
    }

    /// From `dout`, the gradient of the attended values `out`, to `dqkv`, which is overwritten. What is read as a right
    /// matrix reaches a little behind its last row.
    pub fn attend_whole_back(
        &self,
        (config, layer): (&DecoderConfig, usize),
        lengths: &[usize],
        (qkv, out, dout): (&[f32], &[f32], &[f32]),
        dqkv: &mut [f32],
        spaces: &AttentionSpaces,
    ) {
        let (width, out_width) = (config.qkv_width(), config.attention_width());
        let total: usize = lengths.iter().sum();
        dqkv[..total * width].fill(0.0);
        let target = Target { data: dqkv.as_mut_ptr(), row: width };
        let (work, firsts) = (whole_work(config, layer, lengths), starts(lengths));
        // Scores again, and four products more.
        self.for_heads(3 * work, (lengths.len(), config.kv_heads), spaces, |space, sequence, kv| {
            let (first, rows) = (firsts[sequence], lengths[sequence]);
            let head = HeadBackward {
                isa: self.isa(),
                config,
                window: config.window_of(layer).unwrap_or(usize::MAX),
                kv,
                rows,
                qkv: &qkv[first * width..],
                out: &out[first * out_width..],
                dout: &dout[first * out_width..],
                dqkv: target.from(first, 0),
            };
            // SAFETY: the rows were filled above; no other piece has the rows of this sequence in the columns of this head.
            unsafe { head.backward(space) };
        });
    }
}

/// Copies a head of one sequence, transposed; returns the row stride.
pub(crate) fn transpose_head(
    qkv: &[f32],
    rows: usize,
    column: usize,
    config: &DecoderConfig,
    to: &mut Vec<f32>,
) -> usize {
    let stride = rows.next_multiple_of(32).max(32);
    let (dim, width) = (config.head_dim(), config.qkv_width());
    transpose(&qkv[column..], rows, dim, width, room(to, dim * stride), stride);
    stride
}

fn whole_work(config: &DecoderConfig, layer: usize, lengths: &[usize]) -> usize {
    lengths.iter().map(|&rows| multiply_adds(config, layer, 0, rows) / 2).sum()
}

/// The first row of each sequence.
fn starts(lengths: &[usize]) -> Vec<usize> {
    let next = |at: &mut usize, &rows: &usize| Some(std::mem::replace(at, *at + rows));
    lengths.iter().scan(0, next).collect()
}
