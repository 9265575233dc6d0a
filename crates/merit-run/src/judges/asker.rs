//! Takes questions to a model: many at once, each an episode of one or a few turns.

use super::judgement::Judgement;
use super::record::Record;
use super::settings::JudgeSettings;
use crate::RunError;
use crate::roles::Backend;
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
    stop: Option<Arc<AtomicBool>>,
    record: Option<Record>,
    open: Option<Open>,
}

struct Open {
    world: Judgement,
    chat: ChatFormat,
    sampler: Box<dyn Sampler>,
    tools: ToolRuntime,
}

impl ModelAsker {
    /// An asker of the model of these settings.
    pub fn new(settings: &JudgeSettings) -> Self {
        Self { settings: settings.clone(), stop: None, record: None, open: None }
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

    fn opened(&self) -> Result<Open, RunError> {
        let refused = |error: merit_core::Refusal| RunError::Annotator(error.to_string());
        let tools = build_tools(&self.settings.tools, &LiveTools).map_err(refused)?;
        let format = self.settings.call_format().map_err(RunError::Annotator)?;
        let world = Judgement { tools, format, turns: self.settings.turns };
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let (chat, sampler) =
            self.settings.backend.open_elsewhere(threads, Seed::root(self.settings.seed))?;
        let tools = ToolRuntime::new()?;
        let tools = match &self.stop {
            Some(flag) => tools.with_stop(Arc::clone(flag)),
            None => tools,
        };
        Ok(Open { world, chat, sampler, tools })
    }

    fn rollout(&self) -> RolloutSettings {
        let mut settings = RolloutSettings {
            max_turns: self.settings.turns,
            max_turn_tokens: self.settings.tokens,
            max_episode_tokens: self.settings.tokens.saturating_mul(self.settings.turns as usize),
            episode_seconds: self.settings.deadline_s,
            temperature: self.settings.temperature,
            ..RolloutSettings::default()
        };
        if let Backend::Openai(backend) = &self.settings.backend {
            // As many as the endpoint asks at once, and as many that wait for their turn.
            settings.in_flight = backend.endpoint.concurrency.saturating_mul(2);
        }
        self.settings.backend.loosen(&mut settings);
        settings
    }

    fn plan(&self, at: usize, put: &Put) -> EpisodePlan {
        let group = u32::try_from(at).unwrap_or(u32::MAX);
        let id = EpisodeId { phase: Phase::train(), step: 0, group, member: put.vote, branch: 0 };
        let seed = Seed::root(self.settings.seed).child(&put.question.user, u64::from(put.vote));
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
        let read = if matches!(self.settings.backend, Backend::Embedded(_)) { spent.read_tokens } else { 0 };
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
        self.settings.asker_id()
    }

    fn ask(&mut self, questions: &[Put], heard: &mut dyn FnMut(usize, Result<Said, String>)) {
        let mut open = match self.open.take().map_or_else(|| self.opened(), Ok) {
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
        roll_out(plans, &open.world, open.sampler.as_mut(), &open.chat, &settings, &open.tools, &mut watch);
        self.open = Some(open);
    }
}
