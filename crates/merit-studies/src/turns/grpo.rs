//! Group-relative policy gradients on the tool process, sampled or exact.

use super::advantages::Normalisation;
use super::targets::{Targets, composite};
use super::tool_mdp::{self, LAYERS, Logits, Path, Table, ToolMdp};
use merit_core::{Seed, Stream};

/// A process with the components of its reward.
#[derive(Debug, Clone)]
pub struct Problem {
    pub mdp: ToolMdp,
    pub tables: Vec<Table>,
    pub weights: Vec<f64>,
}

impl Problem {
    /// A process and targets with this coupling; the same draws for every coupling.
    pub fn draw(weights: &[f64], coupling: f64, seed: &Seed) -> Self {
        let mdp = ToolMdp::draw(coupling, &mut seed.child("dynamics", 0).stream());
        let targets = Targets::draw(weights.len(), coupling, &mut seed.child("targets", 0).stream());
        Self { mdp, tables: targets.tables(), weights: weights.to_vec() }
    }

    pub fn composite(&self) -> Table {
        composite(&self.tables, &self.weights)
    }

    /// The expected value of one component, in [0, 1].
    pub fn component(&self, k: usize, logits: &Logits) -> f64 {
        self.mdp.value(&composite(&self.tables[k..=k], &[1.0]), logits)
    }
}

/// Groups of episodes that share their first state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimator {
    pub normalisation: Normalisation,
    pub groups: usize,
    pub group_size: usize,
}

/// A gradient and what it was made of.
#[derive(Debug, Clone)]
pub struct Estimate {
    pub gradient: Logits,
    pub env_steps: usize,
    /// Groups whose rewards were all equal.
    pub silent_groups: usize,
}

impl Estimator {
    pub fn estimate(&self, problem: &Problem, logits: &Logits, stream: &mut Stream) -> Estimate {
        let mut gradient = vec![[0.0; tool_mdp::ACTIONS]; logits.len()];
        let policy = tool_mdp::policy_of(logits);
        let mut silent_groups = 0;
        let scale = 1.0 / (self.groups * self.group_size) as f64;
        for _ in 0..self.groups {
            let first = tool_mdp::pick(problem.mdp.start(), stream);
            let paths: Vec<Path> =
                (0..self.group_size).map(|_| problem.mdp.roll_out(&policy, first, stream)).collect();
            let earned =
                |path: &Path| problem.tables.iter().map(|table| tool_mdp::earned(path, table)).collect();
            let rewards: Vec<Vec<f64>> = paths.iter().map(earned).collect();
            let advantages = self.normalisation.advantages(&rewards, &problem.weights);
            silent_groups += usize::from(advantages.iter().all(|a| a.abs() < 1e-9));
            for (path, advantage) in paths.iter().zip(&advantages) {
                tool_mdp::add_score(&mut gradient, &policy, path, advantage * scale);
            }
        }
        Estimate { gradient, env_steps: self.groups * self.group_size * LAYERS, silent_groups }
    }

    /// The trace of the covariance of the estimate, from replicates.
    pub fn variance(
        &self,
        problem: &Problem,
        logits: &Logits,
        replicates: usize,
        stream: &mut Stream,
    ) -> f64 {
        let (mut sum, mut squares) = (vec![[0.0; tool_mdp::ACTIONS]; logits.len()], 0.0);
        for _ in 0..replicates {
            let gradient = self.estimate(problem, logits, stream).gradient;
            squares += tool_mdp::norm2(&gradient);
            tool_mdp::add(&mut sum, &gradient, 1.0);
        }
        let n = replicates as f64;
        (squares - tool_mdp::norm2(&sum) / n) / (n - 1.0)
    }
}
