//! From hidden states to log-probabilities, entropies and values, and back.
//!
//! Logits exist only for the positions that are needed, and only for a block of rows at a time.

use crate::ModelError;
use crate::attention::room;
use crate::block::Net;
use crate::kernels::gemm::{Left, Size, Start, gemm};
use crate::kernels::loss::{RowStats, row_backward, row_stats};
use crate::kernels::norm::{add_scaled, dot_row, normalise, normalise_backward};
use crate::sequence::{Coefficients, SequenceScores, TrainSequence};
use std::ops::Range;

/// Rows gathered from several sequences before their logits are computed together.
const BLOCK_ROWS: usize = 256;
/// Logits held at a time; a longer sequence is walked in parts, and its logits are computed twice when training.
const MOST_LOGITS: usize = 1 << 22;

/// One needed position.
#[derive(Debug, Clone, Copy)]
struct Need {
    /// Which sequence of the shard.
    sequence: usize,
    /// Which token of it.
    position: usize,
    /// Which row of the shard's hidden states predicts it.
    row: usize,
    target: usize,
}

/// Scratch of the head.
#[derive(Debug, Default)]
pub(crate) struct HeadSpace {
    needs: Vec<Need>,
    hidden: Vec<f32>,
    normed: Vec<f32>,
    logits: Vec<f32>,
    stats: Vec<RowStats>,
    dnormed: Vec<f32>,
    dhidden: Vec<f32>,
    scores: Vec<SequenceScores>,
    coefficients: Vec<Coefficients>,
}

/// What the head does with the outputs of sequence i of the shard; coefficients ask for gradients.
pub(crate) type Judge<'a> = dyn FnMut(usize, &SequenceScores) -> Result<Coefficients, ModelError> + 'a;

/// Where gradients of the head go: the hidden states of the shard (zeroed by the caller) and the weights.
pub(crate) struct HeadGradients<'a> {
    pub(crate) dx: &'a mut [f32],
    pub(crate) weights: &'a mut [f32],
}

impl HeadSpace {
    /// Walks the sequences of a shard in order.
    pub(crate) fn walk(
        &mut self,
        net: Net,
        sequences: &[TrainSequence],
        stream: &[f32],
        temperature: f32,
        judge: &mut Judge,
        mut gradients: Option<HeadGradients>,
    ) -> Result<(), ModelError> {
        let mut first = 0;
        let mut start = 0;
        while first < sequences.len() {
            let past = self.gather(sequences, first, &mut start);
            self.block(net, sequences, first..past, stream, temperature, judge, gradients.as_mut())?;
            first = past;
        }
        Ok(())
    }

    /// Lists the needed positions of sequences from `first` on, up to a block's worth; returns the first one left out.
    fn gather(&mut self, sequences: &[TrainSequence], first: usize, start: &mut usize) -> usize {
        self.needs.clear();
        let mut sequence = first;
        while sequence < sequences.len() {
            let TrainSequence { tokens, needed } = sequences[sequence];
            let count = needed.iter().filter(|&&needed| needed).count();
            if sequence > first && self.needs.len() + count > BLOCK_ROWS {
                break;
            }
            for position in (1..tokens.len()).filter(|&position| needed[position]) {
                let target = tokens[position].0 as usize;
                self.needs.push(Need { sequence, position, row: *start + position - 1, target });
            }
            *start += sequences[sequence].rows();
            sequence += 1;
        }
        sequence
    }

    #[allow(clippy::too_many_arguments)]
    fn block(
        &mut self,
        net: Net,
        sequences: &[TrainSequence],
        range: Range<usize>,
        stream: &[f32],
        temperature: f32,
        judge: &mut Judge,
        gradients: Option<&mut HeadGradients>,
    ) -> Result<(), ModelError> {
        let config = net.weights.config();
        self.scores.resize_with(self.scores.len().max(range.len()), SequenceScores::default);
        for (scores, sequence) in self.scores.iter_mut().zip(&sequences[range.clone()]) {
            scores.reset(sequence.tokens.len(), config.value_head);
        }
        self.normalise(net, stream);
        self.stats.clear();
        let part = (MOST_LOGITS / config.vocab).clamp(16, usize::MAX);
        let parts: Vec<_> = (0..self.needs.len()).step_by(part).collect();
        for &at in &parts {
            let rows = at..(at + part).min(self.needs.len());
            self.logits(net, rows.clone());
            self.score(net, range.start, rows, 1.0 / temperature);
        }
        self.coefficients.clear();
        for (index, scores) in range.clone().zip(&self.scores) {
            let coefficients = judge(index, scores)?;
            self.coefficients.push(coefficients);
        }
        let Some(gradients) = gradients else { return Ok(()) };
        for &at in &parts {
            let rows = at..(at + part).min(self.needs.len());
            if parts.len() > 1 {
                self.logits(net, rows.clone());
            }
            self.backward(net, range.start, rows, 1.0 / temperature, gradients);
        }
        Ok(())
    }

