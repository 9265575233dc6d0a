//! One episode as a state machine: events in, effects out, no clock and no thread of its own.
//!
//! In: what the model said, what a tool answered, what time it is. Out: sample this context, run this call, or the finished
//! episode. The engine carries the effects out; the same machine runs in a test without one. Calls of one turn run one
//! after the other, because tools keep state. Deadlines are decided here, so they hold even when a tool never yields.

use crate::effect::{Effect, Event, Rules, WaitingOn};
use crate::guard::{guarded, guarded_infallible};
use crate::open_env::OpenEnv;
use crate::record::Record;
use crate::replay::Replay;
use crate::settings::span;
use crate::{ChatFormat, EpisodePlan, Start};
use merit_api::{StepResult, Termination, World};
use merit_core::{
    Boundary, End, Episode, Fault, Limit, Message, Provenance, Role, TokenId, ToolCall, TurnStop,
};
use merit_model::{Completion, Counted, SampleRequest, SamplingParams, SessionId, StopReason};
use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What an episode is in the middle of.
pub(crate) enum Phase {
    Asking,
    /// The episode is cut; the value of the state it was cut in is still to come.
    Valuing(Limit),
    Calling {
        call: u64,
        asked: ToolCall,
        /// Absent while it waits for a thread.
        started: Option<Instant>,
    },
    Over,
}

/// One episode in flight.
pub struct EpisodeMachine {
    plan: EpisodePlan,
    session: SessionId,
    pub(crate) rules: Arc<Rules>,
    params: Arc<SamplingParams>,
    pub(crate) open: OpenEnv,
    pub(crate) record: Record,
    pub(crate) replay: Option<Replay>,
    pub(crate) phase: Phase,
    /// When the present phase began.
    pub(crate) since: Instant,
    pub(crate) ends_by: Instant,
    pub(crate) calls: u64,
}

impl EpisodeMachine {
    /// Opens the plan's world and tools. The error is an episode that broke before it could begin.
    pub fn begin(
        plan: EpisodePlan,
        session: SessionId,
        world: &dyn World,
        rules: Arc<Rules>,
        now: Instant,
    ) -> Result<(Self, Effect), Box<Episode>> {
        let constrained = |ready: (OpenEnv, Record, Option<Replay>)| {
            let schema = || guarded_infallible(Boundary::Environment, || ready.0.env.schema());
            let held =
                rules.settings.grammar.then(|| rules.grammars.of(&rules.chat, schema()?)).transpose()?;
            Ok((ready, held))
        };
        let ((open, record, replay), constraint) =
            match set_up(&plan, world, &rules.chat).and_then(constrained) {
                Ok(ready) => ready,
                Err(fault) => {
                    return Err(Box::new(Record::default().into_episode(
                        &plan,
                        End::Failed { fault },
                        None,
                        None,
                    )));
                }
            };
        let settings = &rules.settings;
        let params = SamplingParams {
            temperature: settings.temperature,
            top_p: settings.top_p,
            max_tokens: settings.max_turn_tokens.min(settings.max_episode_tokens),
            stop: open.stops.clone(),
            stop_tokens: rules.chat.ends().to_vec(),
            calls: open.calls.clone(),
            constraint,
            ..SamplingParams::default()
        };
        let ends_by = now + span(settings.episode_seconds);
        let mut machine = Self {
            plan,
            session,
            params: Arc::new(params),
            rules,
            open,
            record,
            replay,
            phase: Phase::Over,
            since: now,
            ends_by,
            calls: 0,
        };
        let effect = machine.go_on(now);
        Ok((machine, effect))
    }

    /// Takes one event. Events that come too late, for a call or an episode that is over, change nothing.
    pub fn advance(&mut self, event: Event, now: Instant) -> Effect {
        match event {
            Event::Sampled(result) => self.sampled(result, now),
            Event::ToolStarted { call } => self.tool_started(call, now),
            Event::ToolAnswered { call, answer, seconds } => self.tool_answered(call, answer, seconds, now),
            Event::Tick => self.tick(now),
        }
    }

    /// When a [`Event::Tick`] will change something, unless something else happens first. Absent: it is over.
    pub fn deadline(&self) -> Option<Instant> {
        match &self.phase {
            Phase::Over => None,
            Phase::Asking | Phase::Valuing(_) => Some(self.ends_by),
            Phase::Calling { started, .. } => {
                Some(self.ends_by.min(started.unwrap_or(self.since) + self.tool_time()))
            }
        }
    }

    /// When the episode runs out of time, whatever it is doing.
    pub fn ends_by(&self) -> Instant {
        self.ends_by
    }

