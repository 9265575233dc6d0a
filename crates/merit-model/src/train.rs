//! Gradients of per-token coefficients, accumulated over shards, and the update that spends them.
//!
//! In: sequences and an objective that turns log-probabilities into coefficients. Out: one gradient vector, then new
//! weights, or a new adapter. Small decoders: shard i belongs to lane i mod lanes, each lane walks its shards in order into
//! its own buffer, and lanes are added in order. Large ones: one buffer, shard after shard, with threads inside each
//! operation. None of this depends on the number of threads, so neither do the bits of the gradient.

use crate::adamw::AdamWState;
use crate::block::Net;
use crate::lora::Adapter;
use crate::lora_gradient::AdapterSpace;
use crate::memory::require;
use crate::packed::PackedWeights;
use crate::pass::{Pass, check_batch, device_for, is_large, score_shards};
use crate::rope::Rope;
use crate::sequence::shards;
use crate::shard::{Keep, ShardSpace};
use crate::trained::{Adapted, Trained};
use crate::{ModelError, Weights};
use merit_api::trainer::{
    AdamWSettings, CoefficientsOf, SequenceScores, TrainError, TrainSequence, UpdateStats,
};
use merit_kernels::{Device, Isa, Precision, Scratch, Workers};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::Arc;

/// How the work of a training batch is cut up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrainerSettings {
    /// Threads; shows in the time only, never in the result.
    pub threads: usize,
    /// Gradient buffers of a small decoder, and the most threads that can help it. Part of the result's definition.
    /// Decoders of 16 million weights and more have one buffer.
    pub lanes: usize,
    /// About how many tokens are worked on together. Part of the result's definition.
    pub shard_tokens: usize,
    /// What products round their operands to; weights, gradients and sums are f32 in any case. Part of the result's
    /// definition.
    pub precision: Precision,
    /// Keep only the streams between blocks and run each block again on the way back: about a third more work for a tenth
    /// of the memory, and the same bits.
    pub recompute: bool,
}

impl Default for TrainerSettings {
    fn default() -> Self {
        Self { threads: 1, lanes: 4, shard_tokens: 512, precision: Precision::F32, recompute: false }
    }
}

/// Weights or an adapter under training, with gradients and optimiser state.
#[derive(Debug)]
pub struct Trainer {
    trained: Trained,
    /// The policy as passes read it; absent before its first use and after an update of all weights.
    packed: Option<Arc<PackedWeights>>,
    /// What was packed before an update, whose memory is used again.
    spent: Option<PackedWeights>,
    rope: Rope,
    device: Device,
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
    adapter: AdapterSpace,
    fault: Option<ModelError>,
}

impl Trainer {
    /// Starts training all of `weights` with a fresh optimiser.
    pub fn new(weights: impl Into<Arc<Weights>>, settings: TrainerSettings) -> Result<Self, ModelError> {
        Self::start(Trained::All(weights.into()), settings)
    }

    /// Starts training `adapter` on top of `base`, which stays as it is.
    pub fn with_adapter(
        base: impl Into<Arc<Weights>>,
        adapter: Adapter,
        settings: TrainerSettings,
    ) -> Result<Self, ModelError> {
        let base = base.into();
        adapter.check_base(&base)?;
        Self::start(Trained::Adapter(Box::new(Adapted { base, adapter, thin: None })), settings)
    }

    fn start(trained: Trained, settings: TrainerSettings) -> Result<Self, ModelError> {
        if settings.lanes == 0 || settings.shard_tokens == 0 {
            return Err(ModelError::Config("`lanes` and `shard_tokens` must be at least 1".into()));
        }
        let (config, len) = (trained.config(), trained.values().len());
        // Gradients and two moments, and matrices packed both ways.
        let layouts = 2 * config.parameters() * bytes_per_weight(settings.precision);
        require("training (gradients, optimiser state and packed matrices)", 12 * len + layouts)?;
        let workers = Workers::new(settings.threads)?;
        Ok(Self {
            packed: None,
            spent: None,
            rope: Rope::new(config),
            device: device_for(config, &workers),
            workers,
            gradients: vec![0.0; len],
            lanes: Vec::new(),
            optimiser: AdamWState::new(len),
            spaces: Scratch::default(),
            settings,
            trained,
        })
    }

    /// Uses another instruction set; the results stay the same.
    #[must_use]
    pub fn with_isa(mut self, isa: Isa) -> Self {
        self.device = self.device.with_isa(isa);
        self
    }

