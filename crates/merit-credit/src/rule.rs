//! The seam of a credit rule.

use crate::{Credit, CreditBatch, CreditError};
use merit_core::registry::Kind;

/// What a rule judges an episode against; says which sums must vanish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Baseline {
    /// The other members of its group: episode advantages sum to 0 in each group, and a group with nothing to compare gets 0.
    Group,
    /// The same turn of the other members: a turn at which all members earn the same gets 0.
    Turn,
    /// Twice, each alone: the outcome against the other members, and what a turn was paid against all turns of the group. Where the
    /// members have as many turns, turn advantages sum to 0 in each group; a level with nothing to compare gives 0.
    Levels,
    /// The share of the group that ever passes what is open at a turn: a group whose members pass the same gets 0.
    Items,
    /// The other members of its group, and then the whole batch: token advantages sum to 0 over the batch, and a batch of groups with
    /// nothing to compare gets 0.
    GroupInBatch,
    /// The whole batch: token advantages sum to 0 over the batch.
    Batch,
    /// An estimate of the value of each state, by a value head or by continuations: no sum need vanish.
    Value,
    /// The mean of the leaves of its tree, and of those below the turn before: a group whose leaves all earn the same gets 0.
    Tree,
}

impl Baseline {
    /// Whether it compares the members of a group, so that one alone learns nothing.
    pub fn compares_members(self) -> bool {
        match self {
            Self::Group | Self::Turn | Self::Levels | Self::Items | Self::GroupInBatch | Self::Tree => true,
            Self::Batch | Self::Value => false,
        }
    }
}

/// What a rule needs besides scored groups. The driver provides it, and a batch that lacks it is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Needs {
    /// The values of a value head, for which the rule writes targets.
    pub values: bool,
    /// This many continuations from every turn of every valid episode, in [`CreditBatch::probes`]. 0: none.
    pub probes_per_turn: u32,
}

/// Turns scored groups into samples with advantages. The driver calls `assign` once per batch; pure.
pub trait CreditRule: Send + Sync {
    /// What it judges against.
    fn baseline(&self) -> Baseline;

    /// What it needs besides scored groups.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// The discount of its returns, per token; 1 where the rule discounts nothing.
    fn discount(&self) -> f64 {
        1.0
    }

    /// Whether it learns from branches that were left: it holds turns against turns, and what theirs was paid is known.
    fn trains_left(&self) -> bool {
        false
    }

    /// One sample per episode, in the order of the groups and of their members.
    ///
    /// ```
    /// # use merit_core::{End, Episode, EpisodeId, Known, PolicyVersion, Provenance, Reward, Role, Score, ScoredEpisode, Segment, Task, TokenId, Transcript};
    /// use merit_core::{Chosen, Components, Group};
    /// use merit_credit::{CreditBatch, CreditRule};
    /// # let member = |member, value| {
    /// #     let said = Segment::of_text(Role::Policy, Provenance::Sampled, 0, "");
    /// #     let said = Segment { tokens: vec![TokenId(7)], logprobs: vec![-0.5], policy_version: Some(PolicyVersion(0)), known: Known::Full, ..said };
    /// #     let id = EpisodeId { phase: "train".into(), step: 0, group: 0, member, branch: 0 };
    /// #     let transcript = Transcript::try_from(vec![said]).expect("one segment");
    /// #     let episode = Episode::new(id, Task::new("quiz", "quiz/1"), End::Answered).with_transcript(transcript).into();
    /// #     ScoredEpisode { episode, score: Some(Score::new(Reward::Value { value }).with_solved(Some(value == 1.0))) }
    /// # };
    /// let components = merit_credit::register(Components::default());
    /// let rule: Chosen<dyn CreditRule> = components.reading(|| toml::from_str("type = \"grpo\"\nscale_by_std = false"))?;
    /// // Two episodes of one token each, with the rewards 1 and 0.
    /// let group = Group::assemble(vec![member(0, 1.0), member(1, 0.0)])?;
    /// let credit = rule.assign(&CreditBatch::new(&[group]))?;
    /// assert_eq!(credit.samples[0].advantages, Some(vec![0.5]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn assign(&self, batch: &CreditBatch<'_>) -> Result<Credit, CreditError>;
}

impl Kind for dyn CreditRule {
    const KIND: &'static str = "credit rule";
}
