//! A request under way: what its session has read, what it has drawn, and when it ends.

use crate::Tokenizer;
use crate::block::Net;
use crate::cache::KvCache;
use crate::decode::{DecodeSpace, Feed};
use crate::sample_token::{ChoiceSpace, Row};
use crate::stop::StopWatch;
use merit_api::sampler::{
    Completion, CompletionSink, Counted, SampleRequest, SampledToken, SamplerError, SessionId, StopReason,
    TokenLogprob,
};
use merit_api::sampler::{Constraint, ConstraintSource, TokenMask};
use merit_core::{Stream, TokenId};
use merit_kernels::{Isa, PAGE, Scratch};
use std::fmt;

/// A request under way.
#[derive(Debug)]
pub(crate) struct Sequence {
    pub(crate) request: SampleRequest,
    pub(crate) memory: KvCache,
    /// Tokens still to be read, the last of which predicts the next one.
    pub(crate) unread: Vec<TokenId>,
    /// How many of them are read in this step.
    pub(crate) chunk: usize,
    stream: Stream,
    watch: StopWatch,
    constraint: Option<Constrained>,
    pub(crate) completion: Completion,
    /// Waits until this session has read so many of the tokens that both begin with.
    pub(crate) follows: Option<(SessionId, usize)>,
    /// Tokens that were handed to the sink as they were drawn.
    shown: usize,
    pub(crate) ended: Option<Result<StopReason, SamplerError>>,
}

/// A constraint and the tokens that it allows next.
struct Constrained {
    state: Box<dyn Constraint>,
    mask: TokenMask,
}

impl fmt::Debug for Constrained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Constrained")
    }
}

/// What tokens mean to a sequence that draws them.
#[derive(Clone, Copy)]
pub(crate) struct Rules<'a> {
    pub(crate) isa: Isa,
    pub(crate) tokenizer: &'a Tokenizer,
    /// Positions that the model holds.
    pub(crate) limit: usize,
}

impl Sequence {
    /// A request about to read what `memory` lacks of its context.
    pub(crate) fn new(request: SampleRequest, memory: KvCache, vocab: usize) -> Self {
        let begin =
            |source: &ConstraintSource| Constrained { state: source.begin(), mask: TokenMask::none(vocab) };
        Self {
            unread: request.context[memory.len()..].to_vec(),
            memory,
            chunk: 0,
            stream: request.seed.stream(),
            watch: StopWatch::new(&request.params.stop),
            constraint: request.params.constraint.as_ref().map(begin),
            completion: Completion {
                session: request.session,
                tokens: Vec::new(),
                logprobs: Vec::new(),
                values: Vec::new(),
                top_logprobs: Vec::new(),
                stop: StopReason::MaxTokens,
                counted: Counted::Here,
            },
            request,
            follows: None,
            shown: 0,
            ended: None,
        }
    }

    pub(crate) fn session(&self) -> SessionId {
        self.request.session
    }

    /// Whether there is something for it to read now.
    pub(crate) fn reads(&self) -> bool {
        self.follows.is_none() && self.ended.is_none()
    }

    /// Pages it has still to take before it can draw; what it waits for is shared.
    pub(crate) fn wants(&self) -> usize {
        match self.follows {
            Some((_, shared)) => (self.memory.len() + self.unread.len()).div_ceil(PAGE) - shared / PAGE,
            None if self.ended.is_some() => 0,
            None => self.memory.wants(self.unread.len()),
        }
    }

    /// Starts from this memory instead, a prefix of what it has to read.
    pub(crate) fn start_from(&mut self, memory: KvCache) {
        let all = [&self.request.context[..], &self.completion.tokens].concat();
        self.unread = all[memory.len()..].to_vec();
        self.memory = memory;
    }

    /// Draws the next token from `logits` and decides whether the sequence goes on.
    pub(crate) fn draw(&mut self, rules: Rules, logits: &[f32], value: Option<f32>, space: &mut ChoiceSpace) {
        self.ended = match self.try_draw(rules, logits, value, space) {
            Ok(reason) => reason.map(Ok),
            Err(fault) => Some(Err(fault)),
        };
    }

