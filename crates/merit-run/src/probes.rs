//! Continuations that a credit rule needs: from every turn of every valid episode, run and scored only to measure.
//!
//! A continuation keeps the seed of its episode, so that it meets the same world, and draws its turns by its own branch. Those
//! of one turn are a group of their own, so that no term of the reward compares them with others. What the reward keeps is
//! read and not changed.

use crate::RunError;
use crate::act::Actor;
use crate::parts::Parts;
use crate::progress::{Event, stalls};
use merit_core::{Cost, EpisodeId, Group, Phase, ScoredEpisode};
use merit_credit::Probe;
use merit_reward::RewardState;
use merit_rollout::{EpisodePlan, tree};
use merit_store::RunFolder;
use std::collections::HashMap;

/// Which continuations, and with what.
pub(crate) struct Probing<'a> {
    pub(crate) parts: &'a Parts,
    /// Where what annotators say of them is kept.
    pub(crate) folder: &'a RunFolder,
    /// The learning whose episodes are continued.
    pub(crate) phase: &'a Phase,
    pub(crate) step: u64,
    /// Continuations of each turn.
    pub(crate) per_turn: u32,
    pub(crate) state: &'a RewardState,
}

impl Probing<'_> {
    /// Runs them; also says what they cost. `plans` made the episodes of `groups`.
    pub(crate) fn run(
        &self,
        actor: &mut Actor,
        plans: &[EpisodePlan],
        groups: &[Group],
        watch: &mut dyn FnMut(Event),
    ) -> Result<(Vec<Probe>, Cost), RunError> {
        let by_id: HashMap<&EpisodeId, &EpisodePlan> = plans.iter().map(|plan| (&plan.id, plan)).collect();
        let (mut probes, mut forks) = (Vec::new(), Vec::new());
        let valid = groups.iter().flat_map(Group::members).filter(|scored| scored.reward().is_some());
        for (scored, trunk) in valid.filter_map(|scored| Some((scored, by_id.get(&scored.episode.id)?))) {
            self.plan(scored, trunk, &mut probes, &mut forks)?;
        }
        let (parts, settings) = (self.parts, &self.parts.recipe.rollout);
        let (scored, said) = actor.run(parts, forks, settings, self.step, self.state, &mut stalls(watch))?;
        parts.annotators.keep_of_probes(self.folder, (self.phase, self.step), &said)?;
        let costs = scored.episodes.iter().map(|scored| charge(&scored.episode.cost));
        let cost = costs.chain([crate::annotators::cost(&said)]).sum();
        for (probe, continuations) in probes.iter_mut().zip(scored.episodes.chunks(self.per_turn as usize)) {
            probe.continuations = continuations.to_vec();
        }
        Ok((probes, cost))
    }

    fn plan(
        &self,
        scored: &ScoredEpisode,
        trunk: &EpisodePlan,
        probes: &mut Vec<Probe>,
        forks: &mut Vec<EpisodePlan>,
    ) -> Result<(), RunError> {
        let episode = &scored.episode;
        let turns: Vec<u32> = (0..episode.turns.len() as u32).collect();
        for (at, mut fork) in tree(trunk, episode, &turns, self.per_turn, 1)?.into_iter().enumerate() {
            let (turn, member) = (at as u32 / self.per_turn, at as u32 % self.per_turn);
            if member == 0 {
                probes.push(Probe { episode: episode.id.clone(), turn, continuations: Vec::new() });
            }
            let group = probes.len() as u32 - 1;
            fork.id = EpisodeId { phase: self.phase.probes(), group, member, ..fork.id };
            forks.push(fork);
        }
        Ok(())
    }
}

/// What a continuation costs: its steps are probe steps.
pub(crate) fn charge(cost: &Cost) -> Cost {
    Cost { env_steps: 0, probe_steps: cost.probe_steps + cost.env_steps, ..*cost }
}
