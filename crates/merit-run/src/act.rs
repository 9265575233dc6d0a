//! Running and scoring episodes of a policy: what a training step and an evaluation have in common.

use crate::RunError;
use crate::elsewhere::{Players, SentPolicy, Setup, Work};
use crate::parts::Parts;
use crate::policy::Policy;
use merit_core::{Annotations, Cost, Episode};
use merit_model::{Generator, GeneratorSettings, PackedWeights, Precision, Weights};
use merit_reward::{RewardState, ScoredBatch};
use merit_rollout::{
    ChatFormat, EpisodePlan, GrowSettings, Grown, PlayedGroups, Progress, RolloutSettings, ToolRuntime,
    close_sessions, roll_out,
};
use std::sync::Arc;

/// The policy as an actor: the sampler that plays with its weights, and the chat format of its tokenizer.
pub struct Actor {
    plays: Plays,
    chat: ChatFormat,
    tools: Arc<ToolRuntime>,
}

enum Plays {
    Here(Box<Generator>),
    /// Other processes, with the policy that is sent to them.
    Elsewhere {
        players: Arc<dyn Players>,
        policy: SentPolicy,
        /// What they are made from; its world is that of the parts that are played.
        setup: Box<Setup>,
    },
}

/// A generator over weights, at a precision.
pub(crate) fn generator(
    (weights, precision): (Arc<Weights>, Precision),
    chat: &ChatFormat,
    threads: usize,
) -> Result<Generator, RunError> {
    let settings = GeneratorSettings { threads, ..GeneratorSettings::default() };
    let ready = Arc::new(PackedWeights::for_sampling(weights, precision));
    Ok(Generator::over(ready, Arc::clone(chat.tokenizer()), settings)?)
}

impl Actor {
    /// An actor with these weights, at this precision.
    pub fn new(
        weights: (Arc<Weights>, Precision),
        chat: &ChatFormat,
        threads: usize,
        tools: Arc<ToolRuntime>,
    ) -> Result<Self, RunError> {
        let plays = Plays::Here(Box::new(generator(weights, chat, threads)?));
        Ok(Self { plays, chat: chat.clone(), tools })
    }

    /// An actor with the present weights of `policy`, which others play.
    pub(crate) fn elsewhere(
        players: Arc<dyn Players>,
        policy: &Policy,
        setup: Setup,
        tools: Arc<ToolRuntime>,
    ) -> Self {
        let plays = Plays::Elsewhere { players, policy: policy.sent(), setup: Box::new(setup) };
        Self { plays, chat: policy.chat().clone(), tools }
    }

    /// Acts with the present weights of `policy` from now on.
    pub(crate) fn follow(&mut self, policy: &mut Policy) -> Result<(), RunError> {
        match &mut self.plays {
            Plays::Here(generator) => generator.set_packed(policy.packed())?,
            Plays::Elsewhere { policy: sent, .. } => *sent = policy.sent(),
        }
        Ok(())
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
        let episodes = self.roll_out(parts, plans, settings, watch)?;
        parts.toolbox.check()?;
        let annotations = parts.annotators.ask(&episodes);
        let scored = parts.scorer.score_annotated(&episodes, &annotations, &parts.context(step), state);
        Ok((scored, annotations))
    }

    /// Runs the groups of a training step, which may grow as trees and have guests; guests come last.
    /// Scores nothing.
    pub(crate) fn run_groups(
        &mut self,
        parts: &Parts,
        plans: Vec<EpisodePlan>,
        watch: &mut dyn FnMut(Progress),
    ) -> Result<PlayedGroups, RunError> {
        let settings = &parts.recipe.rollout;
        let guests = parts.recipe.guests.as_ref();
        let (invited, plans) = match guests {
            Some(guests) => guests.invite(plans),
            None => (Vec::new(), plans),
        };
        let as_they_are = |(plans, episodes)| PlayedGroups {
            plans,
            episodes,
            thrown: Cost::default(),
            mended: 0,
            chosen: None,
        };
        let mut played = match (&settings.grow, &settings.tree, &settings.rollback) {
            (Some(grow), ..) => self.grow(parts, plans, grow, watch)?,
            (None, None, None) => as_they_are((plans.clone(), self.roll_out(parts, plans, settings, watch)?)),
            (None, None, Some(rollback)) => {
                rollback.purify(plans, |round| self.roll_out(parts, round, settings, watch))?
            }
            (None, Some(tree), _) => {
                let keeping = RolloutSettings { keep_sessions: true, ..settings.clone() };
                let grown = tree.grow(plans, |round| self.roll_out(parts, round, &keeping, watch))?;
                if let Plays::Here(generator) = &mut self.plays {
                    close_sessions(&grown.1, generator.as_mut());
                }
                as_they_are(grown)
            }
        };
        if let Some(guests) = guests {
            played.episodes.extend(guests.play(parts, invited, &self.chat, &self.tools, watch)?);
        }
        parts.toolbox.check()?;
        Ok(played)
    }

    /// Grows the groups turn by turn.
    fn grow(
        &mut self,
        parts: &Parts,
        plans: Vec<EpisodePlan>,
        grow: &GrowSettings,
        watch: &mut dyn FnMut(Progress),
    ) -> Result<PlayedGroups, RunError> {
        let settings = RolloutSettings { keep_sessions: true, ..parts.recipe.rollout.clone() };
        let mut played = Vec::new();
        let grown = grow.grow(plans, &settings, |round| {
            let episodes = self.roll_out(parts, round, &settings, watch)?;
            played.extend(episodes.iter().cloned());
            Ok::<_, RunError>(episodes)
        })?;
        if let Plays::Here(generator) = &mut self.plays {
            close_sessions(&played, generator.as_mut());
        }
        let Grown { plans, episodes, choices, kept, distinct, missing } = grown;
        match missing {
            Some(why) => Err(RunError::Grow(why)),
            None => Ok(PlayedGroups {
                plans,
                episodes,
                thrown: Cost::default(),
                mended: 0,
                chosen: Some([choices, kept, distinct]),
            }),
        }
    }

    /// Runs the plans, wherever the policy plays.
    pub(crate) fn roll_out(
        &mut self,
        parts: &Parts,
        plans: Vec<EpisodePlan>,
        settings: &RolloutSettings,
        watch: &mut dyn FnMut(Progress),
    ) -> Result<Vec<Arc<Episode>>, RunError> {
        let (players, policy, setup) = match &mut self.plays {
            Plays::Here(generator) => {
                let env = parts.env.as_ref();
                return Ok(roll_out(plans, env, &mut **generator, &self.chat, settings, &self.tools, watch));
            }
            Plays::Elsewhere { players, policy, setup } => (players, policy, setup),
        };
        if plans.is_empty() {
            return Ok(Vec::new());
        }
        setup.world = parts.recipe.world.clone();
        let work = Work { setup, policy, settings, plans: &plans };
        let episodes = players.play(&work).map_err(RunError::Elsewhere)?;
        if !plans.iter().map(|plan| &plan.id).eq(episodes.iter().map(|episode| &episode.id)) {
            let why = format!("{} plans were sent, and other episodes came back", plans.len());
            return Err(RunError::Elsewhere(why));
        }
        Ok(episodes)
    }
}
