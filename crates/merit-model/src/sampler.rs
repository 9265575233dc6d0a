//! The seam between rollouts and whatever writes the next tokens.
//!
//! Requests go in by session, completions come out through a sink, in any order and from any thread. The embedded model
//! ([`crate::Generator`]) and the programs of the rollout station implement [`Sampler`].

use merit_core::{Provenance, Seed, TokenId};
use std::fmt;
use std::sync::Arc;

/// A growing context that is sampled from turn by turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionId(pub u64);

/// How tokens are drawn and when to stop.
#[derive(Debug, Clone, PartialEq)]
pub struct SamplingParams {
    /// Logits are divided by this; 0 takes the likeliest token and reports log-probabilities at temperature 1.
    pub temperature: f32,
    /// Draw only from the likeliest tokens that together have this probability; 1 draws from all.
    pub top_p: f32,
    /// Most tokens of a completion.
    pub max_tokens: usize,
    /// Texts that end a completion wherever they appear in it; the token that completes one is kept.
    pub stop: Vec<String>,
    /// Tokens that end a completion; kept.
    pub stop_tokens: Vec<TokenId>,
}

impl Default for SamplingParams {
    fn default() -> Self {
        Self { temperature: 1.0, top_p: 1.0, max_tokens: 256, stop: Vec::new(), stop_tokens: Vec::new() }
    }
}

/// One completion that is wanted.
#[derive(Debug, Clone)]
pub struct SampleRequest {
    /// The session; one request of it at a time.
    pub session: SessionId,
    /// The whole context so far; positions that match what the session already read are not read again.
    pub context: Vec<TokenId>,
    /// How to draw.
    pub params: Arc<SamplingParams>,
    /// All randomness of this completion: one number per token.
    pub seed: Seed,
}

/// Why a completion ended.
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
}

/// What was said, aligned token by token.
#[derive(Debug, Clone, PartialEq)]
pub struct Completion {
    /// Whose it is.
    pub session: SessionId,
    /// The tokens drawn.
    pub tokens: Vec<TokenId>,
    /// Log-probability of each under the full softmax at the sampling temperature, before any top-p cut.
    pub logprobs: Vec<f32>,
    /// Value estimate before each was drawn; empty without a value head.
    pub values: Vec<f32>,
    /// Why it ended.
    pub stop: StopReason,
}

/// Why a session got no completion; other sessions carry on.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SamplerError {
    /// Nothing to continue from.
    #[error("the context is empty")]
    EmptyContext,
    /// The context does not fit.
    #[error("the context has {got} tokens, the model holds {limit}")]
    ContextTooLong {
        /// Its length.
        got: usize,
        /// The most that fits.
        limit: usize,
    },
    /// A token that the model does not know.
    #[error("token {token} is outside the vocabulary of {vocab}")]
    UnknownToken {
        /// The token.
        token: u32,
        /// Size of the vocabulary.
        vocab: usize,
    },
    /// Parameters that cannot be sampled with.
    #[error("sampling parameters: {0}")]
    Params(String),
    /// A second request before the first was answered.
    #[error("the session already waits for a completion")]
    Busy,
    /// The model produced logits that are not finite.
    #[error("the model's logits are not finite")]
    NonFinite,
    /// The sampler behind the seam failed.
    #[error("the sampler failed: {0}")]
    Failed(String),
}

/// The answer to one request.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionResult {
    /// Whose it is.
    pub session: SessionId,
    /// The completion, or why there is none.
    pub result: Result<Completion, SamplerError>,
}

/// Where finished completions are put; clones feed the same place and may be called from any thread.
#[derive(Clone)]
pub struct CompletionSink(Arc<dyn Fn(SessionResult) + Send + Sync>);

impl CompletionSink {
    /// Wraps the function that receives.
    pub fn new(receive: impl Fn(SessionResult) + Send + Sync + 'static) -> Self {
        Self(Arc::new(receive))
    }

    /// Hands over one answer.
    pub fn put(&self, result: SessionResult) {
        (self.0)(result);
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

    /// What it is doing, for a report of what everyone waits for.
    fn waiting(&self) -> String;
}
