//! What an objective declares of itself: what it reads, what it couples, what it averages over.

use super::Recorded;
use std::collections::BTreeMap;

/// What an objective reads beside the log-probabilities of the current policy. Nothing else can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(clippy::struct_excessive_bools)] // A set of independent declarations.
pub struct Needs {
    /// Every trained token was sampled by the policy that the sample names.
    pub on_policy: bool,
    /// Log-probabilities from when the tokens were chosen; only sampled tokens have them.
    pub old_logprobs: bool,
    /// Whether samples that a teacher chose may stand among those of the policy. They have no old log-probabilities, and their group
    /// says how the policy did by itself.
    pub guests: bool,
    /// Credit, from a credit rule.
    pub advantages: bool,
    /// The reward of the episode.
    pub reward: bool,
    /// The mean reward of the episode's group; says nothing in groups of one.
    pub group_reward: bool,
    /// Log-probabilities under a reference policy.
    pub reference: bool,
    /// Entropies of the current policy, to read or to push.
    pub entropy: bool,
    /// Entropies of the policy as it was when the update began.
    pub old_entropy: bool,
    /// Values of the current policy's value head, to read or to push.
    pub values: bool,
    /// Values from when the tokens were chosen.
    pub old_values: bool,
    /// Targets of the value head, from a credit rule that fits values.
    pub returns: bool,
    /// Log-ratios of current and reference policy on mismatched pairs: the prompt of one sample followed by what was said to
    /// the prompt of another group. Needs a reference.
    pub mismatched: bool,
}

/// An objective read what it had not declared: a mistake in the objective.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("reads `{0}`, which it does not declare in `needs()`")]
pub struct Undeclared(pub &'static str);

/// Which samples have a loss together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Each sample has a loss of its own.
    Sequence,
    /// The best and the worst of each group by reward, in this order; a group of equal rewards has no pair. Needs the reward.
    Pair,
    /// All members of a group.
    Group,
}

impl Needs {
    /// Whether anything is read that says how well an episode went; an objective that reads none of it cannot learn by reward.
    pub fn reads_outcome(&self) -> bool {
        self.advantages || self.reward || self.group_reward
    }
}

/// What the loss of a batch is the mean of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Average {
    /// Tokens have losses; the recipe's `loss_agg` says how they count.
    Tokens,
    /// Units have losses: the mean over units, each weighted by the mean weight of its samples. `loss_agg` has no part in it.
    Units,
}

impl Scope {
    /// The units of a batch, in the order of their first samples.
    pub fn units(self, batch: &[Recorded<'_>]) -> Result<Vec<Vec<usize>>, Undeclared> {
        match self {
            Self::Sequence => Ok((0..batch.len()).map(|at| vec![at]).collect()),
            Self::Group => Ok(groups(batch)),
            Self::Pair => {
                let pairs = groups(batch).into_iter().map(|members| best_and_worst(batch, &members));
                Ok(pairs.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
            }
        }
    }
}

/// The members of each group, groups in the order of their first members.
fn groups(batch: &[Recorded<'_>]) -> Vec<Vec<usize>> {
    let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (at, recorded) in batch.iter().enumerate() {
        members.entry(recorded.group()).or_default().push(at);
    }
    let mut groups: Vec<Vec<usize>> = members.into_values().collect();
    groups.sort_by_key(|members| members[0]);
    groups
}

/// The first of the members with the highest reward and the first with the lowest, unless all are equal.
fn best_and_worst(batch: &[Recorded<'_>], members: &[usize]) -> Result<Option<Vec<usize>>, Undeclared> {
    let (mut best, mut worst) = (members[0], members[0]);
    for &at in members {
        let reward = batch[at].reward()?;
        if reward > batch[best].reward()? {
            best = at;
        }
        if reward < batch[worst].reward()? {
            worst = at;
        }
    }
    Ok((best != worst).then(|| vec![best, worst]))
}
