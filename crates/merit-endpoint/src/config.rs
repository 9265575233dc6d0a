//! How an endpoint is reached and how patient we are with it.
//!
//! In: a table of a recipe. Out: settings whose ranges have been checked. No key is ever part of them, only the name of the
//! environment variable that holds it.

use crate::EndpointError;
use crate::server::Server;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::path::PathBuf;
use std::time::Duration;

/// Where a model is, and how it is asked.
///
/// ```
/// let config: merit_endpoint::EndpointConfig = toml::from_str(r#"
///     base_url = "http://127.0.0.1:8000/v1"
///     model = "Qwen/Qwen3-0.6B"
///     server = "vllm"
///     deadline_s = 60
/// "#)?;
/// config.validate()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EndpointConfig {
    /// The address up to and with the version, e.g. `http://127.0.0.1:8000/v1`.
    pub base_url: String,
    /// The model's name as the server knows it.
    pub model: String,
    /// Whose extensions of the protocol may be used.
    #[serde(default)]
    pub server: Server,
    /// The environment variable that holds the key. Absent: no key is sent.
    #[serde(default)]
    pub api_key_env: Option<String>,
    /// Allows a server on another machine: what is asked then leaves this one.
    #[serde(default)]
    pub remote: bool,
    /// A file of certificates in PEM form that are trusted besides the usual ones: those of a company's proxy, or a server's own.
    #[serde(default)]
    pub ca_file: Option<PathBuf>,
    /// Sends the key to another machine by plain HTTP too, where anybody on the way can read it.
    #[serde(default)]
    pub insecure_http: bool,
    /// Longest time of one request with all its tries, in seconds. Waiting for the concurrency limit does not count.
    #[serde(default = "default_deadline")]
    pub deadline_s: f64,
    /// Longest time to open a connection, in seconds.
    #[serde(default = "default_connect")]
    pub connect_s: f64,
    /// Longest silence inside a streamed answer, in seconds.
    #[serde(default = "default_idle")]
    pub idle_s: f64,
    /// How often a request is tried again.
    #[serde(default = "default_retries")]
    pub retries: u32,
    /// The pause before try `n + 1` is uniform between 0 and `backoff_base_s * 2^(n - 1)`.
    #[serde(default = "default_backoff_base")]
    pub backoff_base_s: f64,
    /// The longest pause that we choose ourselves, in seconds.
    #[serde(default = "default_backoff_most")]
    pub backoff_most_s: f64,
    /// The longest pause that a server may ask for by Retry-After, in seconds; a request to wait longer is a failure.
    #[serde(default = "default_retry_after_most")]
    pub retry_after_most_s: f64,
    /// Whether an answer that breaks off is asked for again.
    #[serde(default)]
    pub retry_cut: RetryCut,
    /// Most requests under way at once.
    #[serde(default = "default_concurrency")]
    pub concurrency: usize,
    /// Whether answers are streamed. The result is the same; a long answer then shows that it lives.
    #[serde(default)]
    pub stream: bool,
    /// What the limit on tokens is called. Newer hosted models want `max_completion_tokens`.
    #[serde(default)]
    pub max_tokens_field: MaxTokensField,
    /// Further fields of every body, for what a server offers beyond this client. Fields that this client sets are refused.
    #[serde(default)]
    pub extra: Map<String, Value>,
    /// An answer of more bytes is not read.
    #[serde(default = "default_response_bytes")]
    pub max_response_bytes: usize,
    /// Most texts of one request for embeddings.
    #[serde(default = "default_embed_batch")]
    pub embed_batch: usize,
    /// Where answers are kept and found again.
    #[serde(default)]
    pub cache: CacheConfig,
}

/// What is done about an answer that breaks off in the middle. Long answers break more often, so asking again after the first
/// piece prefers short ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RetryCut {
    /// A cut answer is a failure.
    Never,
    /// It is asked for again if nothing of it had come.
    #[default]
    BeforePieces,
    /// It is asked for again.
    Always,
}

/// What the limit on tokens is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MaxTokensField {
    /// `max_tokens`.
    #[default]
    MaxTokens,
    /// `max_completion_tokens`; completions of plain text keep `max_tokens`.
    MaxCompletionTokens,
}

/// Where answers are kept.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CacheConfig {
    /// What is done with it.
    pub mode: CacheMode,
    /// The file. Absent only when the mode is `off`.
    pub path: Option<PathBuf>,
}

