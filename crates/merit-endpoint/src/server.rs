//! What servers offer beyond the common protocol, and what they call it.
//!
//! Facts, one table per question. A wish that a server cannot fulfil is refused before anything is sent: a field that a server
//! ignores in silence would change what was sampled without a word.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Whose extensions of the protocol may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Server {
    /// A hosted API, or any server of which nothing else is known: the common protocol only.
    #[default]
    Openai,
    /// A vLLM server.
    Vllm,
    /// An SGLang server.
    Sglang,
    /// The server of llama.cpp.
    LlamaCpp,
}

/// Which of the two ways to generate is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Chat,
    Text,
}

impl Server {
    /// The name in recipes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Openai => "openai",
            Self::Vllm => "vllm",
            Self::Sglang => "sglang",
            Self::LlamaCpp => "llama-cpp",
        }
    }

    /// Whether `top_k` and `min_p` exist.
    pub fn cuts_by_rank(self) -> bool {
        !matches!(self, Self::Openai)
    }

    /// Settings under which the model's own distribution is drawn from, where the server's defaults might be others.
    pub(crate) fn neutral_fields(self) -> Vec<(&'static str, Value)> {
        let mut fields = vec![("top_p", json!(1.0))];
        if self.cuts_by_rank() {
            fields.extend([("top_k", json!(-1)), ("min_p", json!(0.0))]);
        }
        if matches!(self, Self::Vllm | Self::Sglang) {
            fields.push(("repetition_penalty", json!(1.0)));
        }
        fields
    }

    /// Whether token ids can be named as stops.
    pub fn stops_at_tokens(self) -> bool {
        matches!(self, Self::Vllm | Self::Sglang)
    }

    /// Whether it can say which tokens it drew.
    pub fn gives_token_ids(self) -> bool {
        !matches!(self, Self::Openai)
    }

    /// The field that asks for token ids.
    pub(crate) fn token_ids_field(self) -> Option<&'static str> {
        match self {
            Self::Openai => None,
            Self::Vllm | Self::Sglang => Some("return_token_ids"),
            Self::LlamaCpp => Some("return_tokens"),
        }
    }

    /// The field that keeps the stop string in the answer. Without it one cannot tell which stop was met, or whether one was,
    /// so the stops are then looked for on our side and not sent.
    pub(crate) fn keep_stop_field(self) -> Option<&'static str> {
        match self {
            Self::Vllm => Some("include_stop_str_in_output"),
            Self::Sglang => Some("no_stop_trim"),
            Self::Openai | Self::LlamaCpp => None,
        }
    }

    /// Whether token ids come with streamed answers too.
    pub(crate) fn streams_token_ids(self, way: Way) -> bool {
        !(self == Self::Sglang && way == Way::Chat)
    }

    /// The smallest number of alternatives under which a completion of plain text comes with log-probabilities.
    pub(crate) fn least_alternatives(self) -> u32 {
        u32::from(self == Self::LlamaCpp)
    }
}
