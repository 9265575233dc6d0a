//! The embedded sampler: continuous batching over cached sequences.
//!
//! In: requests by session. Out: completions through the sink. Each pump admits what fits and advances every active
//! sequence by one token. What a sequence says depends on the weights, its context, parameters and seed, never on what
//! else is in the batch, on threads, or on whether its context was cached, copied or read afresh.

use crate::active::{Memory, Sequence, advance};
use crate::block::Net;
use crate::choose::ChoiceSpace;
use crate::decode::DecodeSpace;
use crate::kernels::Isa;
use crate::packed::PackedWeights;
use crate::rope::Rope;
use crate::sampler::{
    CompletionSink, Pump, SampleRequest, Sampler, SamplerError, SessionId, SessionResult, StopReason,
};
use crate::workers::{Scratch, Workers};
use crate::{DecoderConfig, ModelError, Tokenizer, Weights};
use merit_core::TokenId;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// How the embedded sampler spends the machine; none of it shows in what is said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GeneratorSettings {
    /// Most sequences that decode together.
    pub max_batch: usize,
    /// Threads.
    pub threads: usize,
}

impl Default for GeneratorSettings {
    fn default() -> Self {
        Self { max_batch: 64, threads: 1 }
    }
}

/// Multiply-adds below which a step is not worth a second thread.
const WORTH_SPLITTING: usize = 4_000_000;
/// Cached positions of another session are copied when they save at least this many.
const WORTH_COPYING: usize = 8;

/// The embedded sampler.
#[derive(Debug)]
pub struct Generator {
    weights: Arc<Weights>,
    packed: PackedWeights,
    rope: Rope,
    isa: Isa,
    tokenizer: Arc<Tokenizer>,
    settings: GeneratorSettings,
    workers: Workers,
    spaces: Scratch<(DecodeSpace, ChoiceSpace)>,
    queue: VecDeque<SampleRequest>,
    active: Vec<Sequence>,
    idle: HashMap<SessionId, Memory>,
    faults: Vec<SessionResult>,
}

