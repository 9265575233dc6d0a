//! Scored episodes and the groups they are judged in (rule 6).

use crate::{Episode, Outcome, Score, TokenId};
use std::sync::Arc;

/// An episode with what the reward said of it.
#[derive(Debug, Clone)]
pub struct ScoredEpisode {
    /// The tokens, the turns and the end.
    pub episode: Arc<Episode>,
    /// What the reward said. Absent: it was never asked, because the episode broke.
    pub score: Option<Score>,
}

impl ScoredEpisode {
    /// What the episode counts as.
    pub fn outcome(&self) -> Outcome {
        Outcome::of(&self.episode, self.score.as_ref())
    }

    /// The reward to learn from: present exactly when the outcome counts.
    pub fn reward(&self) -> Option<f64> {
        if self.outcome().is_valid() { self.score.as_ref()?.reward.value() } else { None }
    }
}

/// Episodes that share everything the policy is given.
#[derive(Debug, Clone)]
pub struct Group {
    members: Vec<ScoredEpisode>,
}

/// Why episodes do not make a group.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum GroupError {
    #[error("a group needs at least one episode")]
    Empty,
    /// A member differs in something all must share.
    #[error(
        "episode {episode} differs from its group in its {what}; members of a group share the task, its version and the prompt's tokens"
    )]
    Mixed { episode: String, what: &'static str },
}

impl Group {
    /// Checks that the members belong together.
    ///
    /// ```
    /// use merit_core::{End, Episode, EpisodeId, Group, Reward, Score, ScoredEpisode, Task};
    /// let scored = |member, value| ScoredEpisode {
    ///     episode: Episode::new(EpisodeId { phase: "train".into(), step: 0, group: 0, member, branch: 0 }, Task::new("quiz", "quiz/1"), End::Answered).into(),
    ///     score: Some(Score::new(Reward::Value { value }).with_solved(Some(value == 1.0))),
    /// };
    /// let group = Group::assemble(vec![scored(0, 1.0), scored(1, 0.0)])?;
    /// assert_eq!((group.rewards(), group.constant()), (vec![1.0, 0.0], false));
    /// # Ok::<(), merit_core::GroupError>(())
    /// ```
    pub fn assemble(members: Vec<ScoredEpisode>) -> Result<Self, GroupError> {
        let first = &members.first().ok_or(GroupError::Empty)?.episode;
        for member in &members[1..] {
            if let Some(what) = difference(first, &member.episode) {
                return Err(GroupError::Mixed { episode: member.episode.id.to_string(), what });
            }
        }
        Ok(Self { members })
    }

    /// The groups of a batch: episodes of the same phase, step and group of their ids, in the order in which groups first
    /// appear.
    pub fn by_id(episodes: Vec<ScoredEpisode>) -> Result<Vec<Self>, GroupError> {
        let mut order: Vec<Vec<ScoredEpisode>> = Vec::new();
        let mut places = std::collections::HashMap::new();
        for scored in episodes {
            let id = &scored.episode.id;
            let key = (id.phase.clone(), id.step, id.group);
            let place = *places.entry(key).or_insert(order.len());
            match order.get_mut(place) {
                Some(members) => members.push(scored),
                None => order.push(vec![scored]),
            }
        }
        order.into_iter().map(Self::assemble).collect()
    }

    /// The members, in the order given.
    pub fn members(&self) -> &[ScoredEpisode] {
        &self.members
    }

    /// Rewards of the members whose outcome counts.
    pub fn rewards(&self) -> Vec<f64> {
        self.members.iter().filter_map(ScoredEpisode::reward).collect()
    }

    /// Whether all valid members have the same reward, up to float noise, so that the group teaches nothing.
    pub fn constant(&self) -> bool {
        constant(&self.rewards())
    }
}

/// Whether rewards are all the same up to float noise, so that there is nothing to compare.
pub fn constant(rewards: &[f64]) -> bool {
    let (low, high) = rewards.iter().fold((f64::MAX, f64::MIN), |(l, h), &r| (l.min(r), h.max(r)));
    rewards.len() < 2 || high - low <= 1e-9 * high.abs().max(low.abs()).max(1.0)
}

fn difference(a: &Episode, b: &Episode) -> Option<&'static str> {
    if a.task.id != b.task.id || a.task.world != b.task.world {
        Some("task")
    } else if a.task.version != b.task.version {
        Some("task version")
    } else if opening(a) != opening(b) && !opening(a).is_empty() && !opening(b).is_empty() {
        Some("prompt")
    } else {
        None
    }
}

/// The tokens before the policy's first; empty for an episode that broke before it opened.
fn opening(episode: &Episode) -> Vec<TokenId> {
    let segments = episode.transcript.segments();
    segments.iter().take_while(|s| !s.role.trainable()).flat_map(|s| s.tokens.iter().copied()).collect()
}
