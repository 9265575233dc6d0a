//! Gradients of per-token coefficients, accumulated over shards, and the update that spends them.
//!
//! In: sequences and an objective that turns log-probabilities into coefficients. Out: one gradient vector, then new weights.
//! Shard i belongs to lane i mod lanes; each lane walks its shards in order into its own buffer; lanes are added in order.
//! None of this depends on the number of threads, so neither do the bits of the gradient.

use crate::adamw::{AdamWSettings, AdamWState, UpdateStats};
use crate::block::Net;
use crate::head::HeadGradients;
use crate::kernels::Isa;
use crate::packed::PackedWeights;
use crate::rope::Rope;
use crate::sequence::{Coefficients, SequenceOutputs, SequenceScores, TrainSequence, shards};
use crate::shard::{Keep, ShardSpace};
use crate::workers::{Scratch, Workers};
use crate::{ModelError, Weights};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::Arc;

/// Turns the outputs of one sequence into the derivative of the loss with respect to them; called once per sequence, from
/// any thread.
pub type Objective<'a> = dyn Fn(&SequenceOutputs) -> Coefficients + Sync + 'a;

/// How the work of a training batch is cut up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrainerSettings {
    /// Threads; shows in the time only, never in the result.
    pub threads: usize,
    /// Gradient buffers, and the most threads that can help. Part of the result's definition.
    pub lanes: usize,
    /// About how many tokens are worked on together. Part of the result's definition.
    pub shard_tokens: usize,
}

impl Default for TrainerSettings {
    fn default() -> Self {
        Self { threads: 1, lanes: 4, shard_tokens: 512 }
    }
}

/// Weights under training, with gradients and optimiser state.
#[derive(Debug)]
pub struct Trainer {
    weights: Arc<Weights>,
    packed: Option<PackedWeights>,
    rope: Rope,
    isa: Isa,
    workers: Workers,
    settings: TrainerSettings,
    gradients: Vec<f32>,
    lanes: Vec<Lane>,
    optimiser: AdamWState,
    spaces: Scratch<ShardSpace>,
}

#[derive(Debug, Default)]
struct Lane {
    gradients: Vec<f32>,
    fault: Option<ModelError>,
}

impl Trainer {
    /// Starts training from `weights` with a fresh optimiser.
    pub fn new(weights: impl Into<Arc<Weights>>, settings: TrainerSettings) -> Result<Self, ModelError> {
        let weights = weights.into();
        if settings.lanes == 0 || settings.shard_tokens == 0 {
            return Err(ModelError::Config("`lanes` and `shard_tokens` must be at least 1".into()));
        }
        let len = weights.values().len();
        Ok(Self {
            packed: None,
            rope: Rope::new(weights.config()),
            isa: Isa::best(),
            workers: Workers::new(settings.threads)?,
            gradients: vec![0.0; len],
            lanes: Vec::new(),
            optimiser: AdamWState::new(len),
            spaces: Scratch::default(),
            settings,
            weights,
        })
    }

    /// Uses another instruction set; the results stay the same.
    #[must_use]
    pub fn with_isa(mut self, isa: Isa) -> Self {
        self.isa = isa;
        self
    }

    /// Reads all sequences, asks `objective` for each one's coefficients and adds the gradient of their sum to what is
    /// already accumulated. On an error nothing is added.
    pub fn accumulate(
        &mut self,
        sequences: &[TrainSequence],
        temperature: f32,
        objective: &Objective,
    ) -> Result<(), ModelError> {
        check_batch(&self.weights, sequences, temperature)?;
        let cuts = shards(sequences, self.settings.shard_tokens);
        let packed = self.packed.get_or_insert_with(|| PackedWeights::for_training(&self.weights));
        let net = Net { isa: self.isa, weights: &self.weights, packed, rope: &self.rope };
        let count = self.settings.lanes.min(cuts.len());
        if self.lanes.len() < count {
            self.lanes.resize_with(count, Lane::default);
        }
        let len = self.gradients.len();
        let (lanes, spaces) = (&mut self.lanes[..count], &self.spaces);
        self.workers.for_each(lanes, |index, lane| {
            lane.gradients.clear();
            lane.gradients.resize(len, 0.0);
            spaces.lend(|space| {
                let mine = cuts.iter().skip(index).step_by(count);
                let walked = mine.map(|cut| {
                    train_shard(
                        net,
                        space,
                        sequences,
                        cut.clone(),
                        temperature,
                        objective,
                        &mut lane.gradients,
                    )
                });
                lane.fault = walked.collect::<Result<(), _>>().err();
            });
        });
        if let Some(fault) = lanes.iter_mut().find_map(|lane| lane.fault.take()) {
            return Err(fault);
        }
        for lane in lanes {
            self.gradients.iter_mut().zip(&lane.gradients).for_each(|(sum, part)| *sum += part);
        }
        Ok(())
    }

