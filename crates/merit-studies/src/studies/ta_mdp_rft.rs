//! TA-MDP: what theory says of GRPO under composite verifiable rewards, on a tool process with exact gradients.

use crate::turns::advantages::Normalisation;
use crate::turns::ascents::{Ascent, Steps};
use crate::turns::fits::{line, log_log_slope, spearman};
use crate::turns::grpo::{Estimator, Problem};
use crate::turns::targets::{Targets, composite};
use crate::turns::tool_mdp::{Logits, ToolMdp, add, leaning, norm2, uniform};
use crate::turns::transfer::Tasks;
use crate::{Desk, Study, StudyError};
use merit_core::{About, Component, Refusal, Seed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Question {
    /// How fast the exact gradient shrinks along GRPO's updates.
    Rate,
    /// How the variance of the estimate depends on the group size and on the number of components.
    Variance,
    /// What is lost when components are optimised one by one.
    Decomposition,
    /// Whether the others still improve when the first component is saturated.
    Saturation,
    /// The gap between train and test tasks, against a PAC-Bayes bound.
    Generalisation,
}

/// One question of the theory, on 20 states, 4 text actions, 3 tools and at most 2 tool calls an episode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TaMdpRft {
    /// Which question of the theory is asked.
    pub question: Question,
    /// One weight for every component: format, accuracy, executability, more.
    pub weights: Vec<f64>,
    /// How much format and accuracy share decisions, and how much the next state depends on the action; in [0, 1].
    pub coupling: f64,
    /// How rewards become advantages.
    pub normalisation: Normalisation,
    /// Groups per update.
    pub groups: usize,
    /// Episodes per group.
    pub group_size: usize,
    /// Updates of one cell.
    pub updates: usize,
    /// Step size of an update.
    pub step: f64,
    /// Let the step fall as the root of the update; its mean over all updates stays `step`.
    pub decay: bool,
    /// Follow the exact gradient instead of the estimate.
    pub exact: bool,
    /// Variance: group sizes to sweep.
    pub group_sizes: Vec<usize>,
    /// Variance: numbers of components to sweep, with weights of 1.
    pub component_counts: Vec<usize>,
    /// Variance: estimates per point.
    pub replicates: usize,
    /// How components are improved.
    pub ascent: Ascent,
    /// Decomposition: couplings to sweep, rising.
    pub couplings: Vec<f64>,
    /// Exact ascent: steps per component.
    pub ascent_steps: usize,
    /// Exact ascent: size of a step.
    pub ascent_step: f64,
    /// Saturation: the lead of the first component's actions in the logits at the start.
    pub saturation: f64,
    /// Generalisation: numbers of train tasks to sweep, rising.
    pub task_counts: Vec<usize>,
    /// Generalisation: the chance that a target of a task is the common one.
    pub keep: f64,
    /// Generalisation: the share of test tasks with random targets.
    pub shift: f64,
    /// Generalisation: the bound may fail this often.
    pub delta: f64,
    /// Generalisation: draws of the train tasks.
    pub redraws: usize,
}

impl Default for TaMdpRft {
    fn default() -> Self {
        Self {
            question: Question::Rate,
            weights: vec![1.0; 3],
            coupling: 0.5,
            normalisation: Normalisation::Joint,
            groups: 4,
            group_size: 8,
            updates: 2000,
            step: 1.0,
            decay: false,
            exact: false,
            group_sizes: vec![2, 4, 8, 16, 32, 64],
            component_counts: vec![1, 2, 3, 5],
            replicates: 400,
            ascent: Ascent::Joint,
            couplings: (0..=10).map(|tenth| f64::from(tenth) / 10.0).collect(),
            ascent_steps: 400,
            ascent_step: 50.0,
            saturation: 5.0,
            task_counts: vec![5, 10, 20, 50, 100, 200],
            keep: 0.6,
            shift: 0.1,
            delta: 0.05,
            redraws: 20,
        }
    }
}

impl Component for TaMdpRft {
    const ABOUT: About = About {
        name: "ta-mdp-rft",
        summary: "Rate, decomposition and transfer of GRPO under composite rewards, on an exact tool process.",
        paper: "Rethinking Reinforcement Fine-Tuning in LVLM: Convergence, Reward Decomposition, and Generalization, arXiv:2604.19857",
    };

