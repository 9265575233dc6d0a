//! ReAgent-V's choice of tasks for GRPO: all, or those that a critic scores low.

use crate::chooser::{Choice, Chooser};
use crate::critic::{group_means, noisy};
use crate::evidence::scaled;
use crate::turns::advantages::Normalisation;
use crate::worlds::pick_place::{Task, cloned, roll_out, success};
use crate::{Desk, Study, StudyError};
use merit_core::{About, Component, Refusal, Seed, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which tasks are learned from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pool {
    /// All of them.
    All,
    /// Those whose rollouts the critic scores below the middle of its scale, which the worst and the best task of the pool span.
    Hard,
    /// As many as the hard ones, drawn.
    Drawn,
}

/// Group-relative learning of pick and place on a pool of tasks. Some tasks call every rollout a failure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ReagentHard {
    /// Which tasks are learned from.
    pub pool: Pool,
    /// How far the critic follows the truth: 1 is exact.
    pub correlation: f64,
    /// The share of tasks that call every rollout a failure.
    pub mislabelled: f64,
    /// How often the hand slips that the policy was cloned from.
    pub slips: f64,
    /// Demonstrations it was cloned from.
    pub demonstrations: usize,
    /// Tasks before the choice.
    pub tasks: usize,
    /// Rollouts of each that the critic sees; they are charged.
    pub probes: usize,
    /// Tasks of an update.
    pub groups: usize,
    /// Rollouts of each.
    pub rollouts: usize,
    /// Learning rate of the policy.
    pub learning_rate: f64,
    /// Tasks that the policy is measured on.
    pub evaluation: usize,
}

impl Default for ReagentHard {
    fn default() -> Self {
        Self {
            pool: Pool::Hard,
            correlation: 0.7,
            mislabelled: 0.05,
            slips: 0.4,
            demonstrations: 400,
            tasks: 128,
            probes: 4,
            groups: 8,
            rollouts: 8,
            learning_rate: 0.05,
            evaluation: 1000,
        }
    }
}

impl Component for ReagentHard {
    const ABOUT: About = About {
        name: "reagent-hard",
        summary: "Group-relative learning on all tasks, or on those that a noisy critic scores low.",
        paper: "ReAgent-V: A Reward-Driven Multi-Agent Framework for Video Understanding (2025), arXiv:2506.01300",
    };

    fn check(&self) -> Result<(), Refusal> {
        let within = |key, value: f64| {
            Refusal::unless(value > 0.0 && value <= 1.0, key, value, "above 0 and at most 1")
        };
        within("correlation", self.correlation)?;
        within("slips", self.slips)?;
        let share = self.mislabelled;
        Refusal::unless((0.0..1.0).contains(&share), "mislabelled", share, "at least 0 and below 1")?;
        let rate = self.learning_rate;
        Refusal::unless(rate.is_finite() && rate > 0.0, "learning_rate", rate, "above 0")?;
        Refusal::unless(self.demonstrations > 0, "demonstrations", self.demonstrations, "at least 1")?;
        Refusal::unless(self.tasks > 0, "tasks", self.tasks, "at least 1")?;
        Refusal::unless(self.probes > 0, "probes", self.probes, "at least 1")?;
        Refusal::unless(self.groups > 0, "groups", self.groups, "at least 1")?;
        Refusal::unless(self.rollouts > 1, "rollouts", self.rollouts, "at least 2: groups are compared")?;
        Refusal::unless(self.evaluation > 0, "evaluation", self.evaluation, "at least 1")
    }
}

/// Updates between two points of the curve, and rollouts where the file sets no budget.
const EVERY: usize = 4;
const ROLLOUTS: f64 = 10_000.0;

