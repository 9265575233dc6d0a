//! The `openai` backend: a sampler whose words come from a model behind an endpoint.
//!
//! The context is read back into messages and sent as a conversation, or sent token by token to a server that shares the
//! vocabulary. Many requests are under way at once, up to the endpoint's limit; answers come through the sink from the endpoint's
//! own threads. A failure of the endpoint is an error of the sampler, never something that the policy said.

mod native;
mod settings;
mod turn;

pub use settings::{CallForm, LogprobKind, OpenAiSettings, PromptForm, TokenSource, ToolRole};

use crate::ChatFormat;
use merit_core::{About, Provenance, Seed};
use merit_endpoint::{Endpoint, EndpointError, Task, spawn};
use merit_model::{CompletionSink, Pump, SampleRequest, Sampler, SamplerError, SessionId, SessionResult};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use turn::{Turns, failed};

/// Says what a model behind an endpoint says.
pub struct OpenAiSampler {
    endpoint: Endpoint,
    turns: Arc<Turns>,
    queued: Vec<SampleRequest>,
    faults: Vec<SessionResult>,
    under_way: UnderWay,
    started: u64,
}

/// Requests that are being answered, each with its number; dropping the task closes its connection.
type UnderWay = Arc<Mutex<HashMap<SessionId, (u64, Task<()>)>>>;

impl OpenAiSampler {
    pub const ABOUT: About = About {
        name: "openai",
        summary: "a model behind an OpenAI-compatible endpoint: vLLM, SGLang, llama.cpp or a hosted one",
        paper: "",
    };

    /// Opens the endpoint of `settings` for conversations in the format of `chat`. Pauses before further tries are drawn from
    /// the seed.
    pub fn open(settings: &OpenAiSettings, chat: &ChatFormat, seed: Seed) -> Result<Self, EndpointError> {
        settings.validate()?;
        let endpoint = Endpoint::open(&settings.endpoint, seed)?;
        let turns = Arc::new(Turns::new(settings.clone(), chat.clone()));
        let (queued, faults, under_way) = (Vec::new(), Vec::new(), UnderWay::default());
        Ok(Self { endpoint, turns, queued, faults, under_way, started: 0 })
    }

    fn start(&mut self, request: SampleRequest, sink: &CompletionSink) -> Result<(), SamplerError> {
        let question = self.turns.question(&request)?;
        let (session, number) = (request.session, self.started);
        let (endpoint, turns) = (self.endpoint.clone(), Arc::clone(&self.turns));
        let (under_way, sink) = (Arc::clone(&self.under_way), sink.clone());
        self.started += 1;
        let work = async move {
            let answer = question.ask(&endpoint).await;
            let result = answer.map_err(failed).and_then(|answer| turns.completion(&request, answer));
            let wanted = {
                let mut under_way = held(&under_way);
                let mine = under_way.get(&session).is_some_and(|(asked, _)| *asked == number);
                mine && under_way.remove(&session).is_some()
            };
            if wanted {
                sink.put(SessionResult { session, result });
            }
        };
        // Held while it starts, so that an answer cannot come before its place is taken.
        let mut under_way = held(&self.under_way);
        under_way.insert(session, (number, spawn(work).map_err(failed)?));
        Ok(())
    }
}

impl Sampler for OpenAiSampler {
    fn submit(&mut self, request: SampleRequest) {
        let session = request.session;
        let waits = self.queued.iter().any(|queued| queued.session == session);
        if waits || held(&self.under_way).contains_key(&session) {
            self.faults.push(SessionResult { session, result: Err(SamplerError::Busy) });
        } else {
            self.queued.push(request);
        }
    }

    fn pump(&mut self, sink: &CompletionSink) -> Pump {
        self.faults.drain(..).for_each(|fault| sink.put(fault));
        for request in std::mem::take(&mut self.queued) {
            let session = request.session;
            if let Err(error) = self.start(request, sink) {
                sink.put(SessionResult { session, result: Err(error) });
            }
        }
        Pump::Idle
    }

    fn close(&mut self, session: SessionId) {
        self.queued.retain(|request| request.session != session);
        held(&self.under_way).remove(&session);
    }

    fn context_limit(&self) -> usize {
        self.turns.context_limit()
    }

    fn provenance(&self) -> Provenance {
        self.turns.provenance()
    }

    fn waiting(&self) -> String {
        let (asked, at_server) = (held(&self.under_way).len() + self.queued.len(), self.endpoint.under_way());
        format!("{}: {asked} requests, {at_server} of them at the server", self.endpoint.config().base_url)
    }
}

impl Drop for OpenAiSampler {
    fn drop(&mut self) {
        held(&self.under_way).clear();
    }
}

fn held(under_way: &UnderWay) -> MutexGuard<'_, HashMap<SessionId, (u64, Task<()>)>> {
    under_way.lock().unwrap_or_else(PoisonError::into_inner)
}
