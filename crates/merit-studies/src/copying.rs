//! Copying the needed fact out of a noisy context: a softmax policy, three rewards that pull apart, group-relative updates.
//!
//! The context has facts, one of them needed. At every step the policy emits the needed fact, another one of the context, one that
//! is not there, or stops. What it sees is how much it has emitted and whether the needed fact is among it. r1 = the needed fact is
//! there; r2 = the share of what was emitted that is in the context, 1 where nothing was; r3 = 1 − length / budget.

use crate::chooser::{Choice, Chooser};
use merit_core::Stream;

/// Facts in the context, facts that are not, and the most that can be emitted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Copying {
    pub context: usize,
    pub absent: usize,
    pub budget: usize,
}

/// Kinds of what can be done. A state has a feature for each; the number of a state is twice how much was emitted, and one more where the
/// needed fact is among it.
pub const KINDS: usize = 4;
/// The needed fact.
pub const NEEDED: usize = 0;
/// Another fact of the context.
pub const OTHER: usize = 1;
// 2 is a fact that is not there.
/// The end.
pub const STOP: usize = 3;

/// One output with what it is paid by objective.
#[derive(Debug, Clone)]
pub struct Output {
    pub choices: Vec<Choice>,
    pub rewards: [f64; 3],
    pub length: usize,
}

impl Copying {
    /// Features of a policy for this task.
    pub fn features(&self) -> usize {
        (self.budget + 1) * 2 * KINDS
    }

    fn candidates(&self, emitted: usize, has: bool) -> Vec<Vec<usize>> {
        let feature = |kind: usize| vec![(emitted * 2 + usize::from(has)) * KINDS + kind];
        let mut all = vec![feature(NEEDED)];
        all.extend((1..self.context).map(|_| feature(OTHER)));
        all.extend((0..self.absent).map(|_| feature(2)));
        all.push(feature(STOP));
        all
    }

    /// Emits until the policy stops or the budget is spent.
    pub fn write(&self, policy: &Chooser, stream: &mut Stream) -> Output {
        let (mut choices, mut there, mut length, mut has) = (Vec::new(), 0_usize, 0_usize, false);
        while length < self.budget {
            let choice = policy.choose(self.candidates(length, has), false, stream);
            let chosen = choice.chosen;
            let stops = chosen == choice.candidates.len() - 1;
            choices.push(choice);
            if stops {
                break;
            }
            length += 1;
            has |= chosen == NEEDED;
            there += usize::from(chosen < self.context);
        }
        let faithful = if length == 0 { 1.0 } else { there as f64 / length as f64 };
        let rewards = [f64::from(u8::from(has)), faithful, 1.0 - length as f64 / self.budget as f64];
        Output { choices, rewards, length }
    }
}

/// Rewards less their mean, by their standard deviation; nothing where they are equal.
pub fn relative(rewards: &[f64]) -> Vec<f64> {
    let mean = crate::tabular::mean(rewards);
    let variance = rewards.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / rewards.len().max(1) as f64;
    let deviation = variance.sqrt();
    rewards.iter().map(|r| if deviation > 1e-9 { (r - mean) / deviation } else { 0.0 }).collect()
}