impl Study for ReagentHard {
    fn run(&self, seed: &Seed, desk: &mut Desk<'_>) -> Result<(), StudyError> {
        let mut stream = seed.child("start", 0).stream();
        let mut policy = cloned(self.demonstrations, self.slips, &mut stream);
        let tasks: Vec<Task> = (0..self.tasks)
            .map(|_| Task { mislabelled: stream.chance(self.mislabelled), ..Task::draw(&mut stream) })
            .collect();
        let before = self.measured(&policy, seed);
        desk.point("success", before);
        let pool = self.chosen(&policy, &tasks, &seed.child("critic", 0), desk);
        if pool.is_empty() {
            return Err(StudyError::Broken("the critic finds no task hard".to_owned()));
        }
        desk.measure("pool", pool.len() as f64);
        let false_labels = pool.iter().filter(|task| task.mislabelled).count();
        desk.measure("pool_mislabelled", false_labels as f64 / pool.len() as f64);
        let (mut silent, mut groups) = (0, 0);
        while desk.left()? && desk.spent("rollouts") < desk.budget("rollouts").unwrap_or(ROLLOUTS) {
            silent += self.learn(&mut policy, &pool, &mut stream);
            groups += self.groups;
            desk.spend("rollouts", (self.groups * self.rollouts) as f64);
            desk.spend("updates", 1.0);
            if (groups / self.groups).is_multiple_of(EVERY) {
                desk.point("success", self.measured(&policy, seed));
            }
        }
        desk.measure("silent_groups", silent as f64 / groups.max(1) as f64);
        let after = self.measured(&policy, seed);
        desk.measure("success", after);
        desk.measure("gain", after - before);
        Ok(())
    }
}

impl ReagentHard {
    /// Fresh tasks of every kind, the same for every arm.
    fn measured(&self, policy: &Chooser, seed: &Seed) -> f64 {
        let mut stream = seed.child("evaluation", 0).stream();
        let tasks: Vec<Task> = (0..self.evaluation).map(|_| Task::draw(&mut stream)).collect();
        success(policy, &tasks, &mut stream)
    }

    fn chosen(&self, policy: &Chooser, tasks: &[Task], seed: &Seed, desk: &mut Desk<'_>) -> Vec<Task> {
        if self.pool == Pool::All {
            return tasks.to_vec();
        }
        let mut stream = seed.stream();
        let probed: Vec<&Task> =
            tasks.iter().flat_map(|task| std::iter::repeat_n(task, self.probes)).collect();
        let truths: Vec<f64> =
            probed.iter().map(|task| roll_out(policy, task, &mut stream).axes.total()).collect();
        let said = noisy(&truths, self.correlation, &mut stream);
        let scores = scaled(&group_means(&said, self.probes));
        let hard: Vec<Task> =
            tasks.iter().zip(scores).filter(|(_, s)| *s < 0.5).map(|(task, _)| *task).collect();
        if self.pool == Pool::Hard {
            desk.spend("rollouts", probed.len() as f64);
            return hard;
        }
        let mut drawn = tasks.to_vec();
        stream.shuffle(&mut drawn);
        drawn.truncate(hard.len());
        drawn
    }

    /// One update by true success; gives how many groups had nothing to say.
    fn learn(&self, policy: &mut Chooser, pool: &[Task], stream: &mut Stream) -> usize {
        let (mut paths, mut silent): (Vec<(Vec<Choice>, f64)>, usize) = (Vec::new(), 0);
        for task in (0..self.groups).filter_map(|_| stream.pick(pool).copied()).collect::<Vec<_>>() {
            let group: Vec<_> = (0..self.rollouts).map(|_| roll_out(policy, &task, stream)).collect();
            let paid: Vec<Vec<f64>> = group.iter().map(|rollout| vec![rollout.axes.success]).collect();
            let advantages = Normalisation::Joint.advantages(&paid, &[1.0]);
            silent += usize::from(advantages.iter().all(|a| *a == 0.0));
            paths.extend(group.into_iter().zip(advantages).map(|(rollout, a)| (rollout.path, a)));
        }
        let paths: Vec<(&[Choice], f64)> = paths.iter().map(|(path, a)| (path.as_slice(), *a)).collect();
        policy.climb(&paths, None, self.learning_rate);
        silent
    }
}
