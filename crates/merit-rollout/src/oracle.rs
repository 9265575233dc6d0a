//! The `oracle` backend: a sampler that says what the world's own expert would say.
//!
//! It keeps nothing between turns: the context is read back into turns by its role markers, and the expert is asked
//! what comes next. Every token has log-probability 0, because a program chose it for certain. With `p_correct` below 1 the
//! expert errs, and with `manners` it plays in manners that have names, which gives warm starts their variety.

use crate::guard::caught;
use crate::{ChatFormat, EpisodePlan, session_of};
use merit_api::{Expert, ExpertTurn, World};
use merit_core::{About, Message, Provenance, Role, Seed, Task};
use merit_model::{
    Completion, CompletionSink, Counted, Pump, SampleRequest, Sampler, SamplerError, SessionId,
    SessionResult, StopReason,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// How well the oracle plays.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OracleSettings {
    /// Probability that an episode is played right; in the others the expert errs.
    #[serde(alias = "skill")]
    pub p_correct: f64,
    /// The shares of episodes that are played in named manners of the world; they add up to 1. Empty: `p_correct` decides.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub manners: BTreeMap<String, f64>,
}

impl Default for OracleSettings {
    fn default() -> Self {
        Self { p_correct: 1.0, manners: BTreeMap::new() }
    }
}

impl OracleSettings {
    /// The manner of the episode that `seed` belongs to: the same in all its turns. Absent: `p_correct` decides.
    pub fn manner(&self, seed: &Seed) -> Option<&str> {
        let mut left = seed.child("named manner", 0).stream().unit();
        let drawn = |(_, share): &(&String, &f64)| {
            left -= **share;
            left < 0.0
        };
        let shown = || self.manners.iter().filter(|(_, share)| **share > 0.0);
        // Shares that add up to a hair less than 1 leave the last one.
        shown().find(drawn).or_else(|| shown().next_back()).map(|(name, _)| name.as_str())
    }
}

/// A world that cannot show how it is done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "world `{world}` has no expert, so nobody can show how its tasks are done: no oracle plays it, and no warm start can imitate one; name a model in `[roles.teacher]`, or leave `[warm_start]` out"
)]
pub struct NoExpert {
    pub world: &'static str,
}

/// Says what the expert would say, for the episodes of given plans.
pub struct OracleSampler<'a> {
    expert: &'a dyn Expert,
    chat: ChatFormat,
    settings: OracleSettings,
    plans: HashMap<SessionId, (Arc<Task>, Seed)>,
    asked: Vec<SampleRequest>,
}

impl<'a> OracleSampler<'a> {
    pub const ABOUT: About = About {
        name: "oracle",
        summary: "the world's own expert; p_correct 1 is the exact solution",
        paper: "",
    };

    /// An oracle for the episodes of `plans` in `world`.
    pub fn new(
        world: &'a dyn World,
        chat: &ChatFormat,
        settings: &OracleSettings,
        plans: &[EpisodePlan],
    ) -> Result<Self, NoExpert> {
        let expert = world.expert().ok_or_else(|| NoExpert { world: world.about().name })?;
        Ok(Self::following(expert, chat, settings, plans))
    }

    /// A sampler that says what `expert` tells it.
    pub fn following(
        expert: &'a dyn Expert,
        chat: &ChatFormat,
        settings: &OracleSettings,
        plans: &[EpisodePlan],
    ) -> Self {
        let known = plans.iter().map(|plan| (session_of(&plan.id), (Arc::clone(&plan.task), plan.seed)));
        Self {
            expert,
            chat: chat.clone(),
            settings: settings.clone(),
            plans: known.collect(),
            asked: Vec::new(),
        }
    }

    fn answer(&self, request: &SampleRequest) -> Result<Completion, SamplerError> {
        let (task, seed) = self.plans.get(&request.session).ok_or_else(|| {
            broken(
                "the oracle was not given the plan of this episode; make it with the same plans".to_owned(),
            )
        })?;
        let turns = turns_of(self.chat.read(&request.context));
        let say = || match self.settings.manner(seed) {
            Some(manner) => self.expert.say_in(manner, task, &turns, seed),
            None => self.expert.say(task, &turns, self.settings.p_correct, seed),
        };
        let said = caught(say)
            .map_err(|panic| broken(format!("the expert {panic}")))?
            .map_err(|error| broken(error.to_string()))?;
        Ok(spoken(&self.chat, request, &said))
    }
}

impl Sampler for OracleSampler<'_> {
    fn submit(&mut self, request: SampleRequest) {
        self.asked.push(request);
    }

    fn pump(&mut self, sink: &CompletionSink) -> Pump {
        for request in std::mem::take(&mut self.asked) {
            sink.put(SessionResult { session: request.session, result: self.answer(&request) });
        }
        Pump::Idle
    }

    fn close(&mut self, session: SessionId) {
        self.asked.retain(|request| request.session != session);
    }

    fn context_limit(&self) -> usize {
        usize::MAX
    }

    fn sees_all(&self) -> bool {
        true
    }

    fn provenance(&self) -> Provenance {
        Provenance::Synthetic
    }

    fn waiting(&self) -> String {
        format!("oracle: {} requests", self.asked.len())
    }
}

/// The completion that says `text` for certain, within the limits of the request.
pub(crate) fn spoken(chat: &ChatFormat, request: &SampleRequest, text: &str) -> Completion {
    let said = chat.say(text, &request.params.stop);
    let mut tokens = said.tokens;
    let mut stop = if said.stop_string { StopReason::StopString } else { StopReason::StopToken };
    if tokens.len() > request.params.max_tokens {
        tokens.truncate(request.params.max_tokens);
        stop = StopReason::MaxTokens;
    }
    let logprobs = vec![0.0; tokens.len()];
    let (values, top_logprobs) = (Vec::new(), Vec::new());
    Completion {
        session: request.session,
        tokens,
        logprobs,
        values,
        top_logprobs,
        stop,
        counted: Counted::Here,
    }
}

fn broken(why: String) -> SamplerError {
    SamplerError::Failed(why)
}

/// The turns of a conversation: what the policy said and what was observed after it. The opening is left out.
pub(crate) fn turns_of(messages: Vec<Message>) -> Vec<ExpertTurn> {
    let mut turns: Vec<ExpertTurn> = Vec::new();
    for message in messages {
        if message.role == Role::Policy {
            turns.push(ExpertTurn { said: message.text, observed: Vec::new() });
        } else if let Some(turn) = turns.last_mut() {
            turn.observed.push(message);
        }
    }
    turns
}
