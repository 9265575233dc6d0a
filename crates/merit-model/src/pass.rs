//! One pass over a batch, shard by shard: scores, or gradients of what the objective makes of them.

use crate::block::Net;
use crate::gradient::Gradients;
use crate::head::HeadGradients;
use crate::layout::Layout;
use crate::lora_gradient::{AdapterSpace, PackedAdapter};
use crate::packed::PackedWeights;
use crate::rope::Rope;
use crate::sequence::{check_coefficients, check_sequence, rows, shards};
use crate::shard::{Keep, ShardSpace};
use crate::{DecoderConfig, ModelError, Weights};
use merit_api::trainer::{Coefficients, CoefficientsOf, SequenceScores, TrainSequence};
use merit_core::TokenId;
use merit_kernels::{Device, Precision, Scratch, Workers};
use std::ops::Range;

/// Rows scored together.
const SCORED_ROWS: usize = 1024;

/// What gradients are taken with respect to.
#[derive(Clone, Copy)]
pub(crate) enum Goal<'a> {
    All(&'a Layout),
    Adapter(&'a PackedAdapter),
}

/// A training pass over one batch.
#[derive(Clone, Copy)]
pub(crate) struct Pass<'a> {
    pub(crate) net: Net<'a>,
    pub(crate) goal: Goal<'a>,
    pub(crate) sequences: &'a [TrainSequence<'a>],
    pub(crate) temperature: f32,
    pub(crate) objective: &'a CoefficientsOf<'a>,
    pub(crate) keep: Keep,
}

impl Pass<'_> {
    /// Adds the gradient of one shard to `values`.
    pub(crate) fn shard(
        &self,
        cut: Range<usize>,
        space: &mut ShardSpace,
        values: &mut [f32],
        adapter_space: &mut AdapterSpace,
    ) -> Result<(), ModelError> {
        let mut gradients = match self.goal {
            Goal::All(layout) => Gradients::All { layout, values },
            Goal::Adapter(adapter) => Gradients::Adapter { adapter, values, space: adapter_space },
        };
        let shard = &self.sequences[cut.clone()];
        let last = space.forward(self.net, shard, self.keep);
        let rows: usize = shard.iter().map(rows).sum();
        let ShardSpace { streams, dx, head, .. } = space;
        let len = rows * self.net.config().d_model;
        merit_kernels::attention::room(dx, len)[..len].fill(0.0);
        let mut judge = |i: usize, scores: &SequenceScores| {
            let coefficients = (self.objective)(&scores.outputs(cut.start + i));
            check_coefficients(&coefficients, cut.start + i, shard[i].tokens.len())?;
            Ok(coefficients)
        };
        let into = HeadGradients { dx, weights: &mut gradients };
        head.walk(self.net, shard, &streams[last], self.temperature, &mut judge, Some(into))?;
        space.backward(self.net, shard, &mut gradients);
        Ok(())
    }
}

/// Log-probabilities, entropies and values of sequences under fixed weights: a reference policy, or a check.
pub fn score_sequences(
    weights: &Weights,
    sequences: &[TrainSequence],
    temperature: f32,
    workers: &Workers,
) -> Result<Vec<SequenceScores>, ModelError> {
    score_packed(&PackedWeights::copied(weights, Precision::F32), sequences, temperature, workers)
}

/// As [`score_sequences`], of packed weights, at whatever precision.
pub fn score_packed(
    packed: &PackedWeights,
    sequences: &[TrainSequence],
    temperature: f32,
    workers: &Workers,
) -> Result<Vec<SequenceScores>, ModelError> {
    check_batch(packed.config(), sequences, temperature)?;
    let (device, rope) = (device_for(packed.config(), workers), Rope::new(packed.config()));
    let net = Net { device: &device, packed, rope: &rope };
    score_shards(net, &Scratch::default(), sequences, temperature, workers)
}

/// The logits behind the last token of `context`.
pub fn next_logits(
    packed: &PackedWeights,
    context: &[TokenId],
    workers: &Workers,
) -> Result<Vec<f32>, ModelError> {
    let config = packed.config();
    check_sequence(&TrainSequence { tokens: context, needed: &vec![false; context.len()] }, 0, config)?;
    if context.is_empty() {
        return Err(ModelError::Sequence { index: 0, reason: "there is no token to read".into() });
    }
    // Whatever stands behind the last token is never read; it only makes that token's row a needed one.
    let tokens = [context, &[TokenId(0)]].concat();
    let needed: Vec<bool> = (0..tokens.len()).map(|position| position == context.len()).collect();
    let sequences = [TrainSequence { tokens: &tokens, needed: &needed }];
    let (device, rope) = (device_for(config, workers), Rope::new(config));
    let net = Net { device: &device, packed, rope: &rope };
    let mut space = ShardSpace::default();
    let last = space.forward(net, &sequences, Keep::Nothing);
    let mut nothing = |_: usize, _: &SequenceScores| Ok(Coefficients::default());
    space.head.walk(net, &sequences, &space.streams[last], 1.0, &mut nothing, None)?;
    Ok(space.head.last_logits(config.vocab).to_vec())
}

/// Weights from which on threads work inside operations, instead of each on sequences of its own.
const LARGE: usize = 16_000_000;

/// Whether one buffer of gradients is used, with all threads inside each operation.
pub(crate) fn is_large(config: &DecoderConfig) -> bool {
    config.parameters() >= LARGE
}

/// A large decoder's device has all threads; a small one's runs on whichever thread walks the shard.
pub(crate) fn device_for(config: &DecoderConfig, workers: &Workers) -> Device {
    if is_large(config) { Device::new(workers.clone()) } else { Device::single() }
}

pub(crate) fn check_batch(
    config: &DecoderConfig,
    sequences: &[TrainSequence],
    temperature: f32,
) -> Result<(), ModelError> {
    if !(temperature.is_finite() && temperature > 0.0) {
        return Err(ModelError::Temperature(temperature));
    }
    let mut checks =
        sequences.iter().enumerate().map(|(index, sequence)| check_sequence(sequence, index, config));
    checks.find(Result::is_err).unwrap_or(Ok(()))
}

pub(crate) fn score_shards(
    net: Net,
    spaces: &Scratch<ShardSpace>,
    sequences: &[TrainSequence],
    temperature: f32,
    workers: &Workers,
) -> Result<Vec<SequenceScores>, ModelError> {
    let cuts = shards(sequences, SCORED_ROWS);
    let mut parts: Vec<(Range<usize>, Vec<SequenceScores>)> =
        cuts.into_iter().map(|cut| (cut, Vec::new())).collect();
    let one = |(cut, scores): &mut (Range<usize>, Vec<SequenceScores>)| {
        spaces.lend(|space| {
            let shard = &sequences[cut.clone()];
            let last = space.forward(net, shard, Keep::Nothing);
            let mut keep = |_: usize, one: &SequenceScores| {
                scores.push(one.clone());
                Ok(Coefficients::default())
            };
            let walked = space.head.walk(net, shard, &space.streams[last], temperature, &mut keep, None);
            walked.expect("keeping scores cannot fail");
        });
    };
    if is_large(net.config()) {
        parts.iter_mut().for_each(one);
    } else {
        workers.for_each(&mut parts, |_, part| one(part));
    }
    Ok(parts.into_iter().flat_map(|(_, scores)| scores).collect())
}
