//! What a model behind an endpoint said, whichever way it came.

use crate::message::FunctionCall;
use merit_core::TokenId;
use serde::{Deserialize, Serialize};

/// One answer, whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// What was said; with a stop string at its end where one was met.
    pub text: String,
    /// What was thought aloud, where the server sets it apart; empty otherwise.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    /// Why the model will not answer, where the server sets that apart; empty otherwise.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub refusal: String,
    /// The calls that the server read out of what was said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<FunctionCall>,
    /// Why the model stopped: it was done, a limit, a call.
    pub finish: Finish,
    /// The stop string that ended it. Absent: none did, or it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped_by: Option<String>,
    /// The token that ended it. Absent: none did, or it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped_at: Option<TokenId>,
    /// The tokens drawn, past a stop string too where the server does not stop at it. Absent: not asked for. When
    /// log-probabilities are there too, both have the same length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Vec<TokenId>>,
    /// The tokens that the server read. Absent: it does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_tokens: Option<Vec<TokenId>>,
    /// How likely each token was. Absent: not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logprobs: Option<Vec<TokenScore>>,
    /// What it cost. Absent: the server does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The model that answered, as the server calls it; empty where it does not say.
    #[serde(default)]
    pub model: String,
}

/// Why an answer ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finish {
    /// The model ended it, or a stop string did.
    Stop,
    /// It has as many tokens as were allowed, or the context is full.
    Length,
    ToolCalls,
    /// The server's filter took it away.
    ContentFilter,
    /// A reason outside the protocol.
    Other(String),
}

impl Finish {
    pub(crate) fn parse(word: &str) -> Self {
        match word {
            "stop" | "eos" | "end_turn" => Self::Stop,
            "length" => Self::Length,
            "tool_calls" | "function_call" => Self::ToolCalls,
            "content_filter" => Self::ContentFilter,
            other => Self::Other(other.to_owned()),
        }
    }
}

/// How likely one token was.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TokenScore {
    /// Its text, as far as it is text.
    pub token: String,
    /// Its id. Absent: the server does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<TokenId>,
    /// Its bytes. Absent: the server does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Vec<u8>>,
    pub logprob: f32,
    /// The likeliest tokens in its place, as the server orders them; as many as were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub top: Vec<TopToken>,
}

/// A token that might have been drawn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TopToken {
    /// Its text, as far as it is text.
    pub token: String,
    /// Its id. Absent: the server does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<TokenId>,
    /// Its bytes. Absent: the server does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Vec<u8>>,
    pub logprob: f32,
}

/// What an answer cost, in the server's tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    pub prompt_tokens: u64,
    /// Tokens of them that were read before and kept by the server.
    #[serde(default)]
    pub cached_tokens: u64,
    /// Tokens that the model sampled.
    pub completion_tokens: u64,
    /// Tokens of them that were thought and not said; 0 where the server does not say.
    #[serde(default)]
    pub reasoning_tokens: u64,
}

/// A model that a server offers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelCard {
    pub id: String,
    /// Most tokens of context and completion together. Absent: the server does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_limit: Option<usize>,
}

/// A piece of a streamed answer, as it comes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// A further piece of the text.
    Text(String),
    /// More of what is thought aloud.
    Reasoning(String),
    /// The answer broke off and is asked for again: everything so far is void.
    Restart,
}