    fn check(&self) -> Result<(), Refusal> {
        let many = self.weights.len();
        Refusal::unless((1..=5).contains(&many), "weights", many, "a list of one to five numbers")?;
        if self.weights.iter().any(|weight| !(0.0..=1.0).contains(weight)) {
            return Err(Refusal::new("`weights` must lie between 0 and 1, so that the return does too"));
        }
        if self.question == Question::Saturation && many < 2 {
            return Err(Refusal::new("`weights` needs two components: one is saturated, one watched"));
        }
        let shares = [("coupling", self.coupling), ("keep", self.keep), ("shift", self.shift)];
        for (key, share) in shares.into_iter().chain(self.couplings.iter().map(|c| ("couplings", *c))) {
            Refusal::unless((0.0..=1.0).contains(&share), key, share, "between 0 and 1")?;
        }
        Refusal::unless(self.delta > 0.0 && self.delta < 1.0, "delta", self.delta, "between 0 and 1")?;
        Refusal::unless(self.groups > 0, "groups", self.groups, "at least 1")?;
        Refusal::unless(self.replicates > 1, "replicates", self.replicates, "at least 2")?;
        let least = self.group_sizes.iter().copied().min().unwrap_or(0).min(self.group_size);
        Refusal::unless(
            least >= 2,
            "group_size",
            least,
            "at least 2: one member has nobody to compare with",
        )?;
        if self.component_counts.is_empty() || self.component_counts.iter().any(|k| !(1..=5).contains(k)) {
            return Err(Refusal::new("`component_counts` must be numbers from 1 to 5"));
        }
        let fewest = self.task_counts.iter().copied().min().unwrap_or(0);
        Refusal::unless(fewest > 0, "task_counts", fewest, "at least 1")?;
        Refusal::unless(!self.couplings.is_empty(), "couplings", "empty", "at least one number")
    }
}

impl Study for TaMdpRft {
    fn run(&self, seed: &Seed, desk: &mut Desk<'_>) -> Result<(), StudyError> {
        let problem = Problem::draw(&self.weights, self.coupling, seed);
        match self.question {
            Question::Rate => self.climb(&problem, uniform(), seed, desk).map(drop),
            Question::Variance => self.variance(&problem, seed, desk),
            Question::Decomposition => self.decomposition(seed, desk),
            Question::Saturation => self.saturated(&problem, seed, desk),
            Question::Generalisation => self.generalisation(seed, desk),
        }
    }
}

impl TaMdpRft {
    fn estimator(&self) -> Estimator {
        Estimator { normalisation: self.normalisation, groups: self.groups, group_size: self.group_size }
    }

    fn steps(&self) -> Steps {
        Steps { count: self.ascent_steps, size: self.ascent_step }
    }

    /// The exact squared gradient of the composite return at every update, and where the policy ends.
    fn climb(
        &self,
        problem: &Problem,
        mut logits: Logits,
        seed: &Seed,
        desk: &mut Desk<'_>,
    ) -> Result<Logits, StudyError> {
        let reward = problem.composite();
        let mut stream = seed.child("rollouts", 0).stream();
        let (mut least, mut silent, mut update) = (f64::INFINITY, 0, 0);
        let (mut points, mut next_look) = (Vec::new(), 1.0);
        while update < self.updates && desk.left()? {
            let exact = problem.mdp.gradient(&reward, &logits);
            least = norm2(&exact).min(least);
            update += 1;
            if update as f64 >= next_look {
                next_look *= 1.15;
                points.push((update as f64, least));
                desk.point("least_gradient", least);
                desk.point("return", problem.mdp.value(&reward, &logits));
            }
            let fall = if self.decay { 0.5 * (self.updates as f64 / update as f64).sqrt() } else { 1.0 };
            if self.exact {
                add(&mut logits, &exact, fall * self.step);
            } else {
                let estimate = self.estimator().estimate(problem, &logits, &mut stream);
                add(&mut logits, &estimate.gradient, fall * self.step);
                desk.spend("env_steps", estimate.env_steps as f64);
                silent += estimate.silent_groups;
            }
            desk.spend("updates", 1.0);
        }
        points.retain(|(update, _)| *update >= 10.0);
        desk.measure("slope", log_log_slope(&points));
        desk.measure("silent_groups", silent as f64 / (update * self.groups).max(1) as f64);
        desk.measure("regret", problem.mdp.optimum(&reward) - problem.mdp.value(&reward, &logits));
        Ok(logits)
    }

    fn saturated(&self, problem: &Problem, seed: &Seed, desk: &mut Desk<'_>) -> Result<(), StudyError> {
        let start = leaning(&problem.tables[0], self.saturation);
        let most = |k: usize| problem.mdp.optimum(&composite(&problem.tables[k..=k], &[1.0]));
        let share = |k: usize, logits: &Logits| problem.component(k, logits) / most(k);
        let before: Vec<f64> = (0..self.weights.len()).map(|k| share(k, &start)).collect();
        desk.measure("saturated_at_start", before[0]);
        let end = self.climb(problem, start, seed, desk)?;
        let gains: Vec<f64> = before.iter().enumerate().map(|(k, before)| share(k, &end) - before).collect();
        desk.measure("gain_saturated", gains[0]);
        desk.measure("gain_others", gains[1..].iter().sum::<f64>() / (gains.len() - 1) as f64);
        Ok(())
    }