    fn try_draw(
        &mut self,
        rules: Rules,
        logits: &[f32],
        value: Option<f32>,
        space: &mut ChoiceSpace,
    ) -> Result<Option<StopReason>, SamplerError> {
        let params = &self.request.params;
        let unit = self.stream.unit();
        let row = Row::new(rules.isa, logits, params.temperature)?;
        if let Some(constraint) = &mut self.constraint
            && constraint.allow_next(&params.stop_tokens)?
        {
            return Ok(Some(StopReason::ConstraintMet));
        }
        let mask = self.constraint.as_ref().map(|constraint| &constraint.mask);
        let TokenLogprob { token, logprob } = row.choose(params, mask, unit, space)?;
        let stops = params.stop_tokens.contains(&token);
        if let Some(constraint) = &mut self.constraint
            && !stops
        {
            constraint.state.advance(token).map_err(SamplerError::Constraint)?;
        }
        if params.top_logprobs > 0 {
            self.completion.top_logprobs.push(row.likeliest(params.top_logprobs));
        }
        self.completion.tokens.push(token);
        self.completion.logprobs.push(logprob);
        self.completion.values.extend(value);
        self.unread.push(token);
        let found = self.watch.push(rules.tokenizer.bytes(token), &params.stop);
        Ok(if stops { Some(StopReason::StopToken) } else { self.stop_reason(found, rules.limit) })
    }

    fn stop_reason(&self, found: bool, limit: usize) -> Option<StopReason> {
        let drawn = self.completion.tokens.len();
        if found {
            Some(StopReason::StopString)
        } else if drawn >= self.request.params.max_tokens {
            Some(StopReason::MaxTokens)
        } else if self.request.context.len() + drawn >= limit {
            Some(StopReason::ContextFull)
        } else {
            None
        }
    }

    /// Hands over the tokens drawn since the last time.
    pub(crate) fn show(&mut self, sink: &CompletionSink) {
        let (session, completion) = (self.session(), &self.completion);
        for (&token, &logprob) in completion.tokens.iter().zip(&completion.logprobs).skip(self.shown) {
            sink.token(SampledToken { session, drawn: TokenLogprob { token, logprob } });
        }
        self.shown = self.completion.tokens.len();
    }
}

impl Constrained {
    /// Finds out what may come next; true when it is met and nothing may.
    fn allow_next(&mut self, stop_tokens: &[TokenId]) -> Result<bool, SamplerError> {
        self.mask.clear();
        self.state.mask(&mut self.mask).map_err(SamplerError::Constraint)?;
        let may_stop = self.state.may_stop().map_err(SamplerError::Constraint)?;
        for &token in stop_tokens {
            if may_stop { self.mask.allow(token) } else { self.mask.forbid(token) }
        }
        if !self.mask.is_empty() {
            return Ok(false);
        }
        if may_stop { Ok(true) } else { Err(SamplerError::Constraint("no token can follow".into())) }
    }
}

/// One part of a step: reads the chunk of each sequence and draws where all was read.
pub(crate) fn advance(
    net: Net,
    tokenizer: &Tokenizer,
    part: &mut [&mut Sequence],
    decode: &mut DecodeSpace,
    choices: &Scratch<ChoiceSpace>,
) {
    let mut feeds: Vec<Feed> = part
        .iter_mut()
        .map(|sequence| Feed {
            predicts: sequence.chunk == sequence.unread.len(),
            tokens: &sequence.unread[..sequence.chunk],
            memory: &mut sequence.memory,
        })
        .collect();
    decode.read(net, &mut feeds);
    let mut drawing = Vec::with_capacity(part.len());
    for sequence in part {
        let read = sequence.unread.drain(..sequence.chunk);
        sequence.memory.remember(read);
        if sequence.unread.is_empty() {
            drawing.push(sequence);
        }
    }
    let rules = Rules { isa: net.device.isa(), tokenizer, limit: net.config().max_context };
    let decode = &*decode;
    net.device.workers().for_each(&mut drawing, |index, sequence| {
        let (logits, value) = (decode.logits(net, index), decode.value(net, index));
        choices.lend(|space| sequence.draw(rules, logits, value, space));
    });
}
