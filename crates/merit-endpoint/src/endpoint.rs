//! A model behind an address: ask, wait, try again, keep.
//!
//! [`Endpoint`] is cheap to clone; all clones share connections, the concurrency limit and kept answers. Every call is a future
//! that may be awaited anywhere; when it is dropped, or the handle's token is cancelled, the connection is closed.

use crate::address::Address;
use crate::answer::{Answer, ModelCard, Piece};
use crate::cache::{AnswerFile, Key};
use crate::config::{CacheMode, span};
use crate::exchange::{self, Listener};
use crate::field::At;
use crate::message::ChatMessage;
use crate::params::Params;
use crate::request::{Call, ChatRequest, TextRequest};
use crate::retry::{Next, next};
use crate::secret::ApiKey;
use crate::transport::Http;
use crate::trouble::Trouble;
use crate::{EndpointConfig, EndpointError};
use merit_core::Seed;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::future::Future;
use std::sync::Arc;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep_until, timeout_at};
use tokio_util::sync::CancellationToken;

/// A model behind an address.
///
/// ```
/// use merit_endpoint::{ChatMessage, Endpoint, EndpointConfig, Params, Reply, ScriptedServer, wait};
///
/// let server = ScriptedServer::start(|_| Reply::chat("Paris."))?;
/// let endpoint = Endpoint::open(&EndpointConfig::new(server.base_url(), "tiny"), merit_core::Seed::root(1))?;
/// let question = [ChatMessage::user("What is the capital of France?")];
/// let answer = wait(endpoint.complete(&question, &Params { max_tokens: Some(8), ..Params::default() }))?;
/// assert_eq!(answer.text, "Paris.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Endpoint {
    inner: Arc<Inner>,
    cancel: CancellationToken,
}

#[derive(Debug)]
struct Inner {
    config: EndpointConfig,
    http: Http,
    permits: Arc<Semaphore>,
    kept: Option<AnswerFile>,
    seed: Seed,
}

impl Endpoint {
    /// Opens the endpoint that `config` describes: reads the key, opens the file of kept answers, asks nothing yet. Pauses before
    /// further tries are drawn from `seed`. A strict replay needs no key.
    pub fn open(config: &EndpointConfig, seed: Seed) -> Result<Self, EndpointError> {
        config.validate()?;
        let address = Address::of(config)?;
        let replays = config.cache.mode == CacheMode::Replay;
        let key = match &config.api_key_env {
            Some(name) if !replays => Some(ApiKey::from_env(name)?),
            _ => None,
        };
        let kept = match (&config.cache.path, config.cache.mode) {
            (None, _) | (_, CacheMode::Off) => None,
            (Some(path), CacheMode::Replay) => Some(AnswerFile::open(path)?),
            (Some(path), mode) => Some(AnswerFile::open_writable(path, mode == CacheMode::Record)?),
        };
        let inner = Inner {
            http: Http::new(config, address, key)?,
            permits: Arc::new(Semaphore::new(config.concurrency.min(Semaphore::MAX_PERMITS))),
            config: config.clone(),
            kept,
            seed,
        };
        Ok(Self { inner: Arc::new(inner), cancel: CancellationToken::new() })
    }

    /// The same endpoint, whose calls end with [`EndpointError::Cancelled`] when `token` is cancelled.
    #[must_use]
    pub fn cancelled_by(&self, token: CancellationToken) -> Self {
        Self { inner: Arc::clone(&self.inner), cancel: token }
    }

    pub fn config(&self) -> &EndpointConfig {
        &self.inner.config
    }

    /// Requests that are under way; those that wait for the limit are not counted.
    pub fn under_way(&self) -> usize {
        self.inner.config.concurrency.saturating_sub(self.inner.permits.available_permits())
    }

    /// How many answers are kept, and how many damaged lines of the file were read over. Absent: nothing is kept.
    pub fn kept(&self) -> Option<(usize, usize)> {
        self.inner.kept.as_ref().map(AnswerFile::counts)
    }

