//! The embedded sampler: continuous batching over cached sequences.
//!
//! In: requests by session. Out: completions through the sink. Each pump admits what fits, reads a part of the prompts and
//! advances every other active sequence by one token. What a sequence says depends on the weights, its context, parameters
//! and seed, never on what else is in the batch, on threads, on memory, or on whether its context was cached, shared or
//! read afresh.

use crate::active::{Sequence, advance};
use crate::block::Net;
use crate::cache::Pool;
use crate::decode::DecodeSpace;
use crate::packed::PackedWeights;
use crate::rope::Rope;
use crate::sample_token::ChoiceSpace;
use crate::schedule::Schedule;
use crate::{DecoderConfig, ModelError, Tokenizer, Weights};
use merit_api::sampler::{CompletionSink, Pump, SampleRequest, Sampler, SessionId};
use merit_kernels::{Device, Isa, PAGE, PageLayout, Precision, Scratch, Workers};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// How the embedded sampler spends the machine; none of it shows in what is said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GeneratorSettings {
    /// Most sequences that decode together.
    pub max_batch: usize,
    pub threads: usize,
    /// Bytes that the keys and values of all sessions may take. When they are used up, sessions that rest are forgotten
    /// (and read again later), and new requests wait.
    pub cache_bytes: usize,
    /// Most tokens of prompts that are read between two steps of the sequences that are being written.
    pub read_tokens: usize,
}

impl Default for GeneratorSettings {
    fn default() -> Self {
        Self { max_batch: 64, threads: 1, cache_bytes: 4 << 30, read_tokens: 512 }
    }
}

impl GeneratorSettings {
    fn check(&self) -> Result<(), ModelError> {
        let zero = [("max_batch", self.max_batch), ("read_tokens", self.read_tokens)];
        match zero.iter().find(|(_, value)| *value == 0) {
            Some((name, _)) => Err(ModelError::Config(format!("`{name}` must be at least 1"))),
            None => Ok(()),
        }
    }
}

/// Multiply-adds below which a step is not worth a second thread.
const WORTH_SPLITTING: usize = 4_000_000;
/// Parameters from which one sequence is worth all threads: they then share every operation, and not the sequences.
const WORTH_SHARING: usize = 16_000_000;

/// The embedded sampler.
#[derive(Debug)]
pub struct Generator {
    packed: Arc<PackedWeights>,
    rope: Rope,
    device: Device,
    tokenizer: Arc<Tokenizer>,
    workers: Workers,
    spaces: Scratch<DecodeSpace>,
    choices: Scratch<ChoiceSpace>,
    schedule: Schedule,
}

impl Generator {
    /// A sampler for these weights; the tokenizer may not know more tokens than the model.
    pub fn new(
        weights: Arc<Weights>,
        tokenizer: Arc<Tokenizer>,
        settings: GeneratorSettings,
    ) -> Result<Self, ModelError> {
        let packed = PackedWeights::for_sampling(weights, Precision::F32);
        Self::over(Arc::new(packed), tokenizer, settings)
    }

    /// A sampler for packed weights, at whatever precision.
    pub fn over(
        packed: Arc<PackedWeights>,
        tokenizer: Arc<Tokenizer>,
        settings: GeneratorSettings,
    ) -> Result<Self, ModelError> {
        check_vocabulary(packed.config(), &tokenizer)?;
        settings.check()?;
        let pool =
            Pool::new(PageLayout::of(packed.config(), packed.memory_precision()), settings.cache_bytes);
        if pool.most_pages() == 0 {
            let (got, page) = (settings.cache_bytes, pool.page_bytes());
            return Err(ModelError::Config(format!(
                "`cache_bytes` is {got}, but {PAGE} positions of this model take {page}"
            )));
        }
        let workers = Workers::new(settings.threads)?;
        let inside = packed.config().parameters() >= WORTH_SHARING;
        Ok(Self {
            rope: Rope::new(packed.config()),
            device: if inside { Device::new(workers.clone()) } else { Device::single() },
            tokenizer,
            workers,
            spaces: Scratch::default(),
            choices: Scratch::default(),
            schedule: Schedule::new(pool, settings.max_batch, settings.read_tokens),
            packed,
        })
    }

