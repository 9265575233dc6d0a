//! Running and scoring episodes of a policy: what a training step and an evaluation have in common.

use crate::RunError;
use crate::parts::Parts;
use merit_core::{Annotations, Episode};
use merit_model::{Generator, GeneratorSettings, PackedWeights, Precision, Sampler, Weights};
use merit_reward::{RewardState, ScoredBatch};
use merit_rollout::{
    ChatFormat, EpisodePlan, Progress, RolloutSettings, ToolRuntime, close_sessions, roll_out,
};
use std::sync::Arc;

/// The policy as an actor: a generator over weights, with the chat format of its tokenizer.
pub struct Actor {
    generator: Generator,
    chat: ChatFormat,
    tools: Arc<ToolRuntime>,
}

impl Actor {
    /// An actor with these weights, at this precision.
    pub fn new(
        (weights, precision): (Arc<Weights>, Precision),
        chat: &ChatFormat,
        threads: usize,
        tools: Arc<ToolRuntime>,
    ) -> Result<Self, RunError> {
        let settings = GeneratorSettings { threads, ..GeneratorSettings::default() };
        let ready = Arc::new(PackedWeights::for_sampling(weights, precision));
        let generator = Generator::over(ready, Arc::clone(chat.tokenizer()), settings)?;
        Ok(Self { generator, chat: chat.clone(), tools })
    }

    /// The chat format of its tokenizer.
    pub fn chat(&self) -> &ChatFormat {
        &self.chat
    }

    /// What samples for it.
    pub fn sampler(&mut self) -> &mut dyn Sampler {
        &mut self.generator
    }

    /// What samples for it, for good, with the chat format of its tokenizer.
    pub(crate) fn into_sampler(self) -> (ChatFormat, Box<dyn Sampler>) {
        (self.chat, Box::new(self.generator))
    }

    /// Acts with other weights from now on.
    pub fn set_packed(&mut self, weights: Arc<PackedWeights>) -> Result<(), RunError> {
        Ok(self.generator.set_packed(weights)?)
    }

    /// Runs the plans, asks the annotators and scores what came of it, in the order of the plans, with what the reward keeps in
    /// `state`.
    pub fn run(
        &mut self,
        parts: &Parts,
        plans: Vec<EpisodePlan>,
        settings: &RolloutSettings,
        step: u64,
        state: &RewardState,
        watch: &mut dyn FnMut(Progress),
    ) -> Result<(ScoredBatch, Annotations), RunError> {
        let episodes = self.roll_out(parts, plans, settings, watch);
        parts.toolbox.check()?;
        let annotations = parts.annotators.ask(&episodes);
        let scored = parts.scorer.score_annotated(&episodes, &annotations, &parts.context(step), state);
        Ok((scored, annotations))
    }

    /// Runs the groups of a training step, which may grow as trees and have guests; also gives the plans that the policy has run.
    /// Scores nothing.
    pub(crate) fn run_groups(
        &mut self,
        parts: &Parts,
        plans: Vec<EpisodePlan>,
        watch: &mut dyn FnMut(Progress),
    ) -> Result<(Vec<EpisodePlan>, Vec<Arc<Episode>>), RunError> {
        let settings = &parts.recipe.rollout;
        let guests = parts.recipe.guests.as_ref();
        let (invited, plans) = match guests {
            Some(guests) => guests.invite(plans),
            None => (Vec::new(), plans),
        };
        let (plans, mut episodes) = match &settings.tree {
            None => (plans.clone(), self.roll_out(parts, plans, settings, watch)),
            Some(tree) => {
                let keeping = RolloutSettings { keep_sessions: true, ..settings.clone() };
                let (plans, episodes) =
                    tree.grow(plans, |round| self.roll_out(parts, round, &keeping, watch));
                close_sessions(&episodes, &mut self.generator);
                (plans, episodes)
            }
        };
        if let Some(guests) = guests {
            episodes.extend(guests.play(parts, invited, &self.chat, &self.tools, watch)?);
        }
        parts.toolbox.check()?;
        Ok((plans, episodes))
    }

    fn roll_out(
        &mut self,
        parts: &Parts,
        plans: Vec<EpisodePlan>,
        settings: &RolloutSettings,
        watch: &mut dyn FnMut(Progress),
    ) -> Vec<Arc<Episode>> {
        let env = parts.env.as_ref();
        roll_out(plans, env, &mut self.generator, &self.chat, settings, &self.tools, watch)
    }
}
