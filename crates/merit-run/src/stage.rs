//! The stages of a run in order, and the place a checkpoint remembers.

use crate::dataset::Dataset;
use crate::recipe::{Recipe, RecipeError};
use crate::stages::{DEMONSTRATIONS, Prefer, StageSettings, Supervision};
use crate::tasks::Tasks;
use merit_core::{Arm, Phase, StageKind, When};
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
}

/// What is done in a stage.
#[derive(Debug, Clone)]
pub(crate) enum Work {
    /// Supervised updates on demonstrations. `newborn`: nothing was learned before.
    Demonstrations { newborn: bool },
    /// Supervised updates on a dataset.
    Imitate { from: Dataset, how: Supervision },
    /// Episodes for a dataset.
    Collect { tasks: u32, samples: u32 },
    /// A dataset; it is read from the record whenever it is needed, so this only tells of it.
    Make { made: Dataset, name: String },
    /// Updates by reward: of an arm, from the warm start; else from where the policy stands.
    Learn { from_warm: bool },
    /// Updates from pairs.
    Prefer { from: Dataset, how: Prefer },
    /// Greedy held-out evaluation, with so many samples beside.
    Evaluate { samples: u32 },
}

impl Stage {
    /// The stages of `recipe`.
    pub(crate) fn all(recipe: &Arc<Recipe>) -> Result<Vec<Self>, RecipeError> {
        if recipe.stages.is_empty() { Self::short_form(recipe) } else { Planner::new(recipe).plan() }
    }

    fn short_form(whole: &Arc<Recipe>) -> Result<Vec<Self>, RecipeError> {
        let of =
            |phase, recipe: &Arc<Recipe>, work| Self { phase, recipe: Arc::clone(recipe), round: 0, work };
        let mut stages = vec![
            of(Phase::Warm, whole, Work::Demonstrations { newborn: true }),
            of(Phase::eval(When::Before), whole, Work::Evaluate { samples: 0 }),
        ];
        for arm in whole.arms() {
            let own = if arm == Arm::Main { Arc::clone(whole) } else { Arc::new(whole.of_arm(&arm)?) };
            stages.push(of(Phase::Train(arm.clone()), &own, Work::Learn { from_warm: true }));
            stages.push(of(Phase::Eval(arm, When::After), &own, Work::Evaluate { samples: 0 }));
        }
        Ok(stages)
    }

    /// Steps of it; what is done at once is one step.
    pub(crate) fn steps(&self) -> u64 {
        match &self.work {
            Work::Demonstrations { .. } => self.recipe.warm_start.steps,
            Work::Imitate { how, .. } => how.steps,
            Work::Prefer { how, .. } => how.steps,
            Work::Learn { .. } => self.recipe.budget.steps,
            Work::Collect { tasks, .. } => u64::from(tasks.div_ceil(self.recipe.budget.groups)),
            Work::Make { .. } | Work::Evaluate { .. } => 1,
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
            Work::Imitate { .. } | Work::Prefer { .. } | Work::Learn { .. } => true,
            Work::Collect { .. } | Work::Make { .. } | Work::Evaluate { .. } => false,
        }
    }

    /// Roughly how much of the run it is, in episodes, for the time left.
    pub(crate) fn weight(&self) -> f64 {
        let recipe = &self.recipe;
        let per_step = f64::from(recipe.budget.groups) * f64::from(recipe.budget.group_size);
        match &self.work {
            Work::Demonstrations { .. } => {
                recipe.warm_start.steps as f64 * recipe.warm_start.batch as f64 * 1.5
            }
            Work::Imitate { how, .. } => how.steps as f64 * how.batch as f64 * 1.5,
            Work::Prefer { how, .. } => how.steps as f64 * how.batch as f64 * 5.0,
            Work::Collect { tasks, samples } => f64::from(*tasks) * f64::from(*samples),
            Work::Make { .. } => 1.0,
            Work::Evaluate { samples } => f64::from(recipe.evaluation.tasks) * f64::from(1 + samples),
            Work::Learn { .. } => recipe.budget.steps as f64 * per_step * 2.0,
        }
    }

    /// Episodes that it records, for the room on the disk.
    pub(crate) fn episodes(&self) -> u64 {
        let recipe = &self.recipe;
        let budget = &recipe.budget;
        match &self.work {
            Work::Collect { tasks, samples } => u64::from(*tasks) * u64::from(*samples),
            Work::Evaluate { samples } => u64::from(recipe.evaluation.tasks) * u64::from(1 + samples),
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

    /// In words.
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
            (phase, Work::Make { .. }) => format!("`{}`: making a dataset", phase.owner()),
            (phase, Work::Learn { .. }) => format!("`{}`: learning by reward", phase.owner()),
            (phase, Work::Prefer { .. }) => format!("`{}`: learning from pairs", phase.owner()),
            (phase, Work::Evaluate { .. }) => format!("`{}`: held-out evaluation", phase.owner()),
        };
        what + &round
    }
}

