//! The stages of a run in order, and the place a checkpoint remembers.

use crate::dataset::{Dataset, Source};
use crate::plan::Planner;
use crate::recipe::Recipe;
use crate::recipe_error::RecipeError;
use crate::stages::{Alter, Evolve, Fit, Merge, Plateau, Practice, Prefer, SearchSettings, Supervision};
use crate::suite::Suite;
use crate::tasks::Tasks;
use merit_core::{Arm, Phase, When};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// One stage of a run. Stages are done in order; each begins with what the one before left.
#[derive(Debug, Clone)]
pub(crate) struct Stage {
    /// Where its episodes and numbers are recorded.
    pub(crate) phase: Phase,
    /// The recipe that it follows.
    pub(crate) recipe: Arc<Recipe>,
    /// The round of a `repeat`, from 0; its steps count on from round to round.
    pub(crate) round: u64,
    pub(crate) work: Work,
    /// The stage after which the policy stood where this one begins. Absent: where the one before left it.
    pub(crate) begin: Option<String>,
    /// Whether a later stage comes back to the policy as it stands after this one.
    pub(crate) kept: bool,
    /// What decides whether this round is done; at the first stage of a round after the first.
    pub(crate) until: Option<Arc<Ending>>,
}

/// When a `repeat` ends before its last round.
#[derive(Debug)]
pub(crate) struct Ending {
    /// Index of the `repeat` among the stages of the recipe.
    pub(crate) repeat: usize,
    pub(crate) until: Plateau,
    /// Where the evaluation is recorded.
    pub(crate) phase: Phase,
}

/// Rounds of the repeats that ended before their last, by their index among the stages of the recipe.
pub(crate) type Rounds = BTreeMap<usize, u64>;

/// What is done in a stage.
#[derive(Debug, Clone)]
pub(crate) enum Work {
    /// Supervised updates on demonstrations. `newborn`: nothing was learned before.
    Demonstrations { newborn: bool },
    /// Supervised updates on a dataset.
    Imitate { from: Source, how: Supervision },
    /// Episodes for a dataset.
    Collect { tasks: u32, samples: u32, search: Option<SearchSettings>, practice: Option<Practice> },
    /// Altered episodes of a dataset beside those that they were made from.
    Alter { from: Dataset, how: Alter, tasks: u32, samples: u32 },
    /// A dataset; it is read from the record whenever it is needed, so this only tells of it.
    Make { made: Dataset, name: String },
    /// Updates by reward: of an arm, from the warm start; else from where the policy stands.
    Learn { from_warm: bool },
    /// Updates from pairs.
    Prefer { from: Source, how: Prefer },
    /// Updates of a model beside the policy.
    Fit { from: Dataset, how: Fit },
    /// A judge improved from pairs.
    Evolve { from: Source, how: Evolve },
    /// One policy of several, which stood after these stages.
    Merge { how: Merge, places: Vec<String> },
    /// Greedy held-out evaluation, and what is measured beside.
    Evaluate { suite: Suite },
}

impl Stage {
    /// The stages of `recipe`, with as many rounds as `rounds` says of those that ended early.
    pub(crate) fn all(recipe: &Arc<Recipe>, rounds: &Rounds) -> Result<Vec<Self>, RecipeError> {
        if recipe.stages.is_empty() { Self::short_form(recipe) } else { Planner::new(recipe).plan(rounds) }
    }

    /// A stage that begins where the one before ends.
    pub(crate) fn plain(phase: Phase, recipe: &Arc<Recipe>, round: u64, work: Work) -> Self {
        let recipe = Arc::clone(recipe);
        Self { phase, recipe, round, work, begin: None, kept: false, until: None }
    }

    fn short_form(whole: &Arc<Recipe>) -> Result<Vec<Self>, RecipeError> {
        let of = |phase, recipe: &Arc<Recipe>, work| Self::plain(phase, recipe, 0, work);
        let evaluate = || Work::Evaluate { suite: Suite::default() };
        let warm = || of(Phase::Warm, whole, Work::Demonstrations { newborn: true });
        let mut stages: Vec<Self> = whole.warm_start.iter().map(|_| warm()).collect();
        stages.push(of(Phase::eval(When::Before), whole, evaluate()));
        for arm in whole.arms() {
            let own = if arm == Arm::Main { Arc::clone(whole) } else { Arc::new(whole.of_arm(&arm)?) };
            stages.push(of(Phase::Train(arm.clone()), &own, Work::Learn { from_warm: true }));
            stages.push(of(Phase::Eval(arm, When::After), &own, evaluate()));
        }
        Ok(stages)
    }

    /// Steps of it; what is done at once is one step.
    pub(crate) fn steps(&self) -> u64 {
        match &self.work {
            Work::Demonstrations { .. } => self.recipe.warm().steps,
            Work::Imitate { how, .. } => how.steps,
            Work::Prefer { how, .. } => how.steps,
            Work::Fit { how, .. } => how.steps,
            Work::Learn { .. } => self.recipe.budget.steps,
            Work::Collect { tasks, .. } | Work::Alter { tasks, .. } => {
                u64::from(tasks.div_ceil(self.recipe.budget.groups))
            }
            Work::Make { .. } | Work::Evolve { .. } | Work::Merge { .. } | Work::Evaluate { .. } => 1,
        }
    }

    /// The number that the first step of this round has in the record.
    pub(crate) fn first_step(&self) -> u64 {
        self.round * self.steps()
    }