    /// The policy as it is sampled from and trained, packed at this trainer's precision; shared, so that a sampler over it
    /// needs no memory of its own. Later updates do not show in it.
    pub fn policy(&mut self) -> Arc<PackedWeights> {
        let packed = self.packed.take().unwrap_or_else(|| self.pack());
        self.packed = Some(Arc::clone(&packed));
        if let Trained::Adapter(adapted) = &mut self.trained {
            adapted.thin.get_or_insert_with(|| adapted.adapter.packed());
        }
        packed
    }

    fn pack(&mut self) -> Arc<PackedWeights> {
        let base = Arc::clone(self.trained.base());
        if let Some(mut packed) = self.spent.take() {
            packed.refill(&Device::new(self.workers.clone()).with_isa(self.device.isa()), base);
            return Arc::new(packed);
        }
        let mut packed = PackedWeights::for_training(base, self.settings.precision);
        self.refresh(&mut packed);
        Arc::new(packed)
    }

    /// Brings an adapter's policy up to date.
    fn refresh(&self, packed: &mut PackedWeights) {
        if let Trained::Adapter(adapted) = &self.trained {
            let Adapted { base, adapter, .. } = &**adapted;
            adapter.refresh(base, packed, self.device.isa(), &self.workers);
        }
    }

    /// Reads all sequences, asks `objective` for each one's coefficients and adds the gradient of their sum to what is
    /// already accumulated. On an error a small decoder adds nothing; a large one forgets all that was accumulated.
    pub fn accumulate(
        &mut self,
        sequences: &[TrainSequence],
        temperature: f32,
        objective: &CoefficientsOf,
    ) -> Result<(), ModelError> {
        check_batch(self.trained.config(), sequences, temperature)?;
        let cuts = shards(sequences, self.settings.shard_tokens);
        let packed = self.policy();
        let net = Net { device: &self.device, packed: &packed, rope: &self.rope };
        let keep = if self.settings.recompute { Keep::Streams } else { Keep::All };
        let pass = Pass { net, goal: self.trained.goal(), sequences, temperature, objective, keep };
        let (lanes, sum) = (&mut self.lanes, &mut self.gradients);
        if is_large(net.config()) {
            lanes.resize_with(1, Lane::default);
            let adapter = &mut lanes[0].adapter;
            let mut walk = |cut| self.spaces.lend(|space| pass.shard(cut, space, sum, adapter));
            let walked = cuts.into_iter().try_for_each(&mut walk);
            return walked.inspect_err(|_| self.gradients.fill(0.0));
        }
        accumulate_in_lanes(pass, &cuts, self.settings.lanes, &self.workers, &self.spaces, lanes, sum)
    }

    /// Log-probabilities, entropies and values under the present weights.
    pub fn score(
        &mut self,
        sequences: &[TrainSequence],
        temperature: f32,
    ) -> Result<Vec<SequenceScores>, ModelError> {
        check_batch(self.trained.config(), sequences, temperature)?;
        let packed = self.policy();
        let net = Net { device: &self.device, packed: &packed, rope: &self.rope };
        score_shards(net, &self.spaces, sequences, temperature, &self.workers)
    }

    /// The gradient accumulated since the last update, aligned with [`Weights::values`] or [`Adapter::values`].
    pub fn gradients(&self) -> &[f32] {
        &self.gradients
    }

    pub fn clear_gradients(&mut self) {
        self.gradients.fill(0.0);
    }

    /// The Euclidean norm of the accumulated gradient.
    pub fn gradient_norm(&self) -> f64 {
        // A small decoder keeps the order of additions of its first release.
        if is_large(self.trained.config()) {
            Device::new(self.workers.clone()).norm(&self.gradients)
        } else {
            crate::adamw::norm(&self.gradients)
        }
    }

    /// One AdamW step with the accumulated gradient, which is then forgotten. A gradient that is not finite changes nothing
    /// but is forgotten too.
    pub fn apply(&mut self, adamw: &AdamWSettings) -> Result<UpdateStats, ModelError> {
        if matches!(self.trained, Trained::All(_)) {
            // What was packed holds on to the old weights, which would have to be copied.
            self.spent = self.packed.take().and_then(Arc::into_inner);
            self.spent.iter_mut().for_each(PackedWeights::release);
        }
        let gradient = (&self.gradients[..], self.gradient_norm());
        let (values, places) = self.trained.parts();
        let result = self.optimiser.apply(self.device.isa(), adamw, values, places, gradient, &self.workers);
        self.gradients.fill(0.0);
        if result.is_ok()
            && let Some(mut packed) = self.packed.take()
        {
            self.refresh(Arc::make_mut(&mut packed));
            self.packed = Some(packed);
        }
        if let Trained::Adapter(adapted) = &mut self.trained {
            adapted.thin = None;
        }
        result
    }

