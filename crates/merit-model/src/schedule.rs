//! Who reads what in the next step: admission, shared prompts, and room in the cache.
//!
//! In: requests. Out: active sequences, each with the number of tokens it reads now and pages to write them to. Memory is
//! found by dropping idle sessions, oldest first, then by sending the youngest active sequences back to the queue, where
//! they wait and later read their tokens again. None of it shows in what a sequence says.

use crate::DecoderConfig;
use crate::active::Sequence;
use crate::cache::{KvCache, Pool};
use crate::prefix::common_prefix;
use crate::sessions::Sessions;
use merit_api::sampler::{CompletionSink, SampleRequest, SamplerError, SessionId, SessionResult, StopReason};
use merit_kernels::PAGE;
use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

/// Positions that another session has read are shared when they save at least this many.
const WORTH_SHARING: usize = 8;

/// Everything that waits, works or rests.
#[derive(Debug)]
pub(crate) struct Schedule {
    /// In the order of admission.
    pub(crate) active: Vec<Sequence>,
    pub(crate) idle: Sessions,
    queue: VecDeque<Waiting>,
    /// Sessions that wait for an answer.
    pending: HashSet<SessionId>,
    faults: Vec<SessionResult>,
    pool: Arc<Pool>,
    max_batch: usize,
    read_tokens: usize,
}

#[derive(Debug)]
enum Waiting {
    New(SampleRequest),
    /// Was active, and had to give up its memory.
    Parked(Box<Sequence>),
}

impl Waiting {
    fn session(&self) -> SessionId {
        match self {
            Self::New(request) => request.session,
            Self::Parked(sequence) => sequence.session(),
        }
    }
}

impl Schedule {
    pub(crate) fn new(pool: Arc<Pool>, max_batch: usize, read_tokens: usize) -> Self {
        Self {
            active: Vec::new(),
            idle: Sessions::default(),
            queue: VecDeque::new(),
            pending: HashSet::new(),
            faults: Vec::new(),
            pool,
            max_batch,
            read_tokens,
        }
    }