    /// The next message of a conversation, without tools.
    pub async fn complete(&self, messages: &[ChatMessage], params: &Params) -> Result<Answer, EndpointError> {
        let request = ChatRequest { messages: messages.to_vec(), tools: Vec::new(), params: params.clone() };
        self.chat(&request).await
    }

    /// The next message of a conversation.
    pub async fn chat(&self, request: &ChatRequest) -> Result<Answer, EndpointError> {
        let call = Call::chat(&self.inner.config, request, self.inner.config.stream)?;
        self.generate(call, self.inner.config.stream, None).await
    }

    /// The next message of a conversation, streamed; `listener` hears the pieces as they come, and nothing of a kept answer.
    pub async fn chat_aloud(
        &self,
        request: &ChatRequest,
        listener: impl Fn(Piece) + Send + Sync + 'static,
    ) -> Result<Answer, EndpointError> {
        let call = Call::chat(&self.inner.config, request, true)?;
        self.generate(call, true, Some(Arc::new(listener))).await
    }

    /// The continuation of a text or of tokens.
    pub async fn continue_text(&self, request: &TextRequest) -> Result<Answer, EndpointError> {
        let call = Call::text(&self.inner.config, request, self.inner.config.stream)?;
        self.generate(call, self.inner.config.stream, None).await
    }

    /// One vector per text, all of the same length.
    pub async fn embeddings(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EndpointError> {
        let texts: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
        let batches = texts.chunks(self.inner.config.embed_batch).map(|batch| self.embed(batch));
        let vectors: Vec<Vec<f32>> =
            futures::future::try_join_all(batches).await?.into_iter().flatten().collect();
        let lengths = (vectors.first().map(Vec::len), vectors.iter().map(Vec::len).max());
        match lengths {
            (Some(first), Some(longest)) if vectors.iter().any(|vector| vector.len() != first) => {
                Err(self
                    .malformed(format!("vectors of {first} and of {longest} or fewer numbers in one answer")))
            }
            _ => Ok(vectors),
        }
    }

    /// The models that the server offers. Never kept: it is asked to learn what is there now.
    pub async fn models(&self) -> Result<Vec<ModelCard>, EndpointError> {
        let inner = Arc::clone(&self.inner);
        let work =
            async move { inner.tried(&Call::models(), |call| exchange::json(&inner.http, call)).await };
        let value = self.remote(work).await?;
        crate::listing::models(&At::top("the answer", &value)).map_err(|bad| self.malformed(bad.0))
    }

    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EndpointError> {
        let call = Call::embeddings(&self.inner.config, texts);
        let (inner, wanted) = (Arc::clone(&self.inner), texts.len());
        self.remote(async move {
            let ask = || async {
                let value = inner.tried(&call, |call| exchange::json(&inner.http, call)).await?;
                let read = crate::listing::vectors(&At::top("the answer", &value), wanted);
                read.map_err(|bad| inner.failed(Trouble::Malformed(bad.0), 1))
            };
            inner.found_or(&call, ask).await
        })
        .await
    }

    async fn generate(
        &self,
        call: Call,
        stream: bool,
        listener: Option<Listener>,
    ) -> Result<Answer, EndpointError> {
        let inner = Arc::clone(&self.inner);
        self.remote(async move {
            let attempts = std::sync::atomic::AtomicU32::new(0);
            let once = |call| {
                let (http, config) = (&inner.http, &inner.config);
                let first = attempts.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 0;
                if let (false, Some(listener)) = (first, &listener) {
                    listener(Piece::Restart);
                }
                let listener = listener.as_ref();
                async move {
                    if stream {
                        exchange::streamed(http, config, call, listener).await
                    } else {
                        exchange::whole(http, call).await
                    }
                }
            };
            inner.found_or(&call, || inner.tried(&call, once)).await
        })
        .await
    }

    /// Runs `work` on the threads of this crate, until it is done or unwanted.
    async fn remote<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, EndpointError>> + Send + 'static,
    ) -> Result<T, EndpointError> {
        let cancel = self.cancel.clone();
        let task = crate::spawn(async move { cancel.run_until_cancelled(work).await })?;
        task.await.map_err(EndpointError::Threads)?.unwrap_or(Err(EndpointError::Cancelled))
    }