    /// The weights under training; with an adapter, the base, which stays as it is.
    pub fn weights(&self) -> &Weights {
        self.trained.base()
    }

    /// The adapter under training, if one is.
    pub fn adapter(&self) -> Option<&Adapter> {
        match &self.trained {
            Trained::All(_) => None,
            Trained::Adapter(adapted) => Some(&adapted.adapter),
        }
    }

    /// The present policy as plain weights; later updates do not show in them. With an adapter they are merged anew at each
    /// call.
    pub fn snapshot(&self) -> Arc<Weights> {
        match &self.trained {
            Trained::All(weights) => Arc::clone(weights),
            Trained::Adapter(adapted) => {
                let Adapted { base, adapter, .. } = &**adapted;
                Arc::new(adapter.merge(base, &self.workers).expect("the shapes were compared at the start"))
            }
        }
    }

    /// How many updates the optimiser has made.
    pub fn updates(&self) -> u64 {
        self.optimiser.steps()
    }

    /// The optimiser's moments and step count as safetensors bytes.
    pub fn optimiser_to_safetensors(&self) -> Vec<u8> {
        self.optimiser.to_safetensors(self.trained.places())
    }

    /// Restores what [`Trainer::optimiser_to_safetensors`] wrote; nothing changes on an error.
    pub fn load_optimiser(&mut self, bytes: &[u8]) -> Result<(), ModelError> {
        self.optimiser = AdamWState::from_safetensors(bytes, self.trained.places())?;
        Ok(())
    }
}

impl merit_api::trainer::Trainer for Trainer {
    fn has_values(&self) -> bool {
        self.weights().config().value_head
    }

    fn context_limit(&self) -> usize {
        self.weights().config().max_context
    }

    fn score(
        &mut self,
        sequences: &[TrainSequence<'_>],
        temperature: f32,
    ) -> Result<Vec<SequenceScores>, TrainError> {
        Ok(Self::score(self, sequences, temperature)?)
    }

    fn accumulate(
        &mut self,
        sequences: &[TrainSequence<'_>],
        temperature: f32,
        coefficients: &CoefficientsOf<'_>,
    ) -> Result<(), TrainError> {
        Ok(Self::accumulate(self, sequences, temperature, coefficients)?)
    }

    fn clear_gradients(&mut self) {
        Self::clear_gradients(self);
    }

    fn apply(&mut self, adamw: &AdamWSettings) -> Result<UpdateStats, TrainError> {
        Ok(Self::apply(self, adamw)?)
    }
}

fn bytes_per_weight(precision: Precision) -> usize {
    match precision {
        Precision::F32 => 4,
        Precision::Bf16 => 2,
    }
}

/// Lane i takes shards i, i + lanes, …; the lanes are added in order.
fn accumulate_in_lanes(
    pass: Pass,
    cuts: &[Range<usize>],
    most: usize,
    workers: &Workers,
    spaces: &Scratch<ShardSpace>,
    lanes: &mut Vec<Lane>,
    sum: &mut [f32],
) -> Result<(), ModelError> {
    let count = most.min(cuts.len());
    lanes.resize_with(lanes.len().max(count), Lane::default);
    let lanes = &mut lanes[..count];
    workers.for_each(lanes, |index, lane| {
        lane.gradients.clear();
        lane.gradients.resize(sum.len(), 0.0);
        spaces.lend(|space| {
            let mut mine = cuts.iter().skip(index).step_by(count);
            let walked = mine
                .try_for_each(|cut| pass.shard(cut.clone(), space, &mut lane.gradients, &mut lane.adapter));
            lane.fault = walked.err();
        });
    });
    if let Some(fault) = lanes.iter_mut().find_map(|lane| lane.fault.take()) {
        return Err(fault);
    }
    for lane in lanes {
        sum.iter_mut().zip(&lane.gradients).for_each(|(sum, part)| *sum += part);
    }
    Ok(())
}