    /// What it is waiting for and since when. Absent: it is over.
    pub fn waiting_on(&self) -> Option<(WaitingOn, Instant)> {
        let on = match &self.phase {
            Phase::Over => return None,
            Phase::Asking | Phase::Valuing(_) => WaitingOn::Model,
            Phase::Calling { started: None, asked, .. } => WaitingOn::Thread(asked.tool.clone()),
            Phase::Calling { asked, .. } => WaitingOn::Tool(asked.tool.clone()),
        };
        Some((on, self.since))
    }

    /// Whether it is waiting for the model.
    pub fn asks_model(&self) -> bool {
        matches!(self.phase, Phase::Asking | Phase::Valuing(_))
    }

    /// Turns begun so far.
    pub fn turns(&self) -> u32 {
        self.record.next_turn()
    }

    /// Tokens sampled so far.
    pub fn policy_tokens(&self) -> u64 {
        self.record.cost.policy_tokens
    }

    /// Tokens that the policy has in sight.
    pub fn context_len(&self) -> usize {
        self.in_sight().len()
    }

    pub fn plan(&self) -> &EpisodePlan {
        &self.plan
    }

    pub(crate) fn chat(&self) -> &ChatFormat {
        &self.rules.chat
    }

    /// Repeats what is left to repeat, then asks the model.
    pub(crate) fn go_on(&mut self, now: Instant) -> Effect {
        match self.repeat() {
            Ok(Some((tool, call))) => self.call(tool, call, now),
            Ok(None) => match self.corrected() {
                Some(said) => self.said(said, Provenance::Spliced, now),
                None => self.ask(now),
            },
            Err(fault) => self.fail(fault),
        }
    }

    pub(crate) fn ask(&mut self, now: Instant) -> Effect {
        let settings = &self.rules.settings;
        let room = settings.max_episode_tokens.saturating_sub(self.record.cost.policy_tokens as usize);
        let cut = if now >= self.ends_by {
            Some(Limit::Time)
        } else if self.record.turns.len() >= self.max_turns() {
            Some(Limit::Turns)
        } else if room == 0 {
            Some(Limit::Tokens)
        } else if self.context_len() >= self.rules.context_limit {
            Some(Limit::Context)
        } else {
            None
        };
        if let Some(limit) = cut {
            return self.cut(limit, now);
        }
        let params = if room < self.params.max_tokens { self.params_with(room) } else { self.params.clone() };
        self.enter(Phase::Asking, now);
        Effect::Sample(self.request(params))
    }

    /// Cuts the episode. When the policy has values, the value at the cut is asked for by sampling one token from there;
    /// the token is thrown away. Where no token can be sampled any more, the last known value stands in for it.
    fn cut(&mut self, limit: Limit, now: Instant) -> Effect {
        let reachable = self.context_len() < self.rules.context_limit && now < self.ends_by;
        if !(self.record.has_values && reachable) {
            let last_known = self.record.last_value();
            return self.finish(End::Truncated { limit }, last_known);
        }
        let params = self.params_with(1);
        self.enter(Phase::Valuing(limit), now);
        Effect::Sample(self.request(params))
    }

    fn sampled(&mut self, result: Result<Completion, Fault>, now: Instant) -> Effect {
        match (&self.phase, result) {
            (Phase::Asking, Ok(said)) => self.on_completion(said, now),
            (Phase::Asking, Err(fault)) => self.fail(fault),
            (Phase::Valuing(limit), result) => {
                let limit = *limit;
                let value = result.ok().and_then(|said| said.values.first().copied());
                let value = value.filter(|value| value.is_finite()).or_else(|| self.record.last_value());
                self.finish(End::Truncated { limit }, value)
            }
            (Phase::Calling { .. } | Phase::Over, _) => Effect::Wait,
        }
    }

    /// The turn that is put where a fork begins, once. Absent: that turn is sampled.
    fn corrected(&mut self) -> Option<Completion> {
        let (Some(turn), Start::Fork { of, .. }) = (self.plan.splice.take(), &self.plan.start) else {
            return None;
        };
        let segments = of.transcript.segments();
        let said = segments.iter().find(|segment| segment.role == Role::Policy && segment.turn == turn)?;
        let by_token = of.turns.get(turn as usize).is_some_and(|turn| turn.stop == TurnStop::EndToken);
        Some(Completion {
            session: self.session,
            tokens: said.tokens.clone(),
            logprobs: said.logprobs.clone(),
            values: said.values.clone(),
            top_logprobs: Vec::new(),
            stop: if by_token { StopReason::StopToken } else { StopReason::StopString },
            counted: Counted::Here,
        })
    }

