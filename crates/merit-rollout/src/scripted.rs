//! A sampler that follows a script: for tests of worlds, tools, limits and failures.

use crate::ChatFormat;
use crate::oracle::{spoken, turns_of};
use merit_api::ExpertTurn;
use merit_core::Seed;
use merit_model::{
    CompletionSink, Pump, SampleRequest, Sampler, SamplerError, SessionId, SessionResult, StopReason,
};

/// What the script is asked.
#[derive(Debug, Clone)]
pub struct Cue {
    pub session: SessionId,
    pub turns: Vec<ExpertTurn>,
    /// The seed of the turn.
    pub seed: Seed,
}

/// What the script answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// Says this text and ends the turn.
    Say(String),
    /// An error of the model.
    Break(String),
    /// Nothing, ever: a request that was lost.
    Silence,
}

/// Says what a function tells it to say, with log-probability -0.5 for every token.
pub struct ScriptedSampler<F> {
    chat: ChatFormat,
    script: F,
    asked: Vec<SampleRequest>,
    lost: usize,
    values: bool,
    context_limit: usize,
}

impl<F: FnMut(&Cue) -> Reply + Send> ScriptedSampler<F> {
    /// A sampler that follows `script`.
    pub fn new(chat: &ChatFormat, script: F) -> Self {
        Self {
            chat: chat.clone(),
            script,
            asked: Vec::new(),
            lost: 0,
            values: false,
            context_limit: usize::MAX,
        }
    }

    /// Gives values too: the value of a state is the number of its tokens.
    #[must_use]
    pub fn with_values(mut self) -> Self {
        self.values = true;
        self
    }

    /// Holds at most `tokens` tokens of context.
    #[must_use]
    pub fn with_context_limit(mut self, tokens: usize) -> Self {
        self.context_limit = tokens;
        self
    }

    fn answer(&mut self, request: &SampleRequest, sink: &CompletionSink) {
        let turns = turns_of(self.chat.read(&request.context));
        let cue = Cue { session: request.session, turns, seed: request.seed };
        let result = match (self.script)(&cue) {
            Reply::Silence => {
                self.lost += 1;
                return;
            }
            Reply::Break(why) => Err(SamplerError::Failed(why)),
            Reply::Say(text) => {
                let mut said = spoken(&self.chat, request, &text);
                let room = self.context_limit.saturating_sub(request.context.len());
                if said.tokens.len() > room {
                    said.tokens.truncate(room);
                    said.stop = StopReason::ContextFull;
                }
                said.logprobs = vec![-0.5; said.tokens.len()];
                if self.values {
                    let before = request.context.len();
                    said.values = (0..said.tokens.len()).map(|at| (before + at) as f32).collect();
                }
                Ok(said)
            }
        };
        sink.put(SessionResult { session: request.session, result });
    }
}

impl<F: FnMut(&Cue) -> Reply + Send> Sampler for ScriptedSampler<F> {
    fn submit(&mut self, request: SampleRequest) {
        self.asked.push(request);
    }

    fn pump(&mut self, sink: &CompletionSink) -> Pump {
        for request in std::mem::take(&mut self.asked) {
            self.answer(&request, sink);
        }
        Pump::Idle
    }

    fn close(&mut self, session: SessionId) {
        self.asked.retain(|request| request.session != session);
    }

    fn sees_all(&self) -> bool {
        true
    }

    fn context_limit(&self) -> usize {
        self.context_limit
    }

    fn waiting(&self) -> String {
        format!("script: {} requests queued, {} lost", self.asked.len(), self.lost)
    }
}
