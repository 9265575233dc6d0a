//! What an objective sees: sequences that have a loss together, and of each what the objective has declared.

use super::{Needs, Undeclared};
use crate::Entry;
use merit_api::trainer::SequenceOutputs;
use std::ops::Deref;

/// A sample as it was recorded. Streams have one number per token.
#[derive(Debug, Clone, Copy)]
pub struct Recorded<'a> {
    entry: &'a Entry<'a>,
    needs: Needs,
}

impl<'a> Recorded<'a> {
    /// `entry` as an objective with these needs may see it.
    pub(crate) fn new(entry: &'a Entry<'a>, needs: Needs) -> Self {
        Self { entry, needs }
    }

    /// Which group of the batch it belongs to.
    pub fn group(&self) -> usize {
        self.entry.group
    }

    /// How many tokens are trained; at least 1.
    pub fn trained(&self) -> usize {
        self.entry.trained()
    }

    /// The positions of the tokens that are trained.
    pub fn positions(&self) -> impl Iterator<Item = usize> + use<'a> {
        let mask = self.entry.mask.as_slice();
        (0..mask.len()).filter(|&at| mask[at])
    }

    /// Log-probabilities from when the tokens were chosen.
    pub fn old_logprobs(&self) -> Result<&'a [f32], Undeclared> {
        declared("old_logprobs", self.needs.old_logprobs, self.entry.old_logprobs)
    }

    /// Whether a teacher chose its tokens.
    pub fn is_guest(&self) -> bool {
        self.entry.old_logprobs.is_none()
    }

    /// The mean reward of the group's members that the policy sampled; absent where none counts.
    pub fn own_reward(&self) -> Result<Option<f64>, Undeclared> {
        declared("own_reward", self.needs.guests, Some(self.entry.own_reward))
    }

    /// One advantage per token, where the objective declared that it needs them.
    pub fn advantages(&self) -> Result<&'a [f32], Undeclared> {
        declared("advantages", self.needs.advantages, self.entry.advantages)
    }

    /// Log-probabilities under the reference policy.
    pub fn reference(&self) -> Result<&'a [f32], Undeclared> {
        declared("reference", self.needs.reference, self.entry.reference.as_deref())
    }

    /// Entropies of the policy as it was when the update began.
    pub fn old_entropy(&self) -> Result<&'a [f32], Undeclared> {
        declared("old_entropy", self.needs.old_entropy, self.entry.old_entropy.as_deref())
    }

    /// Values from when the tokens were chosen.
    pub fn old_values(&self) -> Result<&'a [f32], Undeclared> {
        declared("old_values", self.needs.old_values, self.entry.old_values)
    }

    /// What the values should be.
    pub fn returns(&self) -> Result<&'a [f32], Undeclared> {
        declared("returns", self.needs.returns, self.entry.returns)
    }

    /// The reward of the episode.
    pub fn reward(&self) -> Result<f64, Undeclared> {
        declared("reward", self.needs.reward, self.entry.reward)
    }

    /// The mean reward of the group, over its members that have one.
    pub fn group_reward(&self) -> Result<f64, Undeclared> {
        declared("group_reward", self.needs.group_reward, self.entry.group_reward)
    }
}

/// What was declared and is there. The batch was checked, so what is missing was not declared.
fn declared<T>(name: &'static str, declared: bool, value: Option<T>) -> Result<T, Undeclared> {
    value.filter(|_| declared).ok_or(Undeclared(name))
}

/// A sample, and what the current policy says of it.
#[derive(Debug, Clone, Copy)]
pub struct Member<'a> {
    recorded: Recorded<'a>,
    outputs: SequenceOutputs<'a>,
}

impl<'a> Deref for Member<'a> {
    type Target = Recorded<'a>;

    fn deref(&self) -> &Recorded<'a> {
        &self.recorded
    }
}

impl<'a> Member<'a> {
    pub(crate) fn new(recorded: Recorded<'a>, outputs: SequenceOutputs<'a>) -> Self {
        Self { recorded, outputs }
    }

    /// Log-probabilities under the current policy.
    pub fn logprobs(&self) -> &'a [f32] {
        self.outputs.logprobs
    }

    /// Entropies of the current policy where the tokens were chosen, in nats.
    pub fn entropy(&self) -> Result<&'a [f32], Undeclared> {
        declared("entropy", self.recorded.needs.entropy, Some(self.outputs.entropy))
    }

    /// What the value head says now.
    pub fn values(&self) -> Result<&'a [f32], Undeclared> {
        declared("values", self.recorded.needs.values, Some(self.outputs.values))
    }

    /// `log(policy / reference)` of the whole sequence: the sum over its trained tokens.
    pub fn log_ratio_to_reference(&self) -> Result<f64, Undeclared> {
        let (logprobs, reference) = (self.logprobs(), self.reference()?);
        Ok(self.positions().map(|at| f64::from(logprobs[at]) - f64::from(reference[at])).sum())
    }
}

/// Sequences that have a loss together.
#[derive(Debug, Clone)]
pub struct Unit<'a> {
    /// The sequences, in the order in which the objective put them together; at least one.
    pub members: Vec<Member<'a>>,
    mismatched: Option<&'a [f64]>,
}

impl<'a> Unit<'a> {
    pub(crate) fn new(members: Vec<Member<'a>>, mismatched: Option<&'a [f64]>) -> Self {
        Self { members, mismatched }
    }

    /// `log(policy / reference)` of mismatched pairs, one number per sequence: the prompt of one sample of the minibatch and
    /// what was said to another group's prompt. Empty when all samples of the batch belong to one group.
    pub fn mismatched(&self) -> Result<&'a [f64], Undeclared> {
        self.mismatched.ok_or(Undeclared("mismatched"))
    }
}
