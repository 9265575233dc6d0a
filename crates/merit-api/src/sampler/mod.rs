//! The seam between rollouts and whatever writes the next tokens.
//!
//! Requests go in by session, completions come out through a sink, in any order and from any thread. The embedded model (the
//! `Generator` of merit-model) and the programs of the rollout station implement [`Sampler`].

mod constraint;
mod params;

pub use constraint::{Constraint, ConstraintSource, TokenMask};
pub use params::SamplingParams;

use merit_core::{Provenance, Seed, TokenId};
use std::fmt;
use std::sync::Arc;

/// A growing context that is sampled from turn by turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionId(pub u64);

/// One completion that is wanted.
#[derive(Debug, Clone)]
pub struct SampleRequest {
    /// The session; one request of it at a time.
    pub session: SessionId,
    /// The whole context so far; positions that match what the session already read are not read again.
    pub context: Vec<TokenId>,
    /// Temperature, cuts, stops and the limit on tokens.
    pub params: Arc<SamplingParams>,
    /// All randomness of this completion: one number per token.
    pub seed: Seed,
}

/// What ended a completion; the turn records it as its `TurnStop`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StopReason {
    /// One of the stop texts was completed.
    StopString,
    /// One of the stop tokens was drawn.
    StopToken,
    /// It has as many tokens as were allowed.
    MaxTokens,
    /// Context and completion together fill the model's context.
    ContextFull,
    /// The constraint is met and allows nothing more, and there is no stop token to say so.
    ConstraintMet,
}

/// A token and how likely it was.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TokenLogprob {
    /// Its number in the vocabulary.
    pub token: TokenId,
    /// Its log-probability under the full softmax at the sampling temperature.
    pub logprob: f32,
}

/// What was said, aligned token by token.
#[derive(Debug, Clone, PartialEq)]
pub struct Completion {
    /// The session of the request that this answers.
    pub session: SessionId,
    /// The tokens drawn, without the context.
    pub tokens: Vec<TokenId>,
    /// Log-probability of each under the full softmax at the sampling temperature, before any top-p cut. Empty where a sampler
    /// of `Synthetic` words does not know them.
    pub logprobs: Vec<f32>,
    /// Value estimate before each was drawn; empty without a value head.
    pub values: Vec<f32>,
    /// The likeliest tokens at each position, likeliest first, as many as were asked for; empty when none were.
    pub top_logprobs: Vec<Vec<TokenLogprob>>,
    /// Why it ended.
    pub stop: StopReason,
    /// Whose count of its tokens limits and costs go by.
    pub counted: Counted,
}

/// Who counted the tokens of a completion. Limits and costs go by this count, so that no completion is cut by the count of another tokenizer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Counted {
    /// They are the tokens of the completion.
    #[default]
    Here,
    /// A server that drew tokens of its own; the completion has its text in ours.
    Server(u64),
    /// The server does not say. The tokens count against no limit, and the cost says that tokens are unknown.
    Nobody,
}

/// Why a session got no completion; other sessions carry on.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum SamplerError {
    #[error("the context is empty")]
    EmptyContext,
    /// The context does not fit.
    #[error("the context has {got} tokens, the model holds {limit}")]
    ContextTooLong { got: usize, limit: usize },
    /// A token that the model does not know.
    #[error("token {token} is outside the vocabulary of {vocab}")]
    UnknownToken { token: u32, vocab: usize },
    /// Parameters that cannot be sampled with.
    #[error("sampling parameters: {0}")]
    Params(String),
    /// A second request before the first was answered.
    #[error("the session already waits for a completion")]
    Busy,
    /// The model produced logits that are not finite.
    #[error("the model's logits are not finite")]
    NonFinite,
    /// No token is left to draw.
    #[error("bans, allowed tokens and constraint leave no token to draw")]
    NothingAllowed,
    /// The constraint could not go on.
    #[error("the constraint failed: {0}")]
    Constraint(String),
    /// The sequence alone needs more memory than all caches may take.
    #[error(
        "{positions} positions need {needed} bytes of cache, the limit is {limit}: raise `cache_bytes` or shorten the context"
    )]
    CacheFull { positions: usize, needed: usize, limit: usize },
    /// The sampler behind the seam failed.
    #[error("the sampler failed: {0}")]
    Failed(String),
    /// A server that the sampler asked failed.
    #[error("the sampler failed: {message}")]
    Server { cause: String, message: String },
}

/// The answer to one request.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionResult {
    /// The session of the request that this answers.
    pub session: SessionId,
    /// The completion, or why there is none.
    pub result: Result<Completion, SamplerError>,
}

/// A token as it is drawn, before its completion is finished.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SampledToken {
    /// The session that it is drawn for.
    pub session: SessionId,
    /// The token and its log-probability.
    pub drawn: TokenLogprob,
}

/// Where finished completions are put, and tokens as they are drawn where somebody wants them; clones feed the same place
/// and may be called from any thread.
#[derive(Clone)]
pub struct CompletionSink {
    receive: Arc<dyn Fn(SessionResult) + Send + Sync>,
    watch: Option<Arc<dyn Fn(SampledToken) + Send + Sync>>,
}

impl CompletionSink {
    /// Wraps the function that receives.
    pub fn new(receive: impl Fn(SessionResult) + Send + Sync + 'static) -> Self {
        Self { receive: Arc::new(receive), watch: None }
    }

    /// Calls `watch` with every token of every session as it is drawn, in order within a session and before its answer.
    #[must_use]
    pub fn with_tokens(mut self, watch: impl Fn(SampledToken) + Send + Sync + 'static) -> Self {
        self.watch = Some(Arc::new(watch));
        self
    }

    /// Hands the answer to whoever made the sink.
    pub fn put(&self, result: SessionResult) {
        (self.receive)(result);
    }

    /// Whether anybody wants tokens as they are drawn.
    pub fn wants_tokens(&self) -> bool {
        self.watch.is_some()
    }

    /// Hands over a token as it is drawn; does nothing where nobody watches.
    pub fn token(&self, drawn: SampledToken) {
        if let Some(watch) = &self.watch {
            watch(drawn);
        }
    }
}

impl fmt::Debug for CompletionSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CompletionSink")
    }
}

/// What to do after a pump.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pump {
    /// There is more to do: call again at once.
    Busy,
    /// Nothing to do until a new request; completions under way arrive through the sink by themselves.
    Idle,
}

/// Something that completes contexts. The caller submits, then pumps until idle; results come through the sink.
pub trait Sampler: Send {
    /// Queues a request; faults of it are reported through the sink too.
    fn submit(&mut self, request: SampleRequest);

    /// Advances a little (the embedded model: one decode step for every active sequence).
    fn pump(&mut self, sink: &CompletionSink) -> Pump;

    /// A new session that shares `from`'s first `tokens` cached positions. By default nothing: the context is read again.
    fn fork(&mut self, from: SessionId, to: SessionId, tokens: usize) {
        let _ = (from, to, tokens);
    }

    /// Forgets a session; a completion under way is dropped without an answer.
    fn close(&mut self, session: SessionId);

    /// Most tokens of context and completion together.
    fn context_limit(&self) -> usize;

    /// How what it says comes to be. A program that plays the policy says `Synthetic`, so that nothing takes its words for
    /// samples of the policy.
    fn provenance(&self) -> Provenance {
        Provenance::Sampled
    }

    /// Whether it goes by the whole episode, whatever the policy has in sight: a program that counts the turns.
    fn sees_all(&self) -> bool {
        false
    }

    /// What it is doing, for a report of what everyone waits for.
    fn waiting(&self) -> String;
}