    fn variance(&self, problem: &Problem, seed: &Seed, desk: &mut Desk<'_>) -> Result<(), StudyError> {
        let mut points = Vec::new();
        for (at, &group_size) in self.group_sizes.iter().enumerate() {
            desk.left()?;
            let estimator = Estimator { groups: 1, group_size, ..self.estimator() };
            let mut stream = seed.child("replicates", at as u64).stream();
            let variance = estimator.variance(problem, &uniform(), self.replicates, &mut stream);
            points.push((1.0 / group_size as f64, variance));
            desk.spend("group_size", group_size as f64 - desk.spent("group_size"));
            desk.point("variance", variance);
        }
        desk.measure("r2", line(&points).1);
        points.retain(|(inverse, _)| *inverse <= 0.25);
        desk.measure("r2_from_4", line(&points).1);
        let mut by_count = Vec::new();
        for &count in &self.component_counts {
            desk.left()?;
            let problem = Problem::draw(&vec![1.0; count], self.coupling, seed);
            let estimator = Estimator { groups: 1, ..self.estimator() };
            let mut stream = seed.child("replicates by components", count as u64).stream();
            let variance = estimator.variance(&problem, &uniform(), self.replicates, &mut stream);
            desk.measure(&format!("variance_k{count}"), variance);
            by_count.push((count as f64, variance));
        }
        desk.measure("growth_with_components", by_count[by_count.len() - 1].1 / by_count[0].1);
        Ok(())
    }

    fn decomposition(&self, seed: &Seed, desk: &mut Desk<'_>) -> Result<(), StudyError> {
        let mut gaps = Vec::new();
        for &coupling in &self.couplings {
            desk.left()?;
            let problem = Problem::draw(&self.weights, coupling, seed);
            let found = self.ascent.value(&problem, self.steps());
            let best = match self.ascent {
                Ascent::Joint => problem.mdp.optimum(&problem.composite()),
                _ => Ascent::Joint.value(&problem, self.steps()),
            };
            desk.spend("coupling", coupling - desk.spent("coupling"));
            desk.point("gap", best - found);
            desk.measure(&format!("gap_c{coupling}"), best - found);
            gaps.push((coupling, best - found));
        }
        desk.measure("rank_with_coupling", spearman(&gaps));
        desk.measure("greatest_gap", gaps.iter().fold(0.0, |most, (_, gap)| gap.max(most)));
        Ok(())
    }

    fn generalisation(&self, seed: &Seed, desk: &mut Desk<'_>) -> Result<(), StudyError> {
        let mdp = ToolMdp::draw(self.coupling, &mut seed.child("dynamics", 0).stream());
        // Components look at disjoint states, so that losses stay in [0, 1] whatever the targets of a task.
        let common = Targets::draw(self.weights.len(), 0.0, &mut seed.child("targets", 0).stream());
        let tasks = Tasks { mdp, common, weights: self.weights.clone(), keep: self.keep, shift: self.shift };
        let (mut points, mut held, mut runs) = (Vec::new(), 0.0, 0.0);
        for &count in &self.task_counts {
            let mut mean = [0.0; 3];
            for draw in 0..self.redraws as u64 {
                desk.left()?;
                let mut stream = seed.child("tasks", count as u64).child("draw", draw).stream();
                let found = tasks.train(count, self.steps(), &mut stream);
                let limit = tasks.bound(&found, count, self.delta);
                held += f64::from(u8::from(limit >= found.shifted_loss - found.train_loss));
                runs += 1.0;
                let gap = found.test_loss - found.train_loss;
                let parts = [gap * gap, found.shifted_loss - found.train_loss, limit];
                mean.iter_mut().zip(parts).for_each(|(mean, part)| *mean += part / self.redraws as f64);
            }
            mean[0] = mean[0].sqrt();
            desk.spend("tasks", count as f64 - desk.spent("tasks"));
            for (name, value) in ["gap", "shifted_gap", "bound"].iter().zip(mean) {
                desk.point(name, value);
                desk.measure(&format!("{name}_n{count}"), value);
            }
            points.push((count as f64, mean[0].max(1e-9)));
        }
        desk.measure("slope", log_log_slope(&points));
        desk.measure("bound_holds", held / f64::max(runs, 1.0));
        Ok(())
    }
}
