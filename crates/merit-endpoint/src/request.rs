//! Requests, and the bodies they become.
//!
//! In: a conversation, a text or tokens, with [`Params`]. Out: a [`Call`], which holds everything that is sent and what its
//! answer is kept under. The address, the key and whether the answer is streamed are no part of what is asked.

use crate::config::MaxTokensField;
use crate::message::{ChatMessage, FunctionSpec};
use crate::params::{Params, require};
use crate::server::Way;
use crate::{EndpointConfig, EndpointError};
use merit_core::TokenId;
use merit_net::text::glimpse;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// Fields that `extra` may not set.
pub(crate) const OWN_FIELDS: &[&str] = &[
    "model",
    "messages",
    "prompt",
    "input",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "stream",
    "stream_options",
    "n",
    "best_of",
    "echo",
    "temperature",
    "top_p",
    "top_k",
    "min_p",
    "max_tokens",
    "max_completion_tokens",
    "stop",
    "stop_token_ids",
    "seed",
    "logprobs",
    "top_logprobs",
    "response_format",
    "return_token_ids",
    "return_tokens",
    "include_stop_str_in_output",
    "no_stop_trim",
    "repetition_penalty",
    "encoding_format",
];

/// A conversation that wants its next message.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ChatRequest {
    pub messages: Vec<ChatMessage>,
    /// Tools that may be called.
    pub tools: Vec<FunctionSpec>,
    /// Limits, temperature and stops of the answer.
    pub params: Params,
}

/// A text or a row of tokens that wants to be continued.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TextRequest {
    pub prompt: Prompt,
    /// Limits, temperature and stops of the answer.
    #[serde(default)]
    pub params: Params,
}

/// The text, or the tokens, that a model continues.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Prompt {
    /// A text, which the server tokenises.
    Text(String),
    /// Tokens of the server's own vocabulary, taken as they are.
    Tokens(Vec<TokenId>),
}

/// One call of the server.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Call {
    /// Below the base address.
    pub(crate) path: &'static str,
    /// Everything that is sent but for the fields of streaming. Absent: nothing is sent.
    pub(crate) body: Option<Map<String, Value>>,
    /// Stops that are looked for on our side.
    pub(crate) own_stops: Vec<String>,
    /// Tells answers to the same request apart.
    pub(crate) sample: u64,
    /// What the answer must hold.
    pub(crate) wants: Wants,
}

/// What an answer must hold to be of use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Wants {
    pub(crate) logprobs: bool,
    pub(crate) token_ids: bool,
}

impl Call {
    pub(crate) fn chat(
        config: &EndpointConfig,
        asked: &ChatRequest,
        streamed: bool,
    ) -> Result<Self, EndpointError> {
        if asked.messages.is_empty() {
            return Err(EndpointError::Config(
                "the conversation has no message; give at least one".to_owned(),
            ));
        }
        if asked.tools.is_empty() && asked.params.tool_choice.is_some() {
            return Err(EndpointError::Config("`tool_choice` does nothing without tools".to_owned()));
        }
        let mut body = opened(config);
        body.insert("messages".into(), asked.messages.iter().map(ChatMessage::to_wire).collect());
        if !asked.tools.is_empty() {
            body.insert("tools".into(), asked.tools.iter().map(FunctionSpec::to_wire).collect());
        }
        if let Some(choice) = &asked.params.tool_choice {
            body.insert("tool_choice".into(), choice.clone());
        }
        if let Some(several) = asked.params.parallel_tool_calls.filter(|_| !asked.tools.is_empty()) {
            body.insert("parallel_tool_calls".into(), json!(several));
        }
        let most = match config.max_tokens_field {
            MaxTokensField::MaxTokens => "max_tokens",
            MaxTokensField::MaxCompletionTokens => "max_completion_tokens",
        };
        Self::generating(config, "chat/completions", Way::Chat, most, body, &asked.params, streamed)
    }

    pub(crate) fn text(
        config: &EndpointConfig,
        asked: &TextRequest,
        streamed: bool,
    ) -> Result<Self, EndpointError> {
        if asked.params.tool_choice.is_some() {
            return Err(EndpointError::Config(
                "`tool_choice` belongs to conversations with tools".to_owned(),
            ));
        }
        let empty = match &asked.prompt {
            Prompt::Text(text) => text.is_empty(),
            Prompt::Tokens(tokens) => tokens.is_empty(),
        };
        if empty {
            return Err(EndpointError::Config(
                "there is nothing to continue: the prompt is empty".to_owned(),
            ));
        }
        let mut body = opened(config);
        body.insert("prompt".into(), json!(asked.prompt));
        Self::generating(config, "completions", Way::Text, "max_tokens", body, &asked.params, streamed)
    }

