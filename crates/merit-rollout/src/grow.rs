//! A group grown as trees: some members start fresh, the others fork a member that is there, at a turn drawn by seed.
//!
//! Members of a tree share the turns before their fork, which are sampled once and trained once. So a group of the same size
//! costs fewer tokens, and members differ from a known turn on.

use crate::plan::EpisodePlan;
use merit_core::{End, Episode, EpisodeId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::Arc;

/// How the groups of a training step are grown, as `[rollout] tree` says it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TreeSettings {
    /// Members of a group that start fresh; the others fork.
    pub roots: u32,
    /// In how many rounds the others come. Those of a later round may fork those of an earlier one.
    #[serde(default = "one")]
    pub rounds: u32,
}

fn one() -> u32 {
    1
}

/// What a group can become: its plans and the episodes they gave so far.
#[derive(Debug, Default)]
struct Grown {
    /// Plans that have an episode to fork.
    forkable: Vec<(EpisodePlan, Arc<Episode>)>,
    /// Plans of the members that are still to come.
    waiting: Vec<EpisodePlan>,
}

impl TreeSettings {
    /// Runs the plans of whole groups, and gives what was run with what came of it. Every plan is one member: it runs fresh while
    /// its number is below `roots`, later plans of its group fork. A group without an episode to fork goes on fresh. An error of `run`
    /// is the end of it.
    pub fn grow<E>(
        &self,
        plans: Vec<EpisodePlan>,
        mut run: impl FnMut(Vec<EpisodePlan>) -> Result<Vec<Arc<Episode>>, E>,
    ) -> Result<(Vec<EpisodePlan>, Vec<Arc<Episode>>), E> {
        let mut groups: HashMap<u32, Grown> = HashMap::new();
        let (mut ready, later): (Vec<_>, Vec<_>) =
            plans.into_iter().partition(|plan| plan.id.member < self.roots);
        for plan in later {
            groups.entry(plan.id.group).or_default().waiting.push(plan);
        }
        let (mut made, mut episodes) = (Vec::new(), Vec::new());
        for left in (0..=self.rounds).rev() {
            let round = run(ready.clone())?;
            for (plan, episode) in ready.iter().zip(&round).filter(|(_, episode)| can_fork(episode)) {
                let grown = groups.entry(plan.id.group).or_default();
                grown.forkable.push((plan.clone(), Arc::clone(episode)));
            }
            made.append(&mut ready);
            episodes.extend(round);
            if left > 0 {
                let mut order: Vec<_> = groups.iter_mut().collect();
                order.sort_by_key(|(group, _)| **group);
                ready = order.into_iter().flat_map(|(_, grown)| grown.next_round(left)).collect();
            }
        }
        Ok((made, episodes))
    }
}

impl Grown {
    /// The plans of the next of `left` rounds.
    fn next_round(&mut self, left: u32) -> Vec<EpisodePlan> {
        let share = self.waiting.len().div_ceil(left as usize);
        let plans: Vec<EpisodePlan> = self.waiting.drain(..share).collect();
        plans.into_iter().map(|plan| self.forked(plan)).collect()
    }

    /// A waiting plan as a fork of an episode and at a turn that its own seed draws.
    fn forked(&self, plan: EpisodePlan) -> EpisodePlan {
        let mut draw = plan.seed.child("fork", 0).stream();
        let Some((trunk, episode)) = draw.pick(&self.forkable) else {
            return plan;
        };
        let turn = draw.below(episode.turns.len() as u64) as u32;
        // No two waiting plans of a group have the same member, so no two forks have the same branch.
        let id = EpisodeId { branch: plan.id.member, ..trunk.id.clone() };
        EpisodePlan { id, ..trunk.clone().forked(episode, turn) }
    }
}

/// Whether there is something to fork: what broke from outside is left alone.
fn can_fork(episode: &Episode) -> bool {
    !episode.turns.is_empty() && !matches!(episode.end, End::Failed { .. })
}