    fn on_completion(&mut self, said: Completion, now: Instant) -> Effect {
        let provenance = self.rules.provenance;
        self.said(said, provenance, now)
    }

    fn said(&mut self, mut said: Completion, provenance: Provenance, now: Instant) -> Effect {
        if let Err(fault) = self.record.on_completion(&self.plan, &self.rules, provenance, &mut said) {
            return self.fail(fault);
        }
        match said.stop {
            StopReason::MaxTokens => return self.cut(Limit::Tokens, now),
            StopReason::ContextFull => return self.cut(Limit::Context, now),
            StopReason::StopString | StopReason::StopToken | StopReason::ConstraintMet => {}
        }
        let text = self.rules.chat.spoken(&said.tokens, &self.open.stops);
        match guarded_infallible(Boundary::Environment, || self.open.env.parse(&text)) {
            Ok(action) => {
                if let Some(turn) = self.record.turns.last_mut() {
                    turn.action = action;
                }
                self.next_call(now)
            }
            Err(fault) => self.fail(fault),
        }
    }

    pub(crate) fn step(&mut self, now: Instant) -> Effect {
        let Some(turn) = self.record.turns.last() else { return self.ask(now) };
        let (env, index) = (&mut self.open.env, turn.index);
        let result = match guarded(Boundary::Environment, || env.step(&turn.action, &turn.calls)) {
            Ok(result) => result,
            Err(fault) => return self.fail(fault),
        };
        self.record.cost.env_steps += 1;
        if let Err(fault) = self.record.stepped(&self.rules.chat, &result, index) {
            return self.fail(fault);
        }
        match result {
            StepResult { terminated: Some(Termination::Answered), .. } => self.finish(End::Answered, None),
            StepResult { terminated: Some(Termination::Done), .. } => self.finish(End::EnvironmentDone, None),
            StepResult { truncated: true, .. } => self.cut(Limit::Environment, now),
            _ => self.ask(now),
        }
    }

    pub(crate) fn fail(&mut self, fault: Fault) -> Effect {
        self.finish(End::Failed { fault }, None)
    }

    pub(crate) fn finish(&mut self, end: End, bootstrap: Option<f32>) -> Effect {
        self.phase = Phase::Over;
        let record = std::mem::take(&mut self.record);
        let env = &self.open.env;
        // A broken environment is not asked any more.
        let state = match &end {
            End::Failed { fault } if fault.boundary == Boundary::Environment => None,
            _ => guarded_infallible(Boundary::Environment, || env.snapshot()).ok(),
        };
        let episode = record.into_episode(&self.plan, end, bootstrap, state);
        Effect::Finished(Box::new(episode.with_window(self.rules.settings.window)))
    }

    pub(crate) fn enter(&mut self, phase: Phase, now: Instant) {
        self.phase = phase;
        self.since = now;
    }

    fn in_sight(&self) -> Cow<'_, [TokenId]> {
        self.record.in_sight(self.rules.settings.window.filter(|_| !self.rules.sees_all))
    }

    fn request(&self, params: Arc<SamplingParams>) -> SampleRequest {
        SampleRequest {
            session: self.session,
            context: self.in_sight().into_owned(),
            params,
            seed: self.plan.turn_seed(self.record.next_turn()),
        }
    }

    fn max_turns(&self) -> usize {
        let rule = self.rules.settings.turns_of(self.plan.task.size);
        self.plan.max_turns.map_or(rule, |own| own.min(rule)) as usize
    }

    fn params_with(&self, max_tokens: usize) -> Arc<SamplingParams> {
        Arc::new(SamplingParams { max_tokens, ..(*self.params).clone() })
    }

    pub(crate) fn tool_time(&self) -> Duration {
        span(self.rules.settings.tool_seconds)
    }
}

fn set_up(
    plan: &EpisodePlan,
    world: &dyn World,
    chat: &ChatFormat,
) -> Result<(OpenEnv, Record, Option<Replay>), Fault> {
    let (open, mut first) = OpenEnv::open(plan, world)?;
    match &plan.start {
        Start::Fresh => {
            let mut record = Record::default();
            first.extend(plan.preface.iter().map(|text| Message::new(Role::Hint, text.clone())));
            record.observe(chat, &first, 0, true)?;
            Ok((open, record, None))
        }
        Start::Fork { of, turn } => {
            let (record, replay) = Replay::begin(of, *turn, chat, &first, plan.splice.is_some())?;
            Ok((open, record, Some(replay)))
        }
    }
}