    /// Uses another instruction set; the results stay the same.
    #[must_use]
    pub fn with_isa(mut self, isa: Isa) -> Self {
        self.device = self.device.with_isa(isa);
        self
    }

    /// Continues with other weights. All caches are dropped; sequences under way read their tokens again and go on.
    pub fn set_packed(&mut self, packed: Arc<PackedWeights>) -> Result<(), ModelError> {
        check_vocabulary(packed.config(), &self.tokenizer)?;
        if packed.config() != self.packed.config() {
            return Err(ModelError::Config("new weights must have the shape of the old ones".into()));
        }
        self.packed = packed;
        self.schedule.forget();
        Ok(())
    }

    /// The weights in use.
    pub fn packed(&self) -> &Arc<PackedWeights> {
        &self.packed
    }

    /// Reads the chunk of every active sequence and draws a token for each that has read everything.
    fn step(&mut self) {
        let net = Net { device: &self.device, packed: &self.packed, rope: &self.rope };
        let (tokenizer, spaces, choices) = (&*self.tokenizer, &self.spaces, &self.choices);
        let mut reading: Vec<&mut Sequence> =
            self.schedule.active.iter_mut().filter(|sequence| sequence.chunk > 0).collect();
        if reading.is_empty() {
            return;
        }
        let advance = |part: &mut [&mut Sequence]| {
            spaces.lend(|decode| advance(net, tokenizer, part, decode, choices));
        };
        if self.device.workers().threads() > 1 {
            return self.workers.enter(|| advance(&mut reading));
        }
        let rows: usize = reading.iter().map(|sequence| sequence.chunk).sum();
        let work = rows * self.packed.config().parameters();
        let parts = if work < WORTH_SPLITTING { 1 } else { self.workers.threads() };
        let mut parts = split_by_rows(&mut reading, rows.div_ceil(parts).max(1));
        self.workers.for_each(&mut parts, |_, part| advance(part));
    }
}

impl Sampler for Generator {
    fn submit(&mut self, request: SampleRequest) {
        self.schedule.submit(request);
    }

    fn pump(&mut self, sink: &CompletionSink) -> Pump {
        self.schedule.admit(self.packed.config());
        self.schedule.plan();
        self.step();
        self.schedule.retire(sink);
        if self.schedule.is_empty() { Pump::Idle } else { Pump::Busy }
    }

    fn fork(&mut self, from: SessionId, to: SessionId, tokens: usize) {
        self.schedule.fork(from, to, tokens);
    }

    fn close(&mut self, session: SessionId) {
        self.schedule.close(session);
    }

    fn context_limit(&self) -> usize {
        self.packed.config().max_context
    }

    fn waiting(&self) -> String {
        let active = &self.schedule.active;
        let drawn = active.iter().map(|sequence| sequence.completion.tokens.len()).max().unwrap_or(0);
        let (active, queued, idle) = (active.len(), self.schedule.queued(), self.schedule.idle.len());
        format!(
            "{active} sequences decoding (longest {drawn} tokens so far), {queued} queued, {idle} sessions idle"
        )
    }
}

/// Cuts the sequences into runs of about `most` tokens to read.
fn split_by_rows<'a, 'b>(
    mut reading: &'a mut [&'b mut Sequence],
    most: usize,
) -> Vec<&'a mut [&'b mut Sequence]> {
    let mut parts = Vec::new();
    while !reading.is_empty() {
        let mut rows = 0;
        let mut fits = |sequence: &&mut Sequence| {
            rows += sequence.chunk;
            rows <= most
        };
        let count = reading.iter().take_while(|sequence| fits(sequence)).count().max(1);
        let (part, rest) = reading.split_at_mut(count);
        parts.push(part);
        reading = rest;
    }
    parts
}

fn check_vocabulary(config: &DecoderConfig, tokenizer: &Tokenizer) -> Result<(), ModelError> {
    if tokenizer.vocab_len() > config.vocab {
        let (known, vocab) = (tokenizer.vocab_len(), config.vocab);
        return Err(ModelError::Config(format!("the tokenizer has {known} tokens, but `vocab` is {vocab}")));
    }
    Ok(())
}
