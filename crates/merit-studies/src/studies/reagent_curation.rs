//! ReAgent-V's curation: a critic's scores of rollouts choose what a policy of pick and place learns from.

use crate::chooser::{Choice, Chooser};
use crate::critic::{best_and_worst, noisy};
use crate::scores::pearson;
use crate::worlds::pick_place::{Rollout, Task, cloned, roll_out, success};
use crate::{Desk, Study, StudyError};
use merit_core::{About, Component, Refusal, Seed, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the policy learns from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Data {
    /// Nothing: the policy as it is.
    None,
    /// Pairs: the best rollout of an episode by the critic before the worst.
    BestWorst,
    /// Pairs of two rollouts of an episode, drawn.
    RandomPairs,
    /// Imitation of the rollouts that the critic scores highest, a quarter of all.
    Kept,
}

/// A policy cloned from a hand that slips, and what it learns from eight rollouts of each episode. Pairs are made only of episodes with a
/// true success among them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ReagentCuration {
    /// What the policy learns from.
    pub data: Data,
    /// How far the critic's total follows the true one: 1 is exact.
    pub correlation: f64,
    /// How often the hand slips that the policy was cloned from.
    pub slips: f64,
    /// Demonstrations it was cloned from.
    pub demonstrations: usize,
    /// Episodes that are tried.
    pub episodes: usize,
    /// Rollouts of each.
    pub rollouts: usize,
    /// Updates; an update meets four pairs, or eight rollouts.
    pub updates: usize,
    /// Of the preference loss.
    pub beta: f64,
    /// Step size; of the preference loss per `beta`.
    pub learning_rate: f64,
    /// Tasks that the policy is measured on.
    pub evaluation: usize,
}

impl Default for ReagentCuration {
    fn default() -> Self {
        Self {
            data: Data::BestWorst,
            correlation: 0.7,
            slips: 0.4,
            demonstrations: 400,
            episodes: 300,
            rollouts: 8,
            updates: 150,
            beta: 0.1,
            learning_rate: 0.05,
            evaluation: 2000,
        }
    }
}

impl Component for ReagentCuration {
    const ABOUT: About = About {
        name: "reagent-curation",
        summary: "A noisy critic of rollouts chooses pairs or kept rollouts for a policy of pick and place.",
        paper: "ReAgent-V: A Reward-Driven Multi-Agent Framework for Video Understanding (2025), arXiv:2506.01300",
    };

    fn check(&self) -> Result<(), Refusal> {
        let within = |key, value: f64| {
            Refusal::unless(value > 0.0 && value <= 1.0, key, value, "above 0 and at most 1")
        };
        within("correlation", self.correlation)?;
        within("slips", self.slips)?;
        let positive =
            |key, value: f64| Refusal::unless(value.is_finite() && value > 0.0, key, value, "above 0");
        positive("beta", self.beta)?;
        positive("learning_rate", self.learning_rate)?;
        Refusal::unless(self.demonstrations > 0, "demonstrations", self.demonstrations, "at least 1")?;
        Refusal::unless(self.episodes > 0, "episodes", self.episodes, "at least 1")?;
        Refusal::unless(self.rollouts > 1, "rollouts", self.rollouts, "at least 2: they are compared")?;
        Refusal::unless(self.evaluation > 0, "evaluation", self.evaluation, "at least 1")
    }
}

const PAIRS: usize = 4;

impl Study for ReagentCuration {
    fn run(&self, seed: &Seed, desk: &mut Desk<'_>) -> Result<(), StudyError> {
        let mut stream = seed.child("start", 0).stream();
        let base = cloned(self.demonstrations, self.slips, &mut stream);
        let groups: Vec<Vec<Rollout>> = (0..self.episodes)
            .map(|_| {
                let task = Task::draw(&mut stream);
                (0..self.rollouts).map(|_| roll_out(&base, &task, &mut stream)).collect()
            })
            .collect();
        desk.spend("rollouts", (self.episodes * self.rollouts) as f64);
        let truths: Vec<f64> = groups.iter().flatten().map(|rollout| rollout.axes.total()).collect();
        let said = noisy(&truths, self.correlation, &mut seed.child("critic", 0).stream());
        desk.measure("correlation", pearson(&truths, &said));
        desk.measure("base", self.measured(&base, seed));
        let policy = self.learned(&base, &groups, &said, seed, desk)?;
        desk.measure("success", self.measured(&policy, seed));
        Ok(())
    }
}

impl ReagentCuration {
    /// The same tasks for every arm, and for the policy before.
    fn measured(&self, policy: &Chooser, seed: &Seed) -> f64 {
        let mut stream = seed.child("evaluation", 0).stream();
        let tasks: Vec<Task> = (0..self.evaluation).map(|_| Task::draw(&mut stream)).collect();
        success(policy, &tasks, &mut stream)
    }

    fn learned(
        &self,
        base: &Chooser,
        groups: &[Vec<Rollout>],
        said: &[f64],
        seed: &Seed,
        desk: &mut Desk<'_>,
    ) -> Result<Chooser, StudyError> {
        let mut stream = seed.child("learning", 0).stream();
        let mut policy = base.clone();
        let pairs = self.pairs(groups, said, &mut stream);
        let kept = self.kept(groups, said);
        desk.measure("pairs", pairs.len() as f64);
        desk.point("success", self.measured(&policy, seed));
        for update in 1..=if self.data == Data::None { 0 } else { self.updates } {
            if !desk.left()? {
                break;
            }
            if self.data == Data::Kept {
                let batch: Vec<(&[Choice], f64)> =
                    (0..2 * PAIRS).filter_map(|_| stream.pick(&kept)).map(|path| (*path, 1.0)).collect();
                policy.climb(&batch, None, self.learning_rate);
            } else {
                let batch: Vec<_> = (0..PAIRS).filter_map(|_| stream.pick(&pairs).copied()).collect();
                policy.prefer(&batch, base, self.beta, self.learning_rate);
            }
            desk.spend("updates", 1.0);
            if update % 30 == 0 {
                desk.point("success", self.measured(&policy, seed));
            }
        }
        Ok(policy)
    }

    /// One pair of every episode in which somebody succeeded.
    fn pairs<'a>(
        &self,
        groups: &'a [Vec<Rollout>],
        said: &[f64],
        stream: &mut Stream,
    ) -> Vec<(&'a [Choice], &'a [Choice])> {
        let mut pairs = Vec::new();
        for (group, said) in groups.iter().zip(said.chunks(self.rollouts)) {
            if group.iter().all(|rollout| rollout.axes.success == 0.0) {
                continue;
            }
            let chosen = match self.data {
                Data::BestWorst => best_and_worst(said),
                Data::RandomPairs => {
                    let first = stream.below(group.len() as u64) as usize;
                    let step = 1 + stream.below(group.len() as u64 - 1) as usize;
                    Some((first, (first + step) % group.len()))
                }
                Data::None | Data::Kept => None,
            };
            pairs.extend(chosen.map(|(b, w)| (group[b].path.as_slice(), group[w].path.as_slice())));
        }
        pairs
    }

    /// The quarter of all rollouts that the critic scores highest.
    fn kept<'a>(&self, groups: &'a [Vec<Rollout>], said: &[f64]) -> Vec<&'a [Choice]> {
        let mut all: Vec<(&Rollout, f64)> = groups.iter().flatten().zip(said.iter().copied()).collect();
        all.sort_by(|a, b| b.1.total_cmp(&a.1));
        all.truncate(all.len().div_ceil(4));
        all.into_iter().map(|(rollout, _)| rollout.path.as_slice()).collect()
    }
}
