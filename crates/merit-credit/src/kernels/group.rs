//! Advantages against the other members of a group.
//!
//! With n valid members, rewards r, mean m and unbiased standard deviation s (divisor n − 1):
//!   mean and std     (r_i − m) / (s + 1e-6)      GRPO (Shao et al., arXiv:2402.03300), with the constants verl uses
//!   mean             r_i − m                     Dr. GRPO (Liu et al., arXiv:2503.20783)
//!   leave one out    n / (n − 1) · (r_i − m)     RLOO (Ahmadian et al., arXiv:2402.14740): r_i less the others' mean
//! A group that is constant, or has fewer than two valid members, gets exactly 0: there is nothing to compare, and
//! dividing float noise by its own spread would make large advantages of it.

use super::{Rows, same_len, spread};
use crate::CreditError;
use merit_core::constant;
use std::collections::BTreeMap;

/// Added to the standard deviation before dividing.
pub const STD_EPSILON: f64 = 1e-6;

/// What is known of the valid members of a group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GroupStats {
    /// Members whose reward is valid.
    pub count: usize,
    pub mean: f64,
    /// Unbiased standard deviation; 0 below two members.
    pub std: f64,
    /// Whether there is nothing to compare: fewer than two, or all equal up to float noise.
    pub constant: bool,
}

impl GroupStats {
    /// Of the rewards of the valid members.
    pub fn of(rewards: &[f64]) -> Self {
        let count = rewards.len();
        let mean = rewards.iter().sum::<f64>() / count.max(1) as f64;
        let squares: f64 = rewards.iter().map(|r| (r - mean) * (r - mean)).sum();
        let std = if count < 2 { 0.0 } else { (squares / (count - 1) as f64).sqrt() };
        Self { count, mean, std, constant: constant(rewards) }
    }
}

/// GRPO's formula: less the mean, over the standard deviation.
pub fn mean_std(reward: f64, group: &GroupStats) -> f64 {
    (reward - group.mean) / (group.std + STD_EPSILON)
}

/// Dr. GRPO's formula: less the mean.
pub fn mean(reward: f64, group: &GroupStats) -> f64 {
    reward - group.mean
}

/// RLOO's formula: less the mean of the others.
pub fn leave_one_out(reward: f64, group: &GroupStats) -> f64 {
    (reward - group.mean) * group.count as f64 / (group.count - 1) as f64
}

/// What a comparison within groups gives besides the stream.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared {
    /// The advantage of each row; 0 where the row is not valid or its group constant.
    pub per_row: Vec<f64>,
    pub stats: BTreeMap<u32, GroupStats>,
}

/// The advantage of each row against the rows of the same group, by `formula`, on the trainable entries of the row. A constant
/// group gets 0. A reward of `None` is a row that is not valid: it gets 0 and moves nobody.
pub fn group_advantages(
    rows: &Rows<'_>,
    rewards: &[Option<f64>],
    groups: &[u32],
    formula: impl Fn(f64, &GroupStats) -> f64,
    out: &mut [f32],
) -> Result<Compared, CreditError> {
    same_len("groups", groups.len(), rewards.len())?;
    let mut members: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for (&group, reward) in groups.iter().zip(rewards) {
        members.entry(group).or_default().extend(reward);
    }
    let stats: BTreeMap<u32, GroupStats> =
        members.into_iter().map(|(group, rewards)| (group, GroupStats::of(&rewards))).collect();
    let advantage = |(reward, group): (&Option<f64>, &u32)| {
        let stats = &stats[group];
        reward.filter(|_| !stats.constant).map_or(0.0, |reward| formula(reward, stats))
    };
    let per_row: Vec<f64> = rewards.iter().zip(groups).map(advantage).collect();
    spread(rows, &per_row, out)?;
    Ok(Compared { per_row, stats })
}