impl Generator {
    /// A sampler for these weights; the tokenizer may not know more tokens than the model.
    pub fn new(
        weights: Arc<Weights>,
        tokenizer: Arc<Tokenizer>,
        settings: GeneratorSettings,
    ) -> Result<Self, ModelError> {
        check_vocabulary(weights.config(), &tokenizer)?;
        if settings.max_batch == 0 {
            return Err(ModelError::Config("`max_batch` must be at least 1".into()));
        }
        Ok(Self {
            packed: PackedWeights::for_sampling(&weights),
            rope: Rope::new(weights.config()),
            isa: Isa::best(),
            tokenizer,
            workers: Workers::new(settings.threads)?,
            spaces: Scratch::default(),
            queue: VecDeque::new(),
            active: Vec::new(),
            idle: HashMap::new(),
            faults: Vec::new(),
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

    /// Continues with other weights. All caches are dropped; sequences under way read their tokens again and go on.
    pub fn set_weights(&mut self, weights: Arc<Weights>) -> Result<(), ModelError> {
        check_vocabulary(weights.config(), &self.tokenizer)?;
        if weights.config() != self.weights.config() {
            return Err(ModelError::Config("new weights must have the shape of the old ones".into()));
        }
        self.packed = PackedWeights::for_sampling(&weights);
        self.weights = weights;
        self.idle.clear();
        for sequence in &mut self.active {
            let drawn = &sequence.completion.tokens;
            sequence.unread = [&sequence.request.context[..], drawn].concat();
            sequence.memory = Memory::new(self.weights.config());
        }
        Ok(())
    }

    /// The weights in use.
    pub fn weights(&self) -> &Arc<Weights> {
        &self.weights
    }

    fn admit(&mut self) {
        while self.active.len() < self.settings.max_batch {
            let Some(request) = self.queue.pop_front() else { return };
            match self.start(request) {
                Ok(sequence) => self.active.push(sequence),
                Err(fault) => self.faults.push(fault),
            }
        }
    }

    fn start(&mut self, request: SampleRequest) -> Result<Sequence, SessionResult> {
        let session = request.session;
        let ended = match check_request(self.weights.config(), &request) {
            Ok(ended) => ended,
            Err(fault) => return Err(SessionResult { session, result: Err(fault) }),
        };
        let mut memory = self.idle.remove(&session).unwrap_or_else(|| Memory::new(self.weights.config()));
        // The last token of the context must be read to predict the next, even if it was cached.
        let readable = &request.context[..request.context.len() - 1];
        memory.truncate(common_prefix(&memory.tokens, readable));
        self.borrow_prefix(&mut memory, readable);
        let follows = if ended.is_some() { None } else { self.leader(&memory, &request) };
        Ok(Sequence { follows, ended: ended.map(Ok), ..Sequence::new(request, memory) })
    }

    /// Copies the longest matching prefix that any other session has read, if that saves enough.
    fn borrow_prefix(&self, memory: &mut Memory, context: &[TokenId]) {
        let active = self.active.iter().map(|sequence| &sequence.memory);
        let best = active
            .chain(self.idle.values())
            .map(|other| (common_prefix(&other.tokens, context), other))
            .max_by_key(|(shared, _)| *shared);
        if let Some((shared, other)) = best
            && shared >= memory.tokens.len() + WORTH_COPYING
        {
            *memory = other.prefix(shared, context.len() + 1);
        }
    }

    /// An active sequence about to read the same prompt from the start.
    fn leader(&mut self, memory: &Memory, request: &SampleRequest) -> Option<SessionId> {
        if !memory.tokens.is_empty() {
            return None;
        }
        let leader = self.active.iter_mut().find(|other| {
            other.follows.is_none()
                && other.ended.is_none()
                && other.memory.tokens.is_empty()
                && other.unread == request.context
        })?;
        leader.led += 1;
        Some(leader.request.session)
    }

    /// Reads what is unread of every active sequence and draws one token for each.
    fn step(&mut self) {
        let net = Net { isa: self.isa, weights: &self.weights, packed: &self.packed, rope: &self.rope };
        let (tokenizer, spaces) = (&*self.tokenizer, &self.spaces);
        let mut reading: Vec<&mut Sequence> = self
            .active
            .iter_mut()
            .filter(|sequence| sequence.follows.is_none() && sequence.ended.is_none())
            .collect();
        let rows: usize = reading.iter().map(|sequence| sequence.unread.len()).sum();
        let work = rows * self.weights.values().len();
        let parts = if work < WORTH_SPLITTING { 1 } else { self.workers.threads() };
        let mut parts = split_by_rows(&mut reading, rows.div_ceil(parts).max(1));
        self.workers.for_each(&mut parts, |_, part| {
            spaces.lend(|(decode, choice)| advance(net, tokenizer, part, decode, choice));
        });
        self.follow();
    }

    /// Lets followers start from what their leader has read.
    fn follow(&mut self) {
        if self.active.iter().all(|sequence| sequence.follows.is_none()) {
            return;
        }
        let (mut followers, mut rest): (Vec<_>, Vec<_>) =
            self.active.drain(..).partition(|sequence| sequence.follows.is_some());
        for follower in &mut followers {
            let leader = rest.iter().find(|leader| Some(leader.request.session) == follower.follows);
            follower.follows = None;
            // A leader that failed or was closed leaves the follower to read for itself.
            let Some((leader, (logits, value))) =
                leader.and_then(|leader| Some((leader, leader.lead.as_ref()?)))
            else {
                continue;
            };
            let context = follower.request.context.len();
            follower.memory = leader.memory.prefix(context, context + 1);
            follower.unread.clear();
            let space = &mut ChoiceSpace::default();
            follower.draw(
                self.isa,
                logits,
                *value,
                self.weights.config().max_context,
                &self.tokenizer,
                space,
            );
        }
        for leader in &mut rest {
            (leader.lead, leader.led) = (None, 0);
        }
        rest.append(&mut followers);
        self.active = rest;
    }

    fn retire(&mut self, sink: &CompletionSink) {
        let ended: Vec<Sequence> = self.active.extract_if(.., |sequence| sequence.ended.is_some()).collect();
        for sequence in ended {
            let session = sequence.request.session;
            let mut completion = sequence.completion;
            let ended = sequence.ended.expect("only ended sequences are extracted");
            if ended.is_ok() {
                self.idle.insert(session, sequence.memory);
            }
            let result = ended.map(|stop| {
                completion.stop = stop;
                completion
            });
            sink.put(SessionResult { session, result });
        }
    }
}

impl Sampler for Generator {
    fn submit(&mut self, request: SampleRequest) {
        let session = request.session;
        let queued = self.queue.iter().any(|other| other.session == session);
        if queued || self.active.iter().any(|other| other.request.session == session) {
            self.faults.push(SessionResult { session, result: Err(SamplerError::Busy) });
        } else {
            self.queue.push_back(request);
        }
    }

    fn pump(&mut self, sink: &CompletionSink) -> Pump {
        self.admit();
        self.faults.drain(..).for_each(|fault| sink.put(fault));
        if self.active.is_empty() {
            return Pump::Idle;
        }
        self.step();
        self.retire(sink);
        if self.active.is_empty() && self.queue.is_empty() { Pump::Idle } else { Pump::Busy }
    }

    fn fork(&mut self, from: SessionId, to: SessionId, tokens: usize) {
        let active = self.active.iter().find(|sequence| sequence.request.session == from);
        let source = active.map(|sequence| &sequence.memory).or_else(|| self.idle.get(&from));
        if let Some(source) = source {
            let shared = tokens.min(source.tokens.len());
            let copy = source.prefix(shared, shared);
            self.idle.insert(to, copy);
        }
    }

    fn close(&mut self, session: SessionId) {
        self.queue.retain(|request| request.session != session);
        self.active.retain(|sequence| sequence.request.session != session);
        self.idle.remove(&session);
    }

    fn context_limit(&self) -> usize {
        self.weights.config().max_context
    }

    fn waiting(&self) -> String {
        let drawn = self.active.iter().map(|sequence| sequence.completion.tokens.len()).max().unwrap_or(0);
        let (active, queued, idle) = (self.active.len(), self.queue.len(), self.idle.len());
        format!(
            "{active} sequences decoding (longest {drawn} tokens so far), {queued} queued, {idle} sessions idle"
        )
    }
}

/// Cuts the sequences into runs of about `most` unread tokens.
fn split_by_rows<'a, 'b>(
    mut reading: &'a mut [&'b mut Sequence],
    most: usize,
) -> Vec<&'a mut [&'b mut Sequence]> {
    let mut parts = Vec::new();
    while !reading.is_empty() {
        let mut rows = 0;
        let mut fits = |sequence: &&mut Sequence| {
            rows += sequence.unread.len();
            rows <= most
        };
        let count = reading.iter().take_while(|sequence| fits(sequence)).count().max(1);
        let (part, rest) = reading.split_at_mut(count);
        parts.push(part);
        reading = rest;
    }
    parts
}

fn common_prefix(a: &[TokenId], b: &[TokenId]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// `Ok(Some(reason))` when there is nothing to draw.
fn check_request(
    config: &DecoderConfig,
    request: &SampleRequest,
) -> Result<Option<StopReason>, SamplerError> {
    let (got, limit) = (request.context.len(), config.max_context);
    if got == 0 {
        return Err(SamplerError::EmptyContext);
    }
    if got > limit {
        return Err(SamplerError::ContextTooLong { got, limit });
    }
    if let Some(token) = request.context.iter().find(|token| token.0 as usize >= config.vocab) {
        return Err(SamplerError::UnknownToken { token: token.0, vocab: config.vocab });
    }
    let params = &request.params;
    if !(params.temperature.is_finite() && params.temperature >= 0.0) {
        return Err(SamplerError::Params(format!("temperature {} is not 0 or more", params.temperature)));
    }
    if !(params.top_p > 0.0 && params.top_p <= 1.0) {
        return Err(SamplerError::Params(format!("top_p {} is not above 0 and at most 1", params.top_p)));
    }
    if params.max_tokens == 0 {
        return Ok(Some(StopReason::MaxTokens));
    }
    Ok((got == limit).then_some(StopReason::ContextFull))
}

fn check_vocabulary(config: &DecoderConfig, tokenizer: &Tokenizer) -> Result<(), ModelError> {
    if tokenizer.vocab_len() > config.vocab {
        let (known, vocab) = (tokenizer.vocab_len(), config.vocab);
        return Err(ModelError::Config(format!("the tokenizer has {known} tokens, but `vocab` is {vocab}")));
    }
    Ok(())
}