    /// Whether its updates make new versions of the policy. Those of the warm start do not: version 0 is the policy after it.
    pub(crate) fn makes_versions(&self) -> bool {
        match &self.work {
            Work::Demonstrations { newborn } => !newborn,
            Work::Imitate { .. } | Work::Prefer { .. } | Work::Learn { .. } | Work::Merge { .. } => true,
            Work::Collect { .. }
            | Work::Alter { .. }
            | Work::Make { .. }
            | Work::Fit { .. }
            | Work::Evolve { .. }
            | Work::Evaluate { .. } => false,
        }
    }

    /// Roughly how much of the run it is, in episodes, for the time left.
    pub(crate) fn weight(&self) -> f64 {
        let recipe = &self.recipe;
        let per_step = f64::from(recipe.budget.groups) * f64::from(recipe.budget.group_size);
        match &self.work {
            Work::Demonstrations { .. } => recipe.warm().steps as f64 * recipe.warm().batch as f64 * 1.5,
            Work::Imitate { how, .. } => how.steps as f64 * how.batch as f64 * 1.5,
            Work::Prefer { how, .. } => how.steps as f64 * how.batch as f64 * 5.0,
            Work::Collect { tasks, samples, search, .. } => {
                f64::from(*tasks) * f64::from(*samples) * f64::from(tries(search.as_ref()))
            }
            Work::Alter { tasks, samples, .. } => f64::from(*tasks) * f64::from(*samples) * 0.2,
            Work::Fit { how, .. } => how.steps as f64 * how.batch as f64 * 3.0,
            Work::Make { .. } | Work::Evolve { .. } | Work::Merge { .. } => 1.0,
            Work::Evaluate { suite } => {
                let each = suite.samples.saturating_add(tries(suite.search.as_ref()));
                f64::from(recipe.evaluation.tasks) * f64::from(each)
            }
            Work::Learn { .. } => recipe.budget.steps as f64 * per_step * 2.0,
        }
    }

    /// Episodes that it records, for the room on the disk.
    pub(crate) fn episodes(&self) -> u64 {
        let recipe = &self.recipe;
        let budget = &recipe.budget;
        match &self.work {
            Work::Collect { tasks, samples, .. } => u64::from(*tasks) * u64::from(*samples),
            Work::Alter { tasks, samples, .. } => u64::from(*tasks) * (u64::from(*samples) + 1),
            Work::Evaluate { suite } => u64::from(recipe.evaluation.tasks) * u64::from(1 + suite.samples),
            Work::Learn { .. } => {
                let between = budget.steps.checked_div(recipe.evaluation.every).unwrap_or(0);
                let per_step = u64::from(budget.groups) * u64::from(budget.group_size);
                let evaluated = between.saturating_mul(u64::from(recipe.evaluation.tasks_between));
                let rounds = recipe.tasks.as_ref().map_or(1, Tasks::most_rounds);
                budget.steps.saturating_mul(per_step).saturating_mul(rounds).saturating_add(evaluated)
            }
            _ => 0,
        }
    }

    /// What the stage does, for the progress and the error messages.
    pub(crate) fn describe(&self) -> String {
        let round = if self.round == 0 { String::new() } else { format!(", round {}", self.round + 1) };
        let what = match (&self.phase, &self.work) {
            (Phase::Warm, _) => "warm start on demonstrations".into(),
            (Phase::Eval(Arm::Main, When::Before), _) => "held-out evaluation before learning".into(),
            (Phase::Train(Arm::Main), _) => "learning by reward".into(),
            (Phase::Eval(Arm::Main, _), _) => "held-out evaluation after learning".into(),
            (Phase::Train(Arm::Control(name)), _) => format!("control `{name}`: learning by reward"),
            (Phase::Eval(Arm::Control(name), _), _) => format!("control `{name}`: held-out evaluation"),
            (phase, Work::Demonstrations { .. }) => format!("`{}`: imitating demonstrations", phase.owner()),
            (phase, Work::Imitate { .. }) => format!("`{}`: imitating a dataset", phase.owner()),
            (phase, Work::Collect { .. }) => format!("`{}`: collecting episodes", phase.owner()),
            (phase, Work::Alter { .. }) => format!("`{}`: altering episodes", phase.owner()),
            (phase, Work::Make { .. }) => format!("`{}`: making a dataset", phase.owner()),
            (phase, Work::Learn { .. }) => format!("`{}`: learning by reward", phase.owner()),
            (phase, Work::Prefer { .. }) => format!("`{}`: learning from pairs", phase.owner()),
            (phase, Work::Fit { .. }) => format!("`{}`: fitting a model", phase.owner()),
            (phase, Work::Evolve { .. }) => format!("`{}`: evolving a judge", phase.owner()),
            (phase, Work::Merge { .. }) => format!("`{}`: merging weights", phase.owner()),
            (phase, Work::Evaluate { .. }) => format!("`{}`: held-out evaluation", phase.owner()),
        };
        what + &round
    }
}

/// Episodes that are played for one that is kept: one where nothing is searched.
fn tries(search: Option<&SearchSettings>) -> u32 {
    search.map_or(1, SearchSettings::episodes)
}

/// The next thing to do.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Place {
    pub(crate) stage: usize,
    /// Steps of it that are done.
    pub(crate) step: u64,
    /// Version of the policy when the stage began.
    #[serde(default)]
    pub(crate) version: u64,
    /// Checkpoints written so far; each has a higher number than the last.
    pub(crate) checkpoint: u64,
    /// Rounds of the repeats that ended before their last.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) rounds: Rounds,
    /// Answers that judges have paid for whom a model of the recipe answers.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) paid: BTreeMap<String, u64>,
}
