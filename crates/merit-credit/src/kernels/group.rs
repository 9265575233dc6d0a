//! Advantages against the other members of a group.
//!
//! With n counting members, rewards r, mean m and unbiased standard deviation s (divisor n − 1):
//!   mean and std     (r_i − m) / (s + 1e-6)      GRPO (Shao et al., arXiv:2402.03300), with the constants verl uses
//!   mean             r_i − m                     Dr. GRPO (Liu et al., arXiv:2503.20783)
//!   leave one out    n / (n − 1) · (r_i − m)     RLOO (Ahmadian et al., arXiv:2402.14740): r_i less the others' mean
//! A group that is constant, or has fewer than two counting members, gets exactly 0: there is nothing to compare, and
//! dividing float noise by its own spread would make large advantages of it.

use super::{Rows, same_len, spread};
use crate::CreditError;
use std::collections::BTreeMap;

/// Added to the standard deviation before dividing.
pub const STD_EPSILON: f64 = 1e-6;

/// How a group's rewards become advantages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupNorm {
    /// Less the mean, over the standard deviation.
    MeanStd,
    /// Less the mean.
    Mean,
    /// Less the mean of the others.
    LeaveOneOut,
}

/// What is known of the counting members of a group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GroupStats {
    /// Counting members.
    pub count: usize,
    /// Mean reward.
    pub mean: f64,
    /// Unbiased standard deviation; 0 below two members.
    pub std: f64,
    /// Whether there is nothing to compare: fewer than two, or all equal up to float noise.
    pub constant: bool,
}

impl GroupStats {
    /// Of the rewards of the counting members.
    pub fn of(rewards: &[f64]) -> Self {
        let count = rewards.len();
        let mean = rewards.iter().sum::<f64>() / count.max(1) as f64;
        let squares: f64 = rewards.iter().map(|r| (r - mean) * (r - mean)).sum();
        let std = if count < 2 { 0.0 } else { (squares / (count - 1) as f64).sqrt() };
        Self { count, mean, std, constant: constant(rewards) }
    }

    /// The advantage of a member with this reward.
    pub fn advantage(&self, reward: f64, norm: GroupNorm) -> f64 {
        if self.constant {
            return 0.0;
        }
        let above = reward - self.mean;
        match norm {
            GroupNorm::MeanStd => above / (self.std + STD_EPSILON),
            GroupNorm::Mean => above,
            GroupNorm::LeaveOneOut => above * self.count as f64 / (self.count - 1) as f64,
        }
    }
}

/// Whether rewards are all the same up to float noise; the same measure as `merit_core::Group::constant`.
pub fn constant(rewards: &[f64]) -> bool {
    let (low, high) = rewards.iter().fold((f64::MAX, f64::MIN), |(l, h), &r| (l.min(r), h.max(r)));
    rewards.len() < 2 || high - low <= 1e-9 * high.abs().max(low.abs()).max(1.0)
}

/// The advantage of each row against the rows of the same group. `None` is a row that does not count: it gets 0 and moves
/// nobody.
pub fn group_advantages(
    rewards: &[Option<f64>],
    groups: &[u32],
    norm: GroupNorm,
    out: &mut [f64],
) -> Result<(), CreditError> {
    same_len("groups", groups.len(), rewards.len())?;
    same_len("out", out.len(), rewards.len())?;
    let mut members: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for (&group, reward) in groups.iter().zip(rewards) {
        members.entry(group).or_default().extend(reward);
    }
    let stats: BTreeMap<u32, GroupStats> =
        members.into_iter().map(|(group, rewards)| (group, GroupStats::of(&rewards))).collect();
    for ((advantage, reward), group) in out.iter_mut().zip(rewards).zip(groups) {
        *advantage = reward.map_or(0.0, |r| stats[group].advantage(r, norm));
    }
    Ok(())
}

/// GRPO over flat arrays: each row's advantage on its trainable entries. `scale_by_std` off is Dr. GRPO.
pub fn grpo_advantages(
    rows: &Rows<'_>,
    rewards: &[Option<f64>],
    groups: &[u32],
    scale_by_std: bool,
    out: &mut [f32],
) -> Result<(), CreditError> {
    let norm = if scale_by_std { GroupNorm::MeanStd } else { GroupNorm::Mean };
    group_then_spread(rows, rewards, groups, norm, out)
}

/// RLOO over flat arrays: each row's advantage on its trainable entries.
pub fn rloo_advantages(
    rows: &Rows<'_>,
    rewards: &[Option<f64>],
    groups: &[u32],
    out: &mut [f32],
) -> Result<(), CreditError> {
    group_then_spread(rows, rewards, groups, GroupNorm::LeaveOneOut, out)
}

fn group_then_spread(
    rows: &Rows<'_>,
    rewards: &[Option<f64>],
    groups: &[u32],
    norm: GroupNorm,
    out: &mut [f32],
) -> Result<(), CreditError> {
    let mut per_row = vec![0.0; rewards.len()];
    group_advantages(rewards, groups, norm, &mut per_row)?;
    spread(rows, &per_row, out)
}
