//! Search at test time: of each task one episode, the best that a strategy finds by trying several ways on.
//!
//! In: plans, one for each task, the runner of plans, and the valuer of episodes, finished or not. Out: the chosen
//! episodes and what the search cost. All tasks are searched side by side, so that their tries are sampled together; a task's result
//! depends on its own plan only. Knows no model and no reward: values come from outside.

mod strategies;
mod tree;

use crate::plan::EpisodePlan;
use crate::settings::RolloutSettings;
use merit_core::{Cost, End, Episode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::Arc;
use strategies::{Kept, Strategy};
use tree::{Tree, Try};

/// How the best episode of a task is looked for, as `search` of a stage says it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum SearchSettings {
    /// Several whole episodes, of which the best is chosen.
    BestOf(BestOf),
    /// Turn by turn, several ways on from each of the best so far.
    Beam(Beam),
    /// Always on from the best that is open.
    BestFirst(BestFirst),
    /// Monte Carlo tree search (UCT).
    Mcts(Mcts),
}

/// Several whole episodes, of which the best is chosen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BestOf {
    /// Who says what an episode is worth.
    pub value: String,
    /// Episodes of a task.
    pub samples: u32,
}

/// Turn by turn, several ways on from each of the best so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Beam {
    /// Who says what an episode is worth, finished or not.
    pub value: String,
    /// How many are kept after each turn.
    pub keep: u32,
    /// Ways on that are tried from each.
    pub tries: u32,
}

/// Always on from the best that is open.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BestFirst {
    /// Who says what an episode is worth, finished or not.
    pub value: String,
    /// Ways on that are tried from a node.
    pub tries: u32,
    /// No node is gone on from once the world has taken so many steps for a task.
    pub steps: u32,
}

/// Monte Carlo tree search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mcts {
    /// Who says what an episode is worth.
    pub value: String,
    /// Ways on that are tried from a node at most.
    pub tries: u32,
    /// Nothing more is tried once the world has taken so many steps for a task; steps that only repeat what was said are not counted.
    pub steps: u32,
    /// Weight of what was seldom tried: `c` of UCT, where values are scaled to the range that the tree has seen.
    #[serde(default = "one")]
    pub explore: f64,
    /// Where a leaf is valued.
    #[serde(default)]
    pub leaf: Leaf,
}

/// Where a leaf is valued.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Leaf {
    /// At the end of an episode that is played on from it.
    #[default]
    Playout,
    /// The episode as it stands, finished or not.
    Here,
}

fn one() -> f64 {
    1.0
}

/// Most ways on and most steps for one task: a tree has to fit into memory.
const MOST: u32 = 4096;

impl SearchSettings {
    /// Who says what an episode is worth.
    pub fn value(&self) -> &str {
        match self {
            Self::BestOf(how) => &how.value,
            Self::Beam(how) => &how.value,
            Self::BestFirst(how) => &how.value,
            Self::Mcts(how) => &how.value,
        }
    }

    /// Roughly how many episodes a task costs.
    pub fn episodes(&self) -> u32 {
        match self {
            Self::BestOf(how) => how.samples,
            Self::Beam(how) => how.keep.saturating_mul(how.tries),
            Self::BestFirst(BestFirst { steps, .. }) | Self::Mcts(Mcts { steps, .. }) => steps.div_ceil(4),
        }
    }

    /// `Err` with the reason where it cannot be done.
    pub fn check(&self) -> Result<(), String> {
        let count = |key: &str, value: u32, least: u32| match (least..=MOST).contains(&value) {
            true => Ok(()),
            false => Err(format!("`search.{key}` is {value}; it lies between {least} and {MOST}")),
        };
        match self {
            Self::BestOf(how) => count("samples", how.samples, 2),
            Self::Beam(how) => count("keep", how.keep, 1).and(count("tries", how.tries, 2)),
            Self::BestFirst(how) => count("tries", how.tries, 2).and(count("steps", how.steps, 1)),
            Self::Mcts(how) => {
                count("tries", how.tries, 2).and(count("steps", how.steps, 1))?;
                match how.explore.is_finite() && how.explore >= 0.0 {
                    true => Ok(()),
                    false => Err(format!("`search.explore` is {}; it is at least 0", how.explore)),
                }
            }
        }
    }

    fn strategy(&self) -> Box<dyn Strategy> {
        match self.clone() {
            Self::BestOf(how) => Box::new(how),
            Self::Beam(how) => Box::new(Kept::new(how)),
            Self::BestFirst(how) => Box::new(how),
            Self::Mcts(how) => Box::new(how),
        }
    }

    /// Searches for the best episode of each plan's task. `run` plays plans in order; where it stops before the last, tasks that are not
    /// searched through are left out. `value` says of each episode what it is worth, `None` where it cannot tell. An error of either is
    /// the end of it.
    pub fn search<E>(
        &self,
        plans: Vec<EpisodePlan>,
        settings: &RolloutSettings,
        mut run: impl FnMut(Vec<EpisodePlan>) -> Result<Vec<Arc<Episode>>, E>,
        mut value: impl FnMut(&[Arc<Episode>]) -> Result<Vec<Option<f64>>, E>,
    ) -> Result<Searched, E> {
        let turns = |plan: &EpisodePlan| settings.turns_of(plan.task.size);
        let mut trees: Vec<(Tree, Box<dyn Strategy>)> =
            plans.into_iter().map(|plan| (Tree::new(plan.clone(), turns(&plan)), self.strategy())).collect();
        let mut valued = 0;
        let unfinished: BTreeSet<usize> = loop {
            let (mut asked, mut round) = (Vec::new(), Vec::new());
            for (at, (tree, strategy)) in trees.iter_mut().enumerate() {
                for next in next(tree, strategy.as_mut()) {
                    round.push(tree.plan(next));
                    asked.push((at, next));
                }
            }
            let wanted = round.len();
            let episodes = run(round)?;
            let values = value(&episodes)?;
            valued += episodes.iter().filter(|one| !matches!(one.end, End::Failed { .. })).count();
            for (((at, asked), episode), value) in asked.iter().zip(&episodes).zip(values) {
                trees[*at].0.insert(*asked, episode, value.filter(|value| value.is_finite()));
            }
            // Fewer: somebody has asked it to stop.
            if wanted == 0 || episodes.len() < wanted {
                break asked.into_iter().map(|(at, _)| at).collect();
            }
        };
        let finished = trees.iter().enumerate().filter(|(at, _)| !unfinished.contains(at));
        Ok(Searched {
            episodes: finished.filter_map(|(_, (tree, _))| tree.chosen()).collect(),
            cost: trees.iter().map(|(tree, _)| tree.cost).sum(),
            valued: valued as u64,
        })
    }
}

/// What is tried next for one task; once the strategy is through, what is needed to choose.
fn next(tree: &Tree, strategy: &mut dyn Strategy) -> Vec<Try> {
    let tries = strategy.next(tree);
    if tries.is_empty() { tree.ending().into_iter().collect() } else { tries }
}

#[derive(Debug)]
pub struct Searched {
    /// The chosen episodes, in the order of the plans. A task whose every try broke has one that broke.
    pub episodes: Vec<Arc<Episode>>,
    /// What everything that was tried has cost, the chosen episodes included. Steps that repeat an earlier turn are probe steps.
    pub cost: Cost,
    pub valued: u64,
}