/// What is done with kept answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CacheMode {
    /// No answer is kept.
    #[default]
    Off,
    /// Everything is asked and kept; the newest answer counts.
    Record,
    /// Nothing is asked: an answer that is not kept is an error.
    Replay,
    /// What is kept is used, the rest is asked and kept; the first answer counts.
    Fill,
}

impl EndpointConfig {
    /// The settings for a model on this machine, everything else at its default.
    pub fn new(base_url: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            base_url: base_url.into(),
            model: model.into(),
            server: Server::default(),
            api_key_env: None,
            remote: false,
            ca_file: None,
            insecure_http: false,
            deadline_s: default_deadline(),
            connect_s: default_connect(),
            idle_s: default_idle(),
            retries: default_retries(),
            backoff_base_s: default_backoff_base(),
            backoff_most_s: default_backoff_most(),
            retry_after_most_s: default_retry_after_most(),
            retry_cut: RetryCut::default(),
            concurrency: default_concurrency(),
            stream: false,
            max_tokens_field: MaxTokensField::default(),
            extra: Map::new(),
            max_response_bytes: default_response_bytes(),
            embed_batch: default_embed_batch(),
            cache: CacheConfig::default(),
        }
    }

    /// Refuses what cannot work; what depends on this machine (the key, the file) is looked at when the endpoint is opened.
    pub fn validate(&self) -> Result<(), EndpointError> {
        let spans = [
            ("deadline_s", self.deadline_s, false),
            ("connect_s", self.connect_s, false),
            ("idle_s", self.idle_s, false),
            ("backoff_base_s", self.backoff_base_s, true),
            ("backoff_most_s", self.backoff_most_s, true),
            ("retry_after_most_s", self.retry_after_most_s, true),
        ];
        for (name, seconds, zero_is_fine) in spans {
            let sane =
                seconds.is_finite() && seconds <= 1e6 && (seconds > 0.0 || zero_is_fine && seconds == 0.0);
            require(sane, || format!("`{name}` is {seconds}; give seconds above 0 and at most a million"))?;
        }
        require(!self.model.trim().is_empty(), || {
            "`model` is empty; `GET /models` lists the names".to_owned()
        })?;
        require(self.concurrency > 0, || "`concurrency` is 0, so nothing could ever be asked".to_owned())?;
        require(self.embed_batch > 0, || "`embed_batch` is 0; give at least 1".to_owned())?;
        require(self.max_response_bytes >= 1024, || {
            format!("`max_response_bytes` is {}; no answer fits into less than 1024", self.max_response_bytes)
        })?;
        self.check_cache()?;
        self.check_extra()?;
        crate::address::Address::of(self).map(|_| ())
    }

    fn check_cache(&self) -> Result<(), EndpointError> {
        match (self.cache.mode, &self.cache.path) {
            (CacheMode::Off, Some(_)) => refuse(
                "`cache.path` does nothing while `cache.mode` is `off`; say `record`, `replay` or `fill`",
            ),
            (CacheMode::Record | CacheMode::Replay | CacheMode::Fill, None) => {
                refuse("`cache.mode` needs `cache.path`, the file of kept answers")
            }
            _ => Ok(()),
        }
    }

    fn check_extra(&self) -> Result<(), EndpointError> {
        match self.extra.keys().find(|name| crate::request::OWN_FIELDS.contains(&name.as_str())) {
            Some(name) => refuse(&format!("`extra.{name}` is set by this client; leave it out of `extra`")),
            None => Ok(()),
        }
    }
}

fn require(holds: bool, why: impl FnOnce() -> String) -> Result<(), EndpointError> {
    if holds { Ok(()) } else { Err(EndpointError::Config(why())) }
}

fn refuse(why: &str) -> Result<(), EndpointError> {
    Err(EndpointError::Config(why.to_owned()))
}

/// A checked number of seconds.
pub(crate) fn span(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
}

fn default_deadline() -> f64 {
    120.0
}

fn default_connect() -> f64 {
    10.0
}

fn default_idle() -> f64 {
    60.0
}

fn default_retries() -> u32 {
    4
}

fn default_backoff_base() -> f64 {
    0.5
}

fn default_backoff_most() -> f64 {
    20.0
}

fn default_retry_after_most() -> f64 {
    60.0
}

fn default_concurrency() -> usize {
    8
}

fn default_response_bytes() -> usize {
    16 << 20
}

fn default_embed_batch() -> usize {
    64
}
