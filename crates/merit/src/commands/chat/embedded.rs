//! A chat with a model in this process: one session whose context only ever grows.

use super::pieces::Pieces;
use super::{MAX_TOKENS, Speaker, TEMPERATURE, Tally};
use crate::cli::models::Chat;
use crate::commands::WrongInput;
use crate::commands::local::{self, Local};
use crate::out;
use anyhow::{Result, bail};
use merit_core::{Message, Role, Seed, TokenId};
use merit_model::{
    Completion, CompletionSink, Pump, SampleRequest, Sampler as _, SamplerError, SamplingParams, SessionId,
    StopReason, Tokenizer,
};
use merit_rollout::ChatFormat;
use merit_text::TemplateContext;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

const SESSION: SessionId = SessionId(0);

pub(super) struct Embedded {
    local: Local,
    format: ChatFormat,
    params: Arc<SamplingParams>,
    seed: Seed,
    system: Option<String>,
    context: Vec<TokenId>,
    tally: Tally,
}

impl Embedded {
    pub(super) fn open(arguments: &Chat) -> Result<Self> {
        let local = Local::open(&arguments.model, &arguments.engine, 1)?;
        let format = local::chat_format(&local.model, &TemplateContext::default()).map_err(WrongInput)?;
        let params = SamplingParams {
            stop_tokens: local::ends(&local.model, &format),
            ..local::params(&arguments.sampling, TEMPERATURE, MAX_TOKENS)
        };
        params.check(local.vocab()).map_err(WrongInput)?;
        Ok(Self {
            local,
            format,
            params: Arc::new(params),
            seed: Seed::root(arguments.sampling.seed),
            system: arguments.system.clone(),
            context: Vec::new(),
            tally: Tally { read: Some(0), written: Some(0), ..Tally::default() },
        })
    }

    /// The tokens of a message, behind everything so far.
    fn observe(&self, message: &str) -> Vec<TokenId> {
        let system = self.system.as_ref().filter(|_| self.context.is_empty());
        let mut messages: Vec<Message> =
            system.map(|text| Message::new(Role::System, text)).into_iter().collect();
        messages.push(Message::new(Role::User, message));
        let turn = u32::try_from(self.tally.answers).unwrap_or(u32::MAX);
        let segments = self.format.observe(&self.context, &messages, turn, true);
        segments.into_iter().flat_map(|segment| segment.tokens).collect()
    }
}

impl Speaker for Embedded {
    fn answer(&mut self, message: &str, stop: &Arc<AtomicBool>) -> Result<()> {
        let begun = Instant::now();
        let heard = self.observe(message);
        let length = self.context.len() + heard.len();
        let limit = self.local.generator.context_limit();
        if length >= limit {
            bail!(WrongInput(format!(
                "the conversation has {length} tokens and the context holds {limit}; begin anew, or give --context"
            )));
        }
        self.context.extend(&heard);
        let request = SampleRequest {
            session: SESSION,
            context: self.context.clone(),
            params: Arc::clone(&self.params),
            seed: self.seed.child("answer", self.tally.answers as u64),
        };
        let listener = Arc::new(Mutex::new(Listener::new(Arc::clone(self.local.tokenizer()))));
        let done = speak(&mut self.local, request, &listener, stop);
        let mut listener = held(&listener);
        self.context.extend(&listener.drawn);
        self.tally.answers += 1;
        self.tally.read = self.tally.read.map(|read| read + heard.len() as u64);
        self.tally.written = self.tally.written.map(|written| written + listener.drawn.len() as u64);
        self.tally.spent += begun.elapsed();
        listener.finish()?;
        if let Some(remark) = done?.and_then(|said| remark(&said)) {
            super::remark(&remark);
        }
        Ok(())
    }

    fn tally(&self) -> Tally {
        self.tally
    }
}

/// What must be said of an answer that is not one a reader would expect.
fn remark(said: &Completion) -> Option<String> {
    match said.stop {
        StopReason::MaxTokens => Some(super::CUT.to_owned()),
        StopReason::ContextFull => Some("the answer is cut: the context is full; give --context".to_owned()),
        _ if said.tokens.len() <= 1 => Some(super::EMPTY.to_owned()),
        StopReason::StopString | StopReason::StopToken | StopReason::ConstraintMet => None,
    }
}

/// Draws until the answer ends, somebody stops it, or the output has no reader. Absent: it did not end by itself.
fn speak(
    local: &mut Local,
    request: SampleRequest,
    listener: &Arc<Mutex<Listener>>,
    stop: &AtomicBool,
) -> Result<Option<Completion>, SamplerError> {
    let ended: Arc<Mutex<Option<Result<Completion, SamplerError>>>> = Arc::default();
    let (put, watch) = (Arc::clone(&ended), Arc::clone(listener));
    let sink = CompletionSink::new(move |answer| {
        *put.lock().unwrap_or_else(PoisonError::into_inner) = Some(answer.result);
    })
    .with_tokens(move |drawn| held(&watch).hear(drawn.drawn.token));
    local.generator.submit(request);
    loop {
        let idle = local.generator.pump(&sink) == Pump::Idle;
        if let Some(result) = ended.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return result.map(Some);
        }
        if idle {
            return Err(SamplerError::Failed("it fell silent without an answer".to_owned()));
        }
        if stop.load(Ordering::SeqCst) || held(listener).broken.is_some() {
            local.generator.close(SESSION);
            return Ok(None);
        }
    }
}

fn held(listener: &Mutex<Listener>) -> MutexGuard<'_, Listener> {
    listener.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Hears tokens as they are drawn, keeps them and prints them.
struct Listener {
    tokenizer: Arc<Tokenizer>,
    drawn: Vec<TokenId>,
    pieces: Pieces,
    /// The first failure to print.
    broken: Option<std::io::Error>,
}

impl Listener {
    fn new(tokenizer: Arc<Tokenizer>) -> Self {
        Self { tokenizer, drawn: Vec::new(), pieces: Pieces::default(), broken: None }
    }

    fn hear(&mut self, token: TokenId) {
        self.drawn.push(token);
        if self.broken.is_none() {
            self.broken = self.pieces.put(self.tokenizer.bytes(token)).err();
        }
    }

    /// Ends the line, and says whether printing failed.
    fn finish(&mut self) -> std::io::Result<()> {
        match self.broken.take() {
            Some(error) => Err(error),
            None => self.pieces.finish().and_then(|()| out::text("\n")),
        }
    }
}