    fn malformed(&self, what: String) -> EndpointError {
        self.inner.failed(Trouble::Malformed(what), 1)
    }
}

impl Inner {
    /// The kept answer to `call`, or what `ask` says, kept where the mode says so.
    async fn found_or<T, F>(&self, call: &Call, ask: impl FnOnce() -> F) -> Result<T, EndpointError>
    where
        T: Serialize + DeserializeOwned,
        F: Future<Output = Result<T, EndpointError>>,
    {
        let Some(kept) = &self.kept else { return ask().await };
        let key = Key::new(&call.question(), call.sample);
        let read =
            |value| serde_json::from_value(value).map_err(|error| kept.unreadable(&key, &error.to_string()));
        if self.config.cache.mode != CacheMode::Record
            && let Some(value) = kept.find(&key)?
        {
            return Ok(read(value)?);
        }
        if self.config.cache.mode == CacheMode::Replay {
            return Err(not_recorded(kept, call, &key));
        }
        let answer = ask().await?;
        let value =
            serde_json::to_value(&answer).map_err(|error| kept.unreadable(&key, &error.to_string()))?;
        let (asked, value) = (self.http.clean(&call.in_words()), self.http.clean_value(value));
        match kept.keep(&key, &asked, &value)? {
            Some(earlier) => Ok(read(earlier)?),
            None => Ok(answer),
        }
    }

    /// Tries until there is an answer, the tries are spent or the time is up.
    async fn tried<'a, T, F>(&self, call: &'a Call, once: impl Fn(&'a Call) -> F) -> Result<T, EndpointError>
    where
        F: Future<Output = Result<T, Trouble>>,
    {
        let _permit =
            self.permits.acquire().await.map_err(|error| EndpointError::Threads(error.to_string()))?;
        let deadline = Instant::now() + span(self.config.deadline_s);
        let seed =
            self.seed.child("request", Key::new(&call.question(), 0).head()).child("sample", call.sample);
        let (mut tries, mut last) = (0_u32, None::<Trouble>);
        loop {
            tries = tries.saturating_add(1);
            let trouble = match timeout_at(deadline, once(call)).await {
                Ok(Ok(answer)) => return Ok(answer),
                Ok(Err(trouble)) => trouble,
                Err(_) => return Err(self.late(tries, last.as_ref())),
            };
            if !trouble.may_pass(self.config.retry_cut) {
                return Err(self.failed(trouble, tries));
            }
            match next(&self.config, &seed, tries, trouble.retry_after()) {
                Next::After(pause) if Instant::now() + pause < deadline => {
                    sleep_until(Instant::now() + pause).await
                }
                Next::After(_) => return Err(self.late(tries, Some(&trouble))),
                Next::Spent | Next::TooLong => return Err(self.failed(trouble, tries)),
            }
            last = Some(trouble);
        }
    }

    fn late(&self, tries: u32, last: Option<&Trouble>) -> EndpointError {
        EndpointError::Deadline {
            endpoint: self.http.address().shown().to_owned(),
            after_s: self.config.deadline_s,
            tries,
            doing: match last {
                Some(trouble) => format!("the try before failed: {}", trouble.in_words()),
                None => "it was waiting for the answer".to_owned(),
            },
        }
    }

    fn failed(&self, trouble: Trouble, tries: u32) -> EndpointError {
        trouble.into_error(self.http.address().shown(), tries, self.config.api_key_env.as_deref())
    }
}

fn not_recorded(kept: &AnswerFile, call: &Call, key: &Key) -> EndpointError {
    let samples = kept.samples(key);
    let nearest = if samples.is_empty() {
        format!("none of its {} answers is to this request ({})", kept.counts().0, key.hex())
    } else {
        let shown: Vec<String> = samples.iter().take(8).map(u64::to_string).collect();
        let more = if samples.len() > 8 { ", …" } else { "" };
        format!("of this request it holds samples {}{more}", shown.join(", "))
    };
    EndpointError::NotRecorded { path: kept.path().display().to_string(), asked: call.in_words(), nearest }
}
