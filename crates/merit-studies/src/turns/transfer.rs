//! Train on few tasks, test on shifted ones, against a PAC-Bayes bound.

use super::ascents::Steps;
use super::targets::{Targets, composite};
use super::tool_mdp::{Table, ToolMdp, divergence, uniform};
use merit_core::Stream;

/// Where tasks come from: a common target, kept by each task with a chance; test tasks are random for a share `shift`.
#[derive(Debug, Clone)]
pub struct Tasks {
    pub mdp: ToolMdp,
    pub common: Targets,
    pub weights: Vec<f64>,
    pub keep: f64,
    pub shift: f64,
}

/// What one training found. Losses are 1 − return.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transfer {
    pub train_loss: f64,
    /// On fresh tasks of the same kind.
    pub test_loss: f64,
    /// On shifted tasks.
    pub shifted_loss: f64,
    /// KL divergence of the policy from the untrained one.
    pub divergence: f64,
}

impl Tasks {
    /// Ascends the mean return of `count` tasks from the uniform policy.
    pub fn train(&self, count: usize, steps: Steps, stream: &mut Stream) -> Transfer {
        let mut mean = self.common.tables();
        mean.iter_mut().flatten().for_each(|row| *row = Default::default());
        for _ in 0..count {
            let tables = self.common.redrawn(self.keep, stream).tables();
            let rows = mean.iter_mut().flatten().zip(tables.iter().flatten());
            rows.for_each(|(mean, row)| {
                mean.iter_mut().zip(row).for_each(|(m, paid)| *m += paid / count as f64)
            });
        }
        let mut logits = uniform();
        self.mdp.ascend(&composite(&mean, &self.weights), &mut logits, steps.count, steps.size);
        let loss = |tables: &[Table]| 1.0 - self.mdp.value(&composite(tables, &self.weights), &logits);
        Transfer {
            train_loss: loss(&mean),
            test_loss: loss(&self.common.mean_tables(self.keep)),
            shifted_loss: loss(&self.common.mean_tables(self.keep * (1.0 - self.shift))),
            divergence: divergence(&logits, &uniform()),
        }
    }

    /// McAllester's bound on `shifted_loss − train_loss`, holding with probability 1 − delta over the `count` tasks:
    ///   `sqrt((KL + ln(2 sqrt(N) / delta)) / (2 N)) + shift`.
    /// Losses lie in [0, 1], and the shifted tasks are at a total variation of at most `shift` from the train tasks.
    pub fn bound(&self, found: &Transfer, count: usize, delta: f64) -> f64 {
        let n = count as f64;
        ((found.divergence + (2.0 * n.sqrt() / delta).ln()) / (2.0 * n)).sqrt() + self.shift
    }
}