    pub(crate) fn submit(&mut self, request: SampleRequest) {
        if self.pending.insert(request.session) {
            self.queue.push_back(Waiting::New(request));
        } else {
            let (session, result) = (request.session, Err(SamplerError::Busy));
            self.faults.push(SessionResult { session, result });
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.active.is_empty() && self.queue.is_empty()
    }

    pub(crate) fn queued(&self) -> usize {
        self.queue.len()
    }

    /// Starts waiting requests while there is room for them.
    pub(crate) fn admit(&mut self, config: &DecoderConfig) {
        self.release_followers();
        while self.active.len() < self.max_batch {
            let Some(waiting) = self.queue.pop_front() else { return };
            let session = waiting.session();
            let started = match waiting {
                Waiting::New(request) => self.start(config, request),
                Waiting::Parked(mut sequence) => {
                    self.share(&mut sequence);
                    Ok(*sequence)
                }
            };
            match started.and_then(|sequence| self.fit(sequence)) {
                Ok(true) => {}
                Ok(false) => return,
                Err(fault) => self.fail(session, fault),
            }
        }
    }

    fn start(&mut self, config: &DecoderConfig, request: SampleRequest) -> Result<Sequence, SamplerError> {
        let ended = check_request(config, &request)?;
        let mut memory = self.idle.remove(request.session).unwrap_or_default();
        // The last token of the context must be read to predict the next, even if it was cached.
        let readable = &request.context[..request.context.len() - 1];
        memory.truncate(common_prefix(memory.tokens(), readable));
        let mut sequence = Sequence::new(request, memory, config.vocab);
        sequence.ended = ended.map(Ok);
        if ended.is_none() {
            self.share(&mut sequence);
        }
        Ok(sequence)
    }

    /// Starts a sequence from pages that hold more of its beginning than its own, or lets it wait for a sequence that is
    /// about to read what both begin with.
    fn share(&self, sequence: &mut Sequence) {
        let all = [&sequence.request.context[..], &sequence.completion.tokens].concat();
        let readable = &all[..all.len() - 1];
        let mut best = self.idle.find(readable);
        let mut ahead = (0, None);
        for other in self.active.iter().filter(|other| other.ended.is_none()) {
            let read = common_prefix(other.memory.tokens(), readable);
            if read > best.len() {
                best = other.memory.prefix(read);
            }
            let shared = common_prefix(&other.request.context, readable);
            if shared > ahead.0 {
                ahead = (shared, Some(other.session()));
            }
        }
        if best.len() >= sequence.memory.len() + WORTH_SHARING {
            sequence.start_from(best);
        }
        let (shared, leader) = ahead;
        sequence.follows =
            leader.filter(|_| shared >= sequence.memory.len() + WORTH_SHARING).map(|leader| (leader, shared));
    }

    /// Lets followers go whose leader has read enough, or is gone.
    fn release_followers(&mut self) {
        for index in 0..self.active.len() {
            let Some((leader, shared)) = self.active[index].follows else { continue };
            let leader = self.active.iter().find(|other| other.session() == leader);
            match leader.map(|leader| &leader.memory) {
                Some(memory) if memory.len() < shared => {}
                Some(memory) => {
                    let memory = memory.prefix(shared);
                    self.active[index].start_from(memory);
                    self.active[index].follows = None;
                }
                None => {
                    let mut sequence = self.active.remove(index);
                    self.share(&mut sequence);
                    // It may only follow a sequence that came before it; otherwise two sequences could wait for each other.
                    let earlier =
                        |other: SessionId| self.active[..index].iter().any(|s| s.session() == other);
                    sequence.follows = sequence.follows.filter(|(leader, _)| earlier(*leader));
                    self.active.insert(index, sequence);
                }
            }
        }
    }

    /// Makes a sequence active if its pages can be had, next to those promised to the others; otherwise it waits (false),
    /// unless there is no sequence to wait for.
    fn fit(&mut self, sequence: Sequence) -> Result<bool, SamplerError> {
        if sequence.ended.is_some() {
            self.active.push(sequence);
            return Ok(true);
        }
        let promised: usize = self.active.iter().map(Sequence::wants).sum();
        while self.pool.left() < promised + sequence.wants() && self.idle.drop_oldest() {}
        if self.pool.left() >= promised + sequence.wants() {
            self.active.push(sequence);
            return Ok(true);
        }
        if self.active.is_empty() {
            return Err(self.full(sequence.memory.len() + sequence.unread.len()));
        }
        self.requeue(sequence);
        Ok(false)
    }

    /// Sends a sequence back to the front of the queue, without its pages.
    fn requeue(&mut self, mut sequence: Sequence) {
        if sequence.completion.tokens.is_empty() {
            self.idle.insert(sequence.session(), sequence.memory);
            self.queue.push_front(Waiting::New(sequence.request));
        } else {
            sequence.start_from(KvCache::default());
            sequence.follows = None;
            self.queue.push_front(Waiting::Parked(Box::new(sequence)));
        }
    }

    /// Decides how much every active sequence reads in this step, and takes the pages for it. Prompts share what may be
    /// read at a time; sequences that go on by one token always do.
    pub(crate) fn plan(&mut self) {
        self.active.iter_mut().for_each(|sequence| sequence.chunk = 0);
        let mut budget = self.read_tokens;
        let mut index = 0;
        while index < self.active.len() {
            let sequence = &self.active[index];
            let unread = if sequence.reads() { sequence.unread.len() } else { 0 };
            let chunk = if unread == 1 { 1 } else { unread.min(budget) };
            if chunk > 0 && self.make_room(index, chunk) {
                let sequence = &mut self.active[index];
                sequence.memory.reserve(&self.pool, chunk);
                sequence.chunk = chunk;
                budget -= if unread == 1 { 0 } else { chunk };
            }
            index += 1;
        }
    }

    /// Finds pages for the next tokens of an active sequence; false when it had to go itself.
    fn make_room(&mut self, index: usize, chunk: usize) -> bool {
        while self.pool.left() < self.active[index].memory.wants(chunk) {
            if self.idle.drop_oldest() {
                continue;
            }
            match self.active.iter().rposition(|sequence| sequence.ended.is_none()) {
                Some(0) => {
                    let positions = self.active[index].memory.len() + chunk;
                    self.active[index].ended = Some(Err(self.full(positions)));
                    return false;
                }
                Some(youngest) => {
                    let sequence = self.active.remove(youngest);
                    self.requeue(sequence);
                    if youngest <= index {
                        return false;
                    }
                }
                None => return false,
            }
        }
        true
    }

    fn full(&self, positions: usize) -> SamplerError {
        let page = self.pool.page_bytes();
        let (needed, limit) = (positions.div_ceil(PAGE) * page, self.pool.most_pages() * page);
        SamplerError::CacheFull { positions, needed, limit }
    }

    fn fail(&mut self, session: SessionId, fault: SamplerError) {
        self.pending.remove(&session);
        self.faults.push(SessionResult { session, result: Err(fault) });
    }

    /// Hands over faults, tokens that somebody watches, and what has ended.
    pub(crate) fn retire(&mut self, sink: &CompletionSink) {
        self.faults.drain(..).for_each(|fault| sink.put(fault));
        if sink.wants_tokens() {
            self.active.iter_mut().for_each(|sequence| sequence.show(sink));
        }
        let ended: Vec<Sequence> = self.active.extract_if(.., |sequence| sequence.ended.is_some()).collect();
        for sequence in ended {
            let session = sequence.session();
            let mut completion = sequence.completion;
            let ended = sequence.ended.expect("only ended sequences are extracted");
            self.pending.remove(&session);
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

    /// A new session that shares what another has read.
    pub(crate) fn fork(&mut self, from: SessionId, to: SessionId, tokens: usize) {
        let active = self.active.iter().find(|sequence| sequence.session() == from);
        let source = active.map(|sequence| &sequence.memory).or_else(|| self.idle.get(from));
        if let Some(source) = source {
            let copy = source.prefix(tokens.min(source.len()));
            self.idle.insert(to, copy);
        }
    }

    pub(crate) fn close(&mut self, session: SessionId) {
        if self.pending.remove(&session) {
            self.queue.retain(|waiting| waiting.session() != session);
            self.active.retain(|sequence| sequence.session() != session);
        }
        self.idle.remove(session);
    }

    /// Forgets everything that was read; sequences under way read their tokens again.
    pub(crate) fn forget(&mut self) {
        self.idle.clear();
        for sequence in &mut self.active {
            sequence.start_from(KvCache::default());
            sequence.follows = None;
        }
    }
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
    request.params.check(config.vocab).map_err(SamplerError::Params)?;
    if request.params.max_tokens == 0 {
        return Ok(Some(StopReason::MaxTokens));
    }
    Ok((got == limit).then_some(StopReason::ContextFull))
}
