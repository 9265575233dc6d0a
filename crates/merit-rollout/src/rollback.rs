//! Failed calls written over by the policy's own corrections.
//!
//! An episode is played to its end. Where calls of a turn were refused, so that nothing ran, and one of the next turns said them
//! right, the episode is played again: the turns before the failure are repeated, the corrected turn stands in place of the failed
//! one, token by token as the policy said it, and everything after it is sampled anew. The purified episode takes the place of the
//! first one. Its corrected turn is marked as spliced: its log-probabilities are of a context that is gone, and a learner from
//! it scores it again.

use crate::plan::EpisodePlan;
use merit_core::{CallEnd, Cost, End, Episode, EpisodeId, Role, Turn};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// How failed calls of a training step are written over, as `[rollout] rollback` says it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RollbackSettings {
    /// How many turns after a refused one may bring the correction; refused ones alone may lie between.
    #[serde(default = "three")]
    pub retries: u32,
    /// How many failures of an episode are written over, the first one first; later ones stay.
    #[serde(default = "three")]
    pub most: u32,
}

fn three() -> u32 {
    3
}

/// What came of the plans of whole groups.
#[derive(Debug)]
pub struct PlayedGroups {
    /// The plans that the policy has run, of the episodes that are kept.
    pub plans: Vec<EpisodePlan>,
    /// The episodes, in the order of the plans; others may follow.
    pub episodes: Vec<Arc<Episode>>,
    /// What was played and thrown away.
    pub thrown: Cost,
    /// Failures that were written over.
    pub mended: u64,
    /// What was chosen while they grew: how often, branches that were kept, and those among them with evidence of their own. Absent: they
    /// did not grow.
    pub chosen: Option<[u64; 3]>,
}

/// A refused turn and the one that corrected it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Correction {
    failed: u32,
    corrected: u32,
}

impl RollbackSettings {
    /// Runs the plans, then those with a correction again. An error of `run` is the end of it.
    pub fn purify<E>(
        &self,
        mut plans: Vec<EpisodePlan>,
        mut run: impl FnMut(Vec<EpisodePlan>) -> Result<Vec<Arc<Episode>>, E>,
    ) -> Result<PlayedGroups, E> {
        let mut episodes = run(plans.clone())?;
        let (mut thrown, mut mended) = (Cost::default(), 0);
        for round in 1..=self.most {
            let found = |at: usize| Some((at, self.correction(&episodes[at])?));
            let found: Vec<(usize, Correction)> = (0..plans.len()).filter_map(found).collect();
            let again = |&(at, of): &(usize, Correction)| spliced(&plans[at], &episodes[at], of, round);
            let again: Vec<EpisodePlan> = found.iter().map(again).collect();
            if again.is_empty() {
                break;
            }
            let played = run(again.clone())?;
            for (((at, of), plan), episode) in found.into_iter().zip(again).zip(played) {
                // What broke from outside says nothing of the policy; the first episode stays.
                if matches!(episode.end, End::Failed { .. }) {
                    thrown += beyond(&episode, of.failed);
                    continue;
                }
                thrown += without(beyond(&episodes[at], of.failed), &episodes[at], of.corrected);
                (plans[at], episodes[at], mended) = (plan, episode, mended + 1);
            }
        }
        Ok(PlayedGroups { plans, episodes, thrown, mended, chosen: None })
    }

    /// The first refused turn that was corrected soon enough. Absent: there is none, or the episode broke.
    fn correction(&self, episode: &Episode) -> Option<Correction> {
        if matches!(episode.end, End::Failed { .. }) {
            return None;
        }
        (0..episode.turns.len()).filter(|&at| all_calls(&episode.turns[at], CallEnd::Refused)).find_map(
            |failed| {
                let next = episode.turns.iter().enumerate().skip(failed + 1).take(self.retries as usize);
                let mut next = next.skip_while(|(_, turn)| all_calls(turn, CallEnd::Refused));
                let (corrected, _) = next.next().filter(|(_, turn)| all_calls(turn, CallEnd::Ok))?;
                Some(Correction { failed: failed as u32, corrected: corrected as u32 })
            },
        )
    }
}

/// Whether it made calls, and all of them ended so.
fn all_calls(turn: &Turn, end: CallEnd) -> bool {
    !turn.calls.is_empty() && turn.calls.iter().all(|call| call.end == end)
}

/// The plan of the same episode with the corrected turn in place of the failed one.
fn spliced(plan: &EpisodePlan, episode: &Arc<Episode>, of: Correction, round: u32) -> EpisodePlan {
    let id = EpisodeId { branch: round, ..plan.id.clone() };
    EpisodePlan { id, splice: Some(of.corrected), ..plan.clone().forked(episode, of.failed) }
}

/// What the turns of an episode from `turn` on cost.
fn beyond(episode: &Episode, turn: u32) -> Cost {
    let said = episode.transcript.segments().iter().filter(|s| s.role == Role::Policy && s.turn >= turn);
    let later = episode.turns.iter().filter(|later| later.index >= turn);
    Cost {
        policy_tokens: said.map(|segment| segment.tokens.len() as u64).sum(),
        env_steps: later.clone().count() as u64,
        tool_calls: later.map(|turn| turn.calls.len() as u64).sum(),
        ..Cost::default()
    }
}

/// The same without the turn that lives on in another episode.
fn without(cost: Cost, episode: &Episode, turn: u32) -> Cost {
    let said = episode.transcript.segments().iter().filter(|s| s.role == Role::Policy && s.turn == turn);
    let tokens: u64 = said.map(|segment| segment.tokens.len() as u64).sum();
    Cost { policy_tokens: cost.policy_tokens.saturating_sub(tokens), ..cost }
}