/// Lays the stages of a recipe out in the order in which they are done.
struct Planner<'a> {
    recipe: &'a Arc<Recipe>,
    /// The recipe of each stage that changes something; rounds share it.
    own: BTreeMap<String, Arc<Recipe>>,
    datasets: BTreeMap<String, Dataset>,
    learned: bool,
    planned: Vec<Stage>,
}

impl<'a> Planner<'a> {
    fn new(recipe: &'a Arc<Recipe>) -> Self {
        let (own, datasets) = (BTreeMap::new(), BTreeMap::new());
        Self { recipe, own, datasets, learned: false, planned: Vec::new() }
    }

    fn plan(mut self) -> Result<Vec<Stage>, RecipeError> {
        for settings in &self.recipe.stages {
            match settings {
                StageSettings::Repeat(repeat) => {
                    for round in 0..repeat.times {
                        repeat.stages.iter().try_for_each(|settings| self.stage(settings, round))?;
                    }
                }
                settings => self.stage(settings, 0)?,
            }
        }
        Ok(self.planned)
    }

    fn stage(&mut self, settings: &StageSettings, round: u64) -> Result<(), RecipeError> {
        let Some(phase) = settings.phase() else { return Ok(()) };
        let recipe = self.recipe_of(settings, &phase)?;
        let work = match settings {
            StageSettings::Imitate(stage) if stage.from == DEMONSTRATIONS => {
                Work::Demonstrations { newborn: !self.learned }
            }
            StageSettings::Imitate(stage) => {
                let how = stage.supervision().map_err(|why| self.refused(settings, why))?;
                Work::Imitate { from: self.dataset(&stage.from, settings)?, how }
            }
            StageSettings::Collect(stage) => Work::Collect { tasks: stage.tasks, samples: stage.samples },
            StageSettings::Make(stage) => {
                let made = self.dataset(&stage.from, settings)?.keeping(stage.keep);
                self.datasets.insert(stage.into.clone(), made.clone());
                Work::Make { made, name: stage.into.clone() }
            }
            StageSettings::Learn(_) => Work::Learn { from_warm: false },
            StageSettings::Prefer(stage) => {
                Work::Prefer { from: self.dataset(&stage.from, settings)?, how: stage.clone() }
            }
            StageSettings::Evaluate(stage) => Work::Evaluate { samples: stage.samples },
            StageSettings::Repeat(_) => return Ok(()),
        };
        let stage = Stage { phase, recipe, round, work };
        if let StageSettings::Collect(settings) = settings {
            let first = stage.first_step();
            let collected = Dataset::collected(stage.phase.clone(), first..first + stage.steps());
            self.datasets.insert(settings.into.clone(), collected);
        }
        self.learned |= !matches!(stage.phase, Phase::Eval(..) | Phase::Stage(StageKind::Evaluate, _))
            && !matches!(stage.work, Work::Collect { .. } | Work::Make { .. });
        self.planned.push(stage);
        Ok(())
    }

    fn recipe_of(&mut self, settings: &StageSettings, phase: &Phase) -> Result<Arc<Recipe>, RecipeError> {
        if settings.changes().is_empty() {
            return Ok(Arc::clone(self.recipe));
        }
        if let Some(known) = self.own.get(&phase.to_string()) {
            return Ok(Arc::clone(known));
        }
        let own = self.recipe.of_stage(&format!("recipe `{}`", self.recipe.name), settings)?;
        Ok(Arc::clone(self.own.entry(phase.to_string()).or_insert(Arc::new(own))))
    }

    fn dataset(&self, name: &str, settings: &StageSettings) -> Result<Dataset, RecipeError> {
        let known = self.datasets.get(name).cloned();
        known.ok_or_else(|| self.refused(settings, format!("there is no dataset `{name}`")))
    }

    fn refused(&self, settings: &StageSettings, why: String) -> RecipeError {
        let file = format!("recipe `{}`: {}", self.recipe.name, settings.title());
        RecipeError::Combination { file, why }
    }
}

/// The next thing to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Place {
    /// Index of the stage.
    pub(crate) stage: usize,
    /// Steps of it that are done.
    pub(crate) step: u64,
    /// Version of the policy when the stage began.
    #[serde(default)]
    pub(crate) version: u64,
    /// Checkpoints written so far; each has a higher number than the last.
    pub(crate) checkpoint: u64,
}