    fn normalise(&mut self, net: Net, stream: &[f32]) {
        let config = net.weights.config();
        let (d, len) = (config.d_model, self.needs.len() * config.d_model);
        let hidden = room(&mut self.hidden, len);
        for (need, row) in self.needs.iter().zip(hidden.chunks_exact_mut(d)) {
            row.copy_from_slice(&stream[need.row * d..(need.row + 1) * d]);
        }
        let gain = &net.weights.values()[net.weights.layout().final_norm.clone()];
        normalise(net.isa, &hidden[..len], gain, config.norm_eps, room(&mut self.normed, len));
    }

    fn logits(&mut self, net: Net, rows: Range<usize>) {
        let config = net.weights.config();
        let size = Size { m: rows.len(), n: config.vocab, k: config.d_model };
        let logits = room(&mut self.logits, rows.len() * config.vocab);
        let left = Left::rows(&self.normed[rows.start * config.d_model..], config.d_model);
        gemm(net.isa, size, left, net.packed.head.as_right(), logits, config.vocab, Start::Zero);
    }

    fn score(&mut self, net: Net, first: usize, rows: Range<usize>, inverse_temperature: f32) {
        let config = net.weights.config();
        let (d, vocab) = (config.d_model, config.vocab);
        for (need, logits) in self.needs[rows.clone()].iter().zip(self.logits.chunks_exact(vocab)) {
            let stats = row_stats(net.isa, logits, inverse_temperature);
            let scores = &mut self.scores[need.sequence - first];
            scores.logprobs[need.position] = stats.logprob(logits[need.target], inverse_temperature);
            scores.entropy[need.position] = stats.entropy();
            self.stats.push(stats);
        }
        if config.value_head {
            for (need, normed) in
                self.needs[rows.clone()].iter().zip(self.normed[rows.start * d..].chunks_exact(d))
            {
                self.scores[need.sequence - first].values[need.position] = net.value(normed);
            }
        }
    }

    fn backward(
        &mut self,
        net: Net,
        first: usize,
        rows: Range<usize>,
        inverse_temperature: f32,
        gradients: &mut HeadGradients,
    ) {
        let config = net.weights.config();
        let (d, vocab, layout) = (config.d_model, config.vocab, net.weights.layout());
        let at = |stream: &[f32], position: usize| stream.get(position).copied().unwrap_or(0.0);
        for (i, logits) in rows.clone().zip(self.logits.chunks_exact_mut(vocab)) {
            let (need, stats) = (self.needs[i], self.stats[i]);
            let given = &self.coefficients[need.sequence - first];
            let (c, e) = (at(&given.logprob, need.position), at(&given.entropy, need.position));
            row_backward(net.isa, logits, need.target, stats, inverse_temperature, c, e);
        }
        let dnormed = room(&mut self.dnormed, rows.len() * d);
        let size = Size { m: rows.len(), n: d, k: vocab };
        let embedding = net.packed.head_backward.as_ref().expect("packed for training");
        gemm(net.isa, size, Left::rows(&self.logits, vocab), embedding.as_right(), dnormed, d, Start::Zero);
        let normed = &self.normed[rows.start * d..];
        net.weight_gradient(
            rows.len(),
            &self.logits,
            vocab,
            normed,
            d,
            &mut gradients.weights[layout.embedding.clone()],
        );

        if let Some(value) = layout.value.clone() {
            let bias = value.end;
            for ((i, normed), dnormed) in
                rows.clone().zip(normed.chunks_exact(d)).zip(dnormed.chunks_exact_mut(d))
            {
                let need = self.needs[i];
                let c = at(&self.coefficients[need.sequence - first].value, need.position);
                add_scaled(net.isa, c, &net.weights.values()[value.clone()], dnormed);
                add_scaled(net.isa, c, normed, &mut gradients.weights[value.clone()]);
                gradients.weights[bias] += c;
            }
        }
        let len = rows.len() * d;
        let dhidden = room(&mut self.dhidden, len);
        dhidden[..len].fill(0.0);
        let gain = &net.weights.values()[layout.final_norm.clone()];
        let (hidden, dgain) =
            (&self.hidden[rows.start * d..], &mut gradients.weights[layout.final_norm.clone()]);
        normalise_backward(net.isa, &hidden[..len], gain, config.norm_eps, &dnormed[..len], dhidden, dgain);
        for (need, dhidden) in self.needs[rows].iter().zip(dhidden.chunks_exact(d)) {
            gradients.dx[need.row * d..(need.row + 1) * d].copy_from_slice(dhidden);
        }
    }
}

impl Net<'_> {
    /// The value estimate of one normalised hidden state; only with a value head.
    pub(crate) fn value(&self, normed: &[f32]) -> f32 {
        let value = self.weights.layout().value.clone().expect("the config has a value head");
        let (weight, bias) = (&self.weights.values()[value.clone()], self.weights.values()[value.end]);
        dot_row(self.isa, normed, weight) + bias
    }
}
