//! A request under way: what its session has read, what it has drawn, and when it ends.

use crate::block::Net;
use crate::cache::KvCache;
use crate::choose::{ChoiceSpace, choose};
use crate::decode::{DecodeSpace, Feed};
use crate::kernels::Isa;
use crate::sampler::{Completion, SampleRequest, SamplerError, SessionId, StopReason};
use crate::stop::StopWatch;
use crate::{DecoderConfig, Tokenizer};
use merit_core::{Stream, TokenId};

/// What a session has read.
#[derive(Debug)]
pub(crate) struct Memory {
    pub(crate) cache: KvCache,
    /// The tokens behind the cached positions.
    pub(crate) tokens: Vec<TokenId>,
}

/// A request under way.
#[derive(Debug)]
pub(crate) struct Sequence {
    pub(crate) request: SampleRequest,
    pub(crate) memory: Memory,
    /// Tokens still to be read, the last of which predicts the next one.
    pub(crate) unread: Vec<TokenId>,
    pub(crate) stream: Stream,
    pub(crate) watch: StopWatch,
    pub(crate) completion: Completion,
    /// Starts from the same fresh prompt as this session, which reads it for both.
    pub(crate) follows: Option<SessionId>,
    pub(crate) led: usize,
    /// Logits and value behind the prompt, kept for followers.
    pub(crate) lead: Option<(Vec<f32>, Option<f32>)>,
    pub(crate) ended: Option<Result<StopReason, SamplerError>>,
}

impl Memory {
    pub(crate) fn new(config: &DecoderConfig) -> Self {
        Self { cache: KvCache::new(config), tokens: Vec::new() }
    }

    pub(crate) fn truncate(&mut self, len: usize) {
        self.cache.truncate(len);
        self.tokens.truncate(len);
    }

    pub(crate) fn prefix(&self, len: usize, room: usize) -> Self {
        Self { cache: self.cache.copy_prefix(len, room), tokens: self.tokens[..len].to_vec() }
    }
}

impl Sequence {
    /// A request about to read what `memory` lacks of its context.
    pub(crate) fn new(request: SampleRequest, memory: Memory) -> Self {
        let session = request.session;
        let (tokens, logprobs, values) = (Vec::new(), Vec::new(), Vec::new());
        Self {
            unread: request.context[memory.tokens.len()..].to_vec(),
            memory,
            stream: request.seed.stream(),
            watch: StopWatch::new(&request.params.stop),
            completion: Completion { session, tokens, logprobs, values, stop: StopReason::MaxTokens },
            request,
            follows: None,
            led: 0,
            lead: None,
            ended: None,
        }
    }

    /// Draws the next token from `logits` and decides whether the sequence goes on.
    pub(crate) fn draw(
        &mut self,
        isa: Isa,
        logits: &[f32],
        value: Option<f32>,
        limit: usize,
        tokenizer: &Tokenizer,
        space: &mut ChoiceSpace,
    ) {
        let params = &self.request.params;
        let unit = self.stream.unit();
        let Some(choice) = choose(isa, logits, (params.temperature, params.top_p), unit, space) else {
            self.ended = Some(Err(SamplerError::NonFinite));
            return;
        };
        self.completion.tokens.push(choice.token);
        self.completion.logprobs.push(choice.logprob);
        self.completion.values.extend(value);
        self.unread.push(choice.token);
        let drawn = self.completion.tokens.len();
        let stopped = self.watch.push(tokenizer.bytes(choice.token), &params.stop);
        let reason = if params.stop_tokens.contains(&choice.token) {
            Some(StopReason::StopToken)
        } else if stopped {
            Some(StopReason::StopString)
        } else if drawn >= params.max_tokens {
            Some(StopReason::MaxTokens)
        } else if self.request.context.len() + drawn >= limit {
            Some(StopReason::ContextFull)
        } else {
            None
        };
        self.ended = reason.map(Ok);
    }
}

/// One part of a step, on one thread.
pub(crate) fn advance(
    net: Net,
    tokenizer: &Tokenizer,
    part: &mut [&mut Sequence],
    decode: &mut DecodeSpace,
    choice: &mut ChoiceSpace,
) {
    let feed = |sequence: &mut &mut Sequence| std::mem::take(&mut sequence.unread);
    let unread: Vec<Vec<TokenId>> = part.iter_mut().map(feed).collect();
    let mut feeds: Vec<Feed> = part
        .iter_mut()
        .zip(&unread)
        .map(|(sequence, tokens)| Feed { cache: &mut sequence.memory.cache, tokens })
        .collect();
    decode.read(net, &mut feeds);
    let limit = net.weights.config().max_context;
    for (index, (sequence, mut tokens)) in part.iter_mut().zip(unread).enumerate() {
        sequence.memory.tokens.append(&mut tokens);
        sequence.unread = tokens;
        let (logits, value) = (decode.logits(net, index), decode.value(net, index));
        if sequence.led > 0 {
            sequence.lead = Some((logits.to_vec(), value));
        }
        sequence.draw(net.isa, logits, value, limit, tokenizer, choice);
    }
}