    /// Log-probabilities, entropies and values under the present weights.
    pub fn score(
        &mut self,
        sequences: &[TrainSequence],
        temperature: f32,
    ) -> Result<Vec<SequenceScores>, ModelError> {
        check_batch(&self.weights, sequences, temperature)?;
        let packed = self.packed.get_or_insert_with(|| PackedWeights::for_training(&self.weights));
        let net = Net { isa: self.isa, weights: &self.weights, packed, rope: &self.rope };
        score_shards(net, &self.spaces, sequences, temperature, &self.workers)
    }

    /// The gradient accumulated since the last update, aligned with [`Weights::values`].
    pub fn gradients(&self) -> &[f32] {
        &self.gradients
    }

    /// Forgets the accumulated gradient.
    pub fn clear_gradients(&mut self) {
        self.gradients.fill(0.0);
    }

    /// The Euclidean norm of the accumulated gradient.
    pub fn gradient_norm(&self) -> f64 {
        crate::adamw::norm(&self.gradients)
    }

    /// One AdamW step with the accumulated gradient, which is then forgotten. A gradient that is not finite changes nothing
    /// but is forgotten too.
    pub fn apply(&mut self, adamw: &AdamWSettings) -> Result<UpdateStats, ModelError> {
        let weights = Arc::make_mut(&mut self.weights);
        let result = self.optimiser.apply(self.isa, adamw, weights, &self.gradients, &self.workers);
        self.gradients.fill(0.0);
        if result.is_ok() {
            self.packed = None;
        }
        result
    }

    /// The present weights.
    pub fn weights(&self) -> &Weights {
        &self.weights
    }

    /// The present weights, shared; later updates do not show in them.
    pub fn snapshot(&self) -> Arc<Weights> {
        Arc::clone(&self.weights)
    }

    /// How many updates the optimiser has made.
    pub fn updates(&self) -> u64 {
        self.optimiser.steps()
    }

    /// The optimiser's moments and step count as safetensors bytes.
    pub fn optimiser_to_safetensors(&self) -> Vec<u8> {
        self.optimiser.to_safetensors(&self.weights)
    }

    /// Restores what [`Trainer::optimiser_to_safetensors`] wrote; nothing changes on an error.
    pub fn load_optimiser(&mut self, bytes: &[u8]) -> Result<(), ModelError> {
        self.optimiser = AdamWState::from_safetensors(bytes, &self.weights)?;
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
    check_batch(weights, sequences, temperature)?;
    let (packed, rope) = (PackedWeights::for_sampling(weights), Rope::new(weights.config()));
    let net = Net { isa: Isa::best(), weights, packed: &packed, rope: &rope };
    score_shards(net, &Scratch::default(), sequences, temperature, workers)
}

fn check_batch(weights: &Weights, sequences: &[TrainSequence], temperature: f32) -> Result<(), ModelError> {
    if !(temperature.is_finite() && temperature > 0.0) {
        return Err(ModelError::Temperature(temperature));
    }
    let mut checks =
        sequences.iter().enumerate().map(|(index, sequence)| sequence.check(index, weights.config()));
    checks.find(Result::is_err).unwrap_or(Ok(()))
}

fn train_shard(
    net: Net,
    space: &mut ShardSpace,
    sequences: &[TrainSequence],
    cut: Range<usize>,
    temperature: f32,
    objective: &Objective,
    grads: &mut [f32],
) -> Result<(), ModelError> {
    let shard = &sequences[cut.clone()];
    let last = space.forward(net, shard, Keep::All);
    let rows: usize = shard.iter().map(TrainSequence::rows).sum();
    let ShardSpace { streams, dx, head, .. } = space;
    let len = rows * net.weights.config().d_model;
    crate::attention::room(dx, len)[..len].fill(0.0);
    let mut judge = |i: usize, scores: &SequenceScores| {
        let coefficients = objective(&scores.outputs(cut.start + i));
        coefficients.check(cut.start + i, shard[i].tokens.len())?;
        Ok(coefficients)
    };
    let gradients = HeadGradients { dx, weights: grads };
    head.walk(net, shard, &streams[last], temperature, &mut judge, Some(gradients))?;
    space.backward(net, shard, grads);
    Ok(())
}

fn score_shards(
    net: Net,
    spaces: &Scratch<ShardSpace>,
    sequences: &[TrainSequence],
    temperature: f32,
    workers: &Workers,
) -> Result<Vec<SequenceScores>, ModelError> {
    const ROWS: usize = 1024;
    let cuts = shards(sequences, ROWS);
    let mut parts: Vec<(Range<usize>, Vec<SequenceScores>)> =
        cuts.into_iter().map(|cut| (cut, Vec::new())).collect();
    workers.for_each(&mut parts, |_, (cut, scores)| {
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
    });
    Ok(parts.into_iter().flat_map(|(_, scores)| scores).collect())
}
