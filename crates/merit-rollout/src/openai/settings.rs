//! How a model behind an endpoint plays a role.

use merit_endpoint::{EndpointConfig, EndpointError, Server};
use merit_model::{SamplerError, SamplingParams};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The endpoint, and what is made of its answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OpenAiSettings {
    /// Where the model is.
    pub endpoint: EndpointConfig,
    /// Where the tokens of an answer come from.
    #[serde(default)]
    pub tokens: TokenSource,
    /// How the context is sent. Absent: as messages where tokens come from the text, as tokens where they come from the server.
    #[serde(default)]
    pub prompt: Option<PromptForm>,
    /// What the server's log-probabilities are of. Only with `tokens = "server"`; absent: `raw`.
    #[serde(default)]
    pub logprobs: Option<LogprobKind>,
    /// How tools are offered and called.
    #[serde(default)]
    pub calls: CallForm,
    /// Who says what tools and the environment say. Only with messages; absent: `user`.
    #[serde(default)]
    pub tool_role: Option<ToolRole>,
    /// Most tokens of context and completion together, counted by our tokenizer. Absent: only the server knows.
    #[serde(default)]
    pub context_limit: Option<usize>,
}

/// Where the tokens of an answer come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TokenSource {
    /// The text is encoded here. How likely it was is unknown, so nothing is trained on it.
    #[default]
    Text,
    /// The server tells token ids and log-probabilities. It must hold the policy's weights and share its vocabulary.
    Server,
}

/// How tools are offered and called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CallForm {
    /// In the text, as the world tells its tools and reads their calls.
    #[default]
    Text,
    /// By the protocol: the server is told the tools, makes calls of its own and gets each answer under the call's id.
    Native,
}

/// How the context is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PromptForm {
    /// As a conversation that the server lays out by its own template.
    Messages,
    /// As the tokens that they are.
    Tokens,
}

/// What a server's log-probabilities are of. The record wants them at the sampling temperature, before any cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LogprobKind {
    /// The model's own distribution, before the temperature: vLLM's `raw_logprobs`, llama.cpp. Right at temperature 0 and 1.
    #[default]
    Raw,
    /// After the temperature, before cuts by rank or probability. Right at any temperature.
    Tempered,
    /// After temperature and cuts: vLLM's `processed_logprobs`. Right where nothing is cut.
    Processed,
}

/// Who says what tools and the environment say, to a server that knows neither.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ToolRole {
    /// The user: every server takes it.
    #[default]
    User,
    /// The protocol's `tool`, without the id of a call. Hosted servers refuse it.
    Tool,
}

impl OpenAiSettings {
    /// The settings for a model whose answers are taken as text.
    pub fn new(endpoint: EndpointConfig) -> Self {
        Self {
            endpoint,
            tokens: TokenSource::Text,
            prompt: None,
            logprobs: None,
            calls: CallForm::Text,
            tool_role: None,
            context_limit: None,
        }
    }

    /// How the context is sent.
    pub fn prompt_form(&self) -> PromptForm {
        self.prompt.unwrap_or(match self.tokens {
            TokenSource::Text => PromptForm::Messages,
            TokenSource::Server => PromptForm::Tokens,
        })
    }

    pub fn validate(&self) -> Result<(), EndpointError> {
        self.endpoint.validate()?;
        let refuse = |why: &str| Err(EndpointError::Config(why.to_owned()));
        let server = self.endpoint.server;
        match (self.tokens, self.prompt_form()) {
            (TokenSource::Server, _) if !server.gives_token_ids() => refuse(
                "`tokens = \"server\"` needs a server that tells token ids; name its kind in `endpoint.server`, or say \
                 `tokens = \"text\"`",
            ),
            (TokenSource::Server, PromptForm::Messages) if server == Server::LlamaCpp => refuse(
                "llama.cpp does not tell which tokens it read, so nobody could check them; say `prompt = \"tokens\"`",
            ),
            (TokenSource::Text, _) if self.logprobs.is_some() => {
                refuse("`logprobs` does nothing with `tokens = \"text\"`; leave it out")
            }
            (TokenSource::Server, _) | (_, PromptForm::Tokens) if self.calls == CallForm::Native => refuse(
                "`calls = \"native\"` needs messages and text, since the calls are written down here; leave out `tokens` and \
                 `prompt`, or say `calls = \"text\"`",
            ),
            _ if self.calls == CallForm::Native && self.tool_role.is_some() => {
                refuse("`tool_role` does nothing with `calls = \"native\"`; leave it out")
            }
            (_, PromptForm::Tokens) if self.tool_role.is_some() => {
                refuse("`tool_role` does nothing with a prompt of tokens; leave it out")
            }
            _ if self.context_limit == Some(0) => {
                refuse("`context_limit` is 0; leave it out or give the limit")
            }
            _ => Ok(()),
        }
    }

    /// Refuses a way of sampling that the protocol cannot express, or under which the server's log-probabilities would not be
    /// those of the record.
    pub(super) fn check_params(&self, params: &SamplingParams) -> Result<(), SamplerError> {
        let changes_logits =
            !(params.logit_bias.is_empty() && params.banned.is_empty() && params.allowed.is_empty());
        if changes_logits || params.constraint.is_some() {
            let why =
                "an endpoint takes no biases, bans or constraints by token; sample without them, or embedded";
            return Err(SamplerError::Params(why.to_owned()));
        }
        if self.tokens == TokenSource::Text {
            let told = params.top_logprobs == 0;
            let why = "`top_logprobs` needs the server's tokens; say `tokens = \"server\"`";
            return if told { Ok(()) } else { Err(SamplerError::Params(why.to_owned())) };
        }
        let kind = self.logprobs.unwrap_or_default();
        let cuts_nothing = params.top_p == 1.0 && params.top_k == 0 && params.min_p == 0.0;
        let right = match kind {
            LogprobKind::Raw => params.temperature == 0.0 || params.temperature == 1.0,
            LogprobKind::Tempered => true,
            LogprobKind::Processed => cuts_nothing && params.temperature > 0.0,
        };
        if right {
            return Ok(());
        }
        let advice = match kind {
            LogprobKind::Raw => "`logprobs = \"raw\"` is right at temperature 0 and 1 only",
            LogprobKind::Tempered | LogprobKind::Processed => {
                "`logprobs = \"processed\"` is right above temperature 0 and without cuts only"
            }
        };
        let SamplingParams { temperature, top_k, top_p, min_p, .. } = params;
        let asked = format!("temperature {temperature}, top_k {top_k}, top_p {top_p}, min_p {min_p}");
        Err(SamplerError::Params(format!("{asked}: {advice}")))
    }
}
