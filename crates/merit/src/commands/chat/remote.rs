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
    Finish, Params, Piece, wait,
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
    let Some(config) = server(&arguments.model, &arguments.server)? else { return Ok(None) };
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
    /// Whether the last piece was thought and not said.
    thinking: bool,
    broken: Option<std::io::Error>,
}

impl Heard {
    fn hear(&mut self, piece: &Piece) {
        let turned = self.thinking != matches!(piece, Piece::Reasoning(_));
        let shown = match piece {
            Piece::Text(text) => {
                self.text.push_str(text);
                let gap = if turned { out::text("\n\n") } else { Ok(()) };
                self.thinking = false;
                gap.and_then(|()| show(text))
            }
            Piece::Reasoning(text) => {
                let mark = if turned { out::text("[thinking] ") } else { Ok(()) };
                self.thinking = true;
                mark.and_then(|()| show(text))
            }
            Piece::Restart => {
                let begun = !self.text.is_empty() || self.thinking;
                self.text.clear();
                self.thinking = false;
                if begun { out::text("\n[the answer broke off and begins anew]\n") } else { Ok(()) }
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
        let Heard { text, broken, .. } =
            std::mem::take(&mut *heard.lock().unwrap_or_else(PoisonError::into_inner));
        if let Some(error) = broken {
            return Err(error.into());
        }
        out::text("\n")?;
        match asked {
            Ok(answer) => {
                self.keep(answer.text.clone(), Some(&answer), begun.elapsed());
                remarks(&answer).iter().for_each(|text| super::remark(text));
            }
            Err(EndpointError::Cancelled) => self.keep(text, None, begun.elapsed()),
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    fn tally(&self) -> Tally {
        self.tally
    }
}

/// What must be said of an answer that is not one a reader would expect.
fn remarks(answer: &Answer) -> Vec<String> {
    let mut remarks = Vec::new();
    if !answer.refusal.is_empty() {
        remarks.push(format!("the model refuses: {}", answer.refusal));
    }
    for call in &answer.tool_calls {
        remarks.push(format!("it calls `{}` {}, and a chat has no tools", call.name, call.arguments));
    }
    match &answer.finish {
        Finish::Length => remarks.push(super::CUT.to_owned()),
        Finish::ContentFilter => remarks.push("the server's filter took the answer away".to_owned()),
        Finish::Other(reason) => {
            remarks.push(format!("the answer ended for a reason of the server's own: {reason}"));
        }
        Finish::Stop | Finish::ToolCalls => {}
    }
    if answer.text.trim().is_empty() {
        if !answer.reasoning.is_empty() {
            remarks.push("it was only thought: nothing was said".to_owned());
        } else if remarks.is_empty() {
            remarks.push(super::EMPTY.to_owned());
        }
    }
    remarks
}

/// Cancels a request when Ctrl-C was pressed or the output has no reader; ends when it is dropped.
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
