//! What is to be run: one plan per episode, fresh or forked from a recorded one.
//!
//! Everything an episode depends on is in its plan: the world is opened with `seed.child("world", 0)` and turn `n` is
//! sampled with `seed.child("turn", n)`. A fork carries the seed of its trunk, so that it opens the same world; the branch
//! in its id sets its turns apart.

use merit_core::{Episode, EpisodeId, PolicyVersion, Seed, Task};
use merit_model::{Sampler, SessionId};
use serde::{Deserialize, Serialize};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

/// One episode to run. Made with [`EpisodePlan::new`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct EpisodePlan {
    /// Its name; no two plans of a rollout may share it.
    pub id: EpisodeId,
    /// What is to be done.
    pub task: Arc<Task>,
    /// The source of all its randomness. A fork carries the seed of its trunk.
    pub seed: Seed,
    /// The policy that will act.
    pub policy_version: PolicyVersion,
    /// At the first turn, or as a fork of another episode.
    pub start: Start,
    /// Hints shown before the policy's first turn, in order, as `Role::Hint`; never trained. A fork has those of its trunk.
    pub preface: Vec<String>,
    /// The turn of the forked episode that stands where the fork begins, said as it was said there. Absent: that turn is sampled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub splice: Option<u32>,
    /// Most turns of this episode, where fewer than the rollout allows. Absent: as many as it allows.
    pub max_turns: Option<u32>,
}

/// Where an episode begins.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// At the opening of the world.
    Fresh,
    /// In the middle of a recorded episode: the turns before `turn` are kept, that turn is sampled anew.
    Fork {
        /// The recorded episode.
        of: Arc<Episode>,
        /// The first turn to sample, from 0.
        turn: u32,
    },
}

impl EpisodePlan {
    /// A fresh episode by policy version 0.
    pub fn new(id: EpisodeId, task: impl Into<Arc<Task>>, seed: Seed) -> Self {
        Self {
            id,
            task: task.into(),
            seed,
            policy_version: PolicyVersion(0),
            start: Start::Fresh,
            preface: Vec::new(),
            splice: None,
            max_turns: None,
        }
    }

    /// The same, played by this policy.
    #[must_use]
    pub fn with_policy_version(mut self, version: PolicyVersion) -> Self {
        self.policy_version = version;
        self
    }

    /// The same, begun in the middle of a recorded episode: the turns before `turn` are kept, that turn is sampled anew.
    #[must_use]
    pub fn forked(mut self, of: &Arc<Episode>, turn: u32) -> Self {
        self.start = Start::Fork { of: Arc::clone(of), turn };
        self
    }

    /// The same with a turn limit of its own.
    #[must_use]
    pub fn with_max_turns(mut self, turns: u32) -> Self {
        self.max_turns = Some(turns);
        self
    }

    /// The seed that opens the world: the same for a trunk and all its forks.
    pub fn world_seed(&self) -> Seed {
        self.seed.child("world", 0)
    }

    /// The seed that samples turn `turn`: its own for every branch.
    pub fn turn_seed(&self, turn: u32) -> Seed {
        let branch = match self.id.branch {
            0 => self.seed,
            branch => self.seed.child("branch", u64::from(branch)),
        };
        branch.child("turn", u64::from(turn))
    }
}

/// The sampler session of an episode: always the same for the same id, so that a fork finds the session of its parent.
pub fn session_of(id: &EpisodeId) -> SessionId {
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    SessionId(hasher.finish())
}

/// Closes the sessions that a rollout with `keep_sessions` has left open.
pub fn close_sessions(episodes: &[Arc<Episode>], sampler: &mut dyn Sampler) {
    episodes.iter().for_each(|episode| sampler.close(session_of(&episode.id)));
}

/// Why a tree cannot be planned.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TreeError {
    /// A turn that the episode does not have.
    #[error("episode {episode} cannot be forked at turn {turn}: it has {turns} turns, counted from 0")]
    NoSuchTurn { episode: EpisodeId, turn: u32, turns: usize },
    /// A plan and an episode that do not belong together.
    #[error("the plan is called {plan}, but the episode to fork is {episode}; give the plan that made it")]
    OtherPlan { plan: EpisodeId, episode: EpisodeId },
}

/// Plans `k` forks of `episode` at each of `turns`, in that order, with branches numbered from `first_branch`.
///
/// `trunk` is the plan that made the episode. Branch 0 is the trunk itself, so `first_branch` is 1 for the first tree over
/// an episode, and past the last used branch for the next.
pub fn tree(
    trunk: &EpisodePlan,
    episode: &Arc<Episode>,
    turns: &[u32],
    k: u32,
    first_branch: u32,
) -> Result<Vec<EpisodePlan>, TreeError> {
    if trunk.id != episode.id {
        return Err(TreeError::OtherPlan { plan: trunk.id.clone(), episode: episode.id.clone() });
    }
    if let Some(&turn) = turns.iter().find(|&&turn| turn as usize >= episode.turns.len()) {
        return Err(TreeError::NoSuchTurn { episode: episode.id.clone(), turn, turns: episode.turns.len() });
    }
    let places = turns.iter().flat_map(|&turn| std::iter::repeat_n(turn, k as usize));
    let forks = places.zip(first_branch..).map(|(turn, branch)| EpisodePlan {
        id: EpisodeId { branch, ..trunk.id.clone() },
        start: Start::Fork { of: Arc::clone(episode), turn },
        ..trunk.clone()
    });
    Ok(forks.collect())
}
