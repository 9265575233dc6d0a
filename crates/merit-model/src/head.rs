//! From hidden states to log-probabilities, entropies and values, and back.
//!
//! Logits exist only for the positions that are needed, and only for a block of rows at a time.

use crate::ModelError;
use crate::block::Net;
use crate::gradient::Gradients;
use crate::sequence::{reset, rows};
use merit_api::trainer::{Coefficients, SequenceScores, TrainSequence};
use merit_kernels::attention::room;
use merit_kernels::loss::RowStats;
use merit_kernels::norm::{add_scaled, dot_row};
use merit_kernels::{Asked, Start};
use std::ops::Range;

/// Rows gathered from several sequences before their logits are computed together.
const BLOCK_ROWS: usize = 256;
/// Logits held at a time; a longer sequence is walked in parts, and its logits are computed twice when training.
const MOST_LOGITS: usize = 1 << 24;

/// One needed position.
#[derive(Debug, Clone, Copy)]
struct Need {
    /// Which sequence of the shard.
    sequence: usize,
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
    asked: Vec<Asked>,
    dnormed: Vec<f32>,
    dhidden: Vec<f32>,
    scores: Vec<SequenceScores>,
    coefficients: Vec<Coefficients>,
}

/// What the head does with the outputs of sequence i of the shard; coefficients ask for gradients.
pub(crate) type Judge<'a> = dyn FnMut(usize, &SequenceScores) -> Result<Coefficients, ModelError> + 'a;

/// Where gradients of the head go: the hidden states of the shard (zeroed by the caller) and the weights.
pub(crate) struct HeadGradients<'a, 'b> {
    pub(crate) dx: &'a mut [f32],
    pub(crate) weights: &'a mut Gradients<'b>,
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
            *start += rows(&sequences[sequence]);
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
        let config = net.config();
        self.scores.resize_with(self.scores.len().max(range.len()), SequenceScores::default);
        for (scores, sequence) in self.scores.iter_mut().zip(&sequences[range.clone()]) {
            reset(scores, sequence.tokens.len(), config.value_head);
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
        let d = net.config().d_model;
        let len = self.needs.len() * d;
        let hidden = room(&mut self.hidden, len);
        net.device.gather(stream, d, self.needs.iter().map(|need| need.row), &mut hidden[..len]);
        net.normalise_last(&hidden[..len], room(&mut self.normed, len));
    }

    fn logits(&mut self, net: Net, rows: Range<usize>) {
        let config = net.config();
        let logits = room(&mut self.logits, rows.len() * config.vocab);
        let normed = &self.normed[rows.start * config.d_model..];
        net.device.product(&net.packed.head, rows.len(), normed, logits, Start::Zero);
    }

    /// The logits of the last rows that were walked, from the first of them on.
    pub(crate) fn last_logits(&self, vocab: usize) -> &[f32] {
        &self.logits[..vocab]
    }

    fn score(&mut self, net: Net, first: usize, rows: Range<usize>, inverse_temperature: f32) {
        let (d, vocab) = (net.config().d_model, net.config().vocab);
        self.stats.resize(rows.end, RowStats::default());
        let stats = &mut self.stats[rows.clone()];
        net.device.logit_stats(&self.logits, vocab, inverse_temperature, stats);
        let lines = self.logits.chunks_exact(vocab).zip(stats);
        for (need, (logits, stats)) in self.needs[rows.clone()].iter().zip(lines) {
            let scores = &mut self.scores[need.sequence - first];
            scores.logprobs[need.position] = stats.logprob(logits[need.target], inverse_temperature);
            scores.entropy[need.position] = stats.entropy();
        }
        if net.config().value_head {
            let normed = self.normed[rows.start * d..].chunks_exact(d);
            for (need, normed) in self.needs[rows].iter().zip(normed) {
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
        let (d, vocab) = (net.config().d_model, net.config().vocab);
        let at = |stream: &[f32], position: usize| stream.get(position).copied().unwrap_or(0.0);
        let asked = rows.clone().map(|i| {
            let (need, given) = (self.needs[i], &self.coefficients[self.needs[i].sequence - first]);
            Asked {
                target: need.target,
                stats: self.stats[i],
                on_logprob: at(&given.logprob, need.position),
                on_entropy: at(&given.entropy, need.position),
            }
        });
        self.asked.clear();
        self.asked.extend(asked);
        net.device.logits_back(&mut self.logits, vocab, inverse_temperature, &self.asked);
        let dnormed = room(&mut self.dnormed, rows.len() * d);
        net.device.product_back(&net.packed.head, rows.len(), &self.logits, dnormed, Start::Zero);
        let normed = &self.normed[rows.start * d..];
        if let Some(dw) = gradients.weights.head() {
            let precision = net.packed.precision;
            net.device.gradient(precision, rows.len(), (&self.logits, vocab), (normed, d), dw);
        }

        if let (Some(value), Some((dweight, dbias))) = (&net.packed.value, gradients.weights.value()) {
            for ((i, normed), dnormed) in
                rows.clone().zip(normed.chunks_exact(d)).zip(dnormed.chunks_exact_mut(d))
            {
                let need = self.needs[i];
                let c = at(&self.coefficients[need.sequence - first].value, need.position);
                add_scaled(net.device.isa(), c, &value.weight, dnormed);
                add_scaled(net.device.isa(), c, normed, dweight);
                *dbias += c;
            }
        }
        let len = rows.len() * d;
        let dhidden = room(&mut self.dhidden, len);
        dhidden[..len].fill(0.0);
        let (gain, eps) = (&net.packed.final_norm, net.config().norm_eps);
        let hidden = &self.hidden[rows.start * d..][..len];
        let dgain = gradients.weights.gain(d, |layout| layout.final_norm.clone());
        net.device.normalise_back(hidden, gain, eps, &dnormed[..len], dhidden, dgain);
        let places = self.needs[rows].iter().map(|need| need.row);
        net.device.scatter(&dhidden[..len], d, places, gradients.dx);
    }
}

impl Net<'_> {
    /// The norm behind the last block.
    pub(crate) fn normalise_last(&self, hidden: &[f32], normed: &mut [f32]) {
        self.device.normalise(hidden, &self.packed.final_norm, self.config().norm_eps, normed);
    }

    /// The value estimate of one normalised hidden state; only with a value head.
    pub(crate) fn value(&self, normed: &[f32]) -> f32 {
        let value = self.packed.value.as_ref().expect("the config has a value head");
        dot_row(self.device.isa(), normed, &value.weight) + value.bias
    }
}
