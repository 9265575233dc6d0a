//! A chat with a model behind an address, by the OpenAI protocol.

use super::pieces::show;
use super::{Speaker, TEMPERATURE, Tally};
use crate::cli::models::{Chat, server};
use crate::commands::WrongInput;
use crate::out;
use anyhow::{Result, bail};
use merit_core::Seed;
use merit_endpoint::{
    Answer, CancellationToken, ChatMessage, ChatRequest, ChatRole, Endpoint, EndpointConfig, EndpointError,
    Params, Piece, wait,
};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often Ctrl-C is looked for.
const GLANCE: Duration = Duration::from_millis(30);

pub(super) struct Remote {
    endpoint: Endpoint,
    request: ChatRequest,
    tally: Tally,
}

/// The settings of an endpoint where the model is an address; absent where it is a path.
pub(super) fn address(arguments: &Chat) -> Result<Option<EndpointConfig>> {
    let Some(config) = server(&arguments.model, arguments.api_key_env.as_deref())? else { return Ok(None) };
    let url = &config.base_url;
    let engine = &arguments.engine;
    let unused = [
        ("--threads", engine.threads.is_some()),
        ("--context", engine.context.is_some()),
        ("--precision", engine.precision.is_some()),
    ];
    if let Some((flag, _)) = unused.iter().find(|(_, given)| *given) {
        bail!(WrongInput(format!(
            "{flag} is for a model in this process; the server at {url} decides for itself"
        )));
    }
    Ok(Some(config))
}

impl Remote {
    pub(super) fn open(arguments: &Chat, config: &EndpointConfig) -> Result<Self> {
        let flags = &arguments.sampling;
        let endpoint =
            Endpoint::open(config, Seed::root(flags.seed)).map_err(|error| WrongInput(error.to_string()))?;
        let params = Params {
            temperature: Some(flags.temperature.unwrap_or(TEMPERATURE)),
            top_p: flags.top_p,
            top_k: flags.top_k,
            min_p: flags.min_p,
            max_tokens: flags.max_tokens.map(|most| most as usize),
            seed: Some(flags.seed),
            ..Params::default()
        };
        let messages = arguments.system.iter().map(ChatMessage::system).collect();
        let request = ChatRequest { messages, tools: Vec::new(), params };
        Ok(Self { endpoint, request, tally: Tally { read: Some(0), written: Some(0), ..Tally::default() } })
    }

    /// Takes note of what was said, whole or not.
    fn keep(&mut self, text: String, answer: Option<&Answer>, spent: Duration) {
        self.request.messages.push(ChatMessage::new(ChatRole::Assistant, text));
        let usage = answer.and_then(|answer| answer.usage);
        let add = |sum: Option<u64>, more: Option<u64>| Some(sum? + more?);
        self.tally.answers += 1;
        self.tally.read = add(self.tally.read, usage.map(|usage| usage.prompt_tokens));
        self.tally.written = add(self.tally.written, usage.map(|usage| usage.completion_tokens));
        self.tally.spent += spent;
    }
}

/// What came so far, and whether it could be printed.
#[derive(Default)]
struct Heard {
    text: String,
    broken: Option<std::io::Error>,
}

impl Heard {
    fn hear(&mut self, piece: &Piece) {
        let shown = match piece {
            Piece::Text(text) => {
                self.text.push_str(text);
                show(text)
            }
            Piece::Reasoning(text) => show(text),
            Piece::Restart => {
                self.text.clear();
                out::text("\n[the answer broke off and begins anew]\n")
            }
        };
        self.broken = self.broken.take().or(shown.err());
    }
}

impl Speaker for Remote {
    fn answer(&mut self, message: &str, stop: &Arc<AtomicBool>) -> Result<()> {
        let begun = Instant::now();
        self.request.messages.push(ChatMessage::user(message));
        let heard: Arc<Mutex<Heard>> = Arc::default();
        let listener = Arc::clone(&heard);
        let token = CancellationToken::new();
        let endpoint = self.endpoint.cancelled_by(token.clone());
        let asked = {
            let _watch = Watch::begin(stop, token, Arc::clone(&heard));
            wait(endpoint.chat_aloud(&self.request, move |piece| {
                listener.lock().unwrap_or_else(PoisonError::into_inner).hear(&piece);
            }))
        };
        let Heard { text, broken } =
            std::mem::take(&mut *heard.lock().unwrap_or_else(PoisonError::into_inner));
        if let Some(error) = broken {
            return Err(error.into());
        }
        out::text("\n")?;
        match asked {
            Ok(answer) => self.keep(answer.text.clone(), Some(&answer), begun.elapsed()),
            Err(EndpointError::Cancelled) => self.keep(text, None, begun.elapsed()),
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    fn tally(&self) -> Tally {
        self.tally
    }
}

/// Cancels a request when Ctrl-C was pressed or nobody reads any more; ends when it is dropped.
struct Watch {
    over: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Watch {
    fn begin(stop: &Arc<AtomicBool>, token: CancellationToken, heard: Arc<Mutex<Heard>>) -> Self {
        let over: Arc<AtomicBool> = Arc::default();
        let (stop, ended) = (Arc::clone(stop), Arc::clone(&over));
        let thread = std::thread::spawn(move || {
            while !ended.load(Ordering::SeqCst) {
                let unread = heard.lock().unwrap_or_else(PoisonError::into_inner).broken.is_some();
                if unread || stop.load(Ordering::SeqCst) {
                    return token.cancel();
                }
                std::thread::park_timeout(GLANCE);
            }
        });
        Self { over, thread: Some(thread) }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // It only waits and never panics; were it to, the answer is there all the same.
            let _ = thread.join();
        }
    }
}