    pub(crate) fn embeddings(config: &EndpointConfig, texts: &[String]) -> Self {
        let mut body = opened(config);
        body.insert("input".into(), json!(texts));
        body.insert("encoding_format".into(), json!("float"));
        Self {
            path: "embeddings",
            body: Some(body),
            own_stops: Vec::new(),
            sample: 0,
            wants: Wants::default(),
        }
    }

    pub(crate) fn models() -> Self {
        Self { path: "models", body: None, own_stops: Vec::new(), sample: 0, wants: Wants::default() }
    }

    fn generating(
        config: &EndpointConfig,
        path: &'static str,
        way: Way,
        max_tokens_field: &str,
        mut body: Map<String, Value>,
        params: &Params,
        streamed: bool,
    ) -> Result<Self, EndpointError> {
        if params.token_ids && streamed {
            let advice = "tells the token ids of a conversation only at once; say `stream = false`";
            require(config.server, config.server.streams_token_ids(way), advice)?;
        }
        let own_stops = params.write(config.server, way, max_tokens_field, &mut body)?;
        let wants = Wants { logprobs: params.logprobs.is_some(), token_ids: params.token_ids };
        Ok(Self { path, body: Some(body), own_stops, sample: params.sample, wants })
    }

    /// The body as it is sent. Absent: the request has none.
    pub(crate) fn bytes(&self, streamed: bool) -> Option<Vec<u8>> {
        let mut body = self.body.clone()?;
        if streamed {
            body.insert("stream".into(), json!(true));
            body.insert("stream_options".into(), json!({ "include_usage": true }));
        }
        Some(Value::Object(body).to_string().into_bytes())
    }

    /// Everything that decides the answer, for the key it is kept under.
    pub(crate) fn question(&self) -> Value {
        json!({ "path": self.path, "body": self.body, "own_stops": self.own_stops })
    }

    /// What is asked, in a few words.
    pub(crate) fn in_words(&self) -> String {
        let body = self.body.as_ref();
        let field = |name: &str| body.and_then(|body| body.get(name));
        let model = field("model").and_then(Value::as_str).unwrap_or_default();
        let last = match (field("messages").and_then(Value::as_array), field("prompt"), field("input")) {
            (Some(messages), ..) => {
                messages.last().and_then(|last| last["content"].as_str()).map(str::to_owned)
            }
            (_, Some(prompt), _) => Some(prompt.to_string()),
            (.., input) => input.map(Value::to_string),
        };
        let last =
            last.map_or_else(String::new, |last| format!(" ending in \"{}\"", glimpse(&tail(&last), 300)));
        format!("`{}` of `{}`{last}, sample {}", self.path, glimpse(model, 80), self.sample)
    }
}

/// A body with what is the same in all: the further fields of the settings and the model.
fn opened(config: &EndpointConfig) -> Map<String, Value> {
    let mut body = config.extra.clone();
    body.insert("model".into(), json!(config.model));
    body
}

/// The last characters of a text.
fn tail(text: &str) -> String {
    let count = text.chars().count();
    let end: String = text.chars().skip(count.saturating_sub(60)).collect();
    if count > 60 { format!("…{end}") } else { end }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_it_is_transported_is_no_part_of_the_question() {
        let config = EndpointConfig::new("http://127.0.0.1/v1", "m");
        let asked = ChatRequest { messages: vec![ChatMessage::user("hi")], ..ChatRequest::default() };
        let elsewhere =
            EndpointConfig { base_url: "http://localhost:1/v1".into(), deadline_s: 1.0, ..config.clone() };
        let call = Call::chat(&config, &asked, false).unwrap();
        assert_eq!(call.question(), Call::chat(&elsewhere, &asked, true).unwrap().question());
        let other = EndpointConfig { model: "n".into(), ..config };
        assert_ne!(call.question(), Call::chat(&other, &asked, false).unwrap().question());
        assert_eq!(call.in_words(), "`chat/completions` of `m` ending in \"hi\", sample 0");
    }

    #[test]
    fn further_fields_are_sent_and_own_fields_refused() {
        let mut config = EndpointConfig::new("http://127.0.0.1/v1", "m");
        config.extra.insert("chat_template_kwargs".into(), json!({ "enable_thinking": false }));
        config.validate().unwrap();
        let asked =
            TextRequest { prompt: Prompt::Tokens(vec![TokenId(1), TokenId(2)]), params: Params::default() };
        let body = Call::text(&config, &asked, false).unwrap().body.unwrap();
        let expected =
            json!({ "model": "m", "prompt": [1, 2], "chat_template_kwargs": { "enable_thinking": false } });
        assert_eq!(Value::Object(body), expected);
        config.extra.insert("n".into(), json!(4));
        assert!(config.validate().unwrap_err().to_string().contains("`extra.n`"));
    }
}
