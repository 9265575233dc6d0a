//! Takes questions to a model: many at once, each an episode of one or a few turns.

use super::backend::JudgeBackend;
use super::judgement::Judgement;
use super::own::Lent;
use super::record::Record;
use super::settings::JudgeSettings;
use crate::RunError;
use merit_api::{LiveTools, build_tools};
use merit_core::{Cost, End, Episode, EpisodeId, Phase, Role, Seed};
use merit_judge::{Asker, Put, Said};
use merit_model::Sampler;
use merit_rollout::{ChatFormat, EpisodePlan, Progress, RolloutSettings, ToolRuntime, roll_out};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Asks a model. It is opened when there is a question that was never answered.
pub struct ModelAsker {
    settings: JudgeSettings,
    seed: Seed,
    stop: Option<Arc<AtomicBool>>,
    record: Option<Record>,
    /// The recipe's own model that answers, where it is one.
    lent: Option<Arc<Lent>>,
    open: Option<Open>,
}

struct Open {
    world: Judgement,
    tools: ToolRuntime,
    seat: Seat,
}

/// The model that answers, with the weights of one moment.
struct Seat {
    /// Which weights; empty where they never change.
    version: String,
    chat: ChatFormat,
    sampler: Box<dyn Sampler>,
}

impl ModelAsker {
    /// An asker of the model of these settings.
    pub fn new(settings: &JudgeSettings) -> Self {
        let seed = Seed::root(settings.seed);
        Self { settings: settings.clone(), seed, stop: None, record: None, lent: None, open: None }
    }

    /// The same, whose answers are given by a model that is lent, and drawn by this seed.
    #[must_use]
    pub(super) fn of_lent(mut self, lent: Arc<Lent>, seed: Seed) -> Self {
        (self.lent, self.seed) = (Some(lent), seed);
        self
    }

    /// The same, which asks nothing more once the flag is set.
    #[must_use]
    pub fn with_stop(mut self, flag: Arc<AtomicBool>) -> Self {
        self.stop = Some(flag);
        self
    }

    /// The same, which writes every judgement there.
    #[must_use]
    pub fn with_record(mut self, record: Record) -> Self {
        self.record = Some(record);
        self
    }

    fn version(&self) -> String {
        self.lent.as_ref().map_or_else(String::new, |lent| lent.version())
    }

    /// What is open, with the weights of now.
    fn opened(&mut self) -> Result<Open, RunError> {
        match self.open.take() {
            Some(open) if open.seat.version == self.version() => Ok(open),
            Some(open) => Ok(Open { seat: self.seat()?, ..open }),
            None => self.first(),
        }
    }

    fn first(&self) -> Result<Open, RunError> {
        let refused = |error: merit_core::Refusal| RunError::Annotator(error.to_string());
        let tools = build_tools(&self.settings.tools, &LiveTools).map_err(refused)?;
        let format = self.settings.call_format().map_err(RunError::Annotator)?;
        let schema = self.settings.grammar.then(|| self.settings.ask.schema());
        let world = Judgement { tools, format, turns: self.settings.turns, schema };
        let tools = ToolRuntime::new()?;
        let tools = match &self.stop {
            Some(flag) => tools.with_stop(Arc::clone(flag)),
            None => tools,
        };
        Ok(Open { world, tools, seat: self.seat()? })
    }

    fn seat(&self) -> Result<Seat, RunError> {
        if let Some(lent) = &self.lent {
            let (version, chat, sampler) = lent.sampler()?;
            return Ok(Seat { version, chat, sampler });
        }
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let backend = self.settings.backend.elsewhere();
        let backend = backend.ok_or_else(|| RunError::Annotator(self.settings.backend.only_in_a_recipe()))?;
        let (chat, sampler) = backend.open_elsewhere(threads, self.seed)?;
        Ok(Seat { version: String::new(), chat, sampler })
    }

    fn rollout(&self) -> RolloutSettings {
        let mut settings = RolloutSettings {
            max_turns: self.settings.turns,
            max_turn_tokens: self.settings.tokens,
            max_episode_tokens: self.settings.tokens.saturating_mul(self.settings.turns as usize),
            episode_seconds: self.settings.deadline_s,
            temperature: self.settings.temperature,
            grammar: self.settings.grammar,
            ..RolloutSettings::default()
        };
        if let JudgeBackend::Openai(backend) = &self.settings.backend {
            // As many as the endpoint asks at once, and as many that wait for their turn.
            settings.in_flight = backend.endpoint.concurrency.saturating_mul(2);
        }
        if let Some(backend) = self.settings.backend.elsewhere() {
            backend.loosen(&mut settings);
        }
        settings
    }

    fn plan(&self, at: usize, put: &Put) -> EpisodePlan {
        let group = u32::try_from(at).unwrap_or(u32::MAX);
        let id = EpisodeId { phase: Phase::train(), step: 0, group, member: put.vote, branch: 0 };
        let seed = self.seed.child(&put.question.user, u64::from(put.vote));
        EpisodePlan::new(id, Judgement::task_of(&put.question, format!("judgement/{at}")), seed)
    }

    fn said(&self, episode: &Episode) -> Result<Said, String> {
        if let End::Failed { fault } = &episode.end {
            return Err(fault.message.clone());
        }
        let last = episode.transcript.segments().iter().rev().find(|segment| segment.role == Role::Policy);
        let text = last.ok_or_else(|| format!("no answer: {}", episode.end.label()))?.text.clone();
        let spent = episode.cost;
        // What a server reads is counted here in bytes, which are no tokens.
        let read = if self.settings.backend.is_here() { spent.read_tokens } else { 0 };
        let cost = Cost {
            judge_calls: episode.turns.len().max(1) as u64,
            judge_tokens: if spent.tokens_unknown { read } else { spent.policy_tokens + read },
            tool_calls: spent.tool_calls,
            tool_seconds: spent.tool_seconds,
            ..Cost::default()
        };
        Ok(Said { text, cost })
    }
}

impl Asker for ModelAsker {
    fn id(&self) -> String {
        match (&self.lent, self.settings.asker_id()) {
            (Some(lent), id) => format!("{id} at {}", lent.version()),
            (None, id) => id,
        }
    }

    fn ask(&mut self, questions: &[Put], heard: &mut dyn FnMut(usize, Result<Said, String>)) {
        let mut open = match self.opened() {
            Ok(open) => open,
            Err(error) => {
                let why = error.to_string();
                return (0..questions.len()).for_each(|at| heard(at, Err(why.clone())));
            }
        };
        let plans = questions.iter().enumerate().map(|(at, put)| self.plan(at, put)).collect();
        let settings = self.rollout();
        let batch = self.record.as_ref().map(|record| (record, record.batch()));
        let mut watch = |news| {
            if let Progress::Finished(episode) = news {
                if let Some((record, batch)) = &batch {
                    record.keep(&episode, *batch);
                }
                heard(episode.id.group as usize, self.said(&episode));
            }
        };
        let Open { world, tools, seat } = &mut open;
        roll_out(plans, world, seat.sampler.as_mut(), &seat.chat, &settings, tools, &mut watch);
        self.open = Some(open);
    }
}
