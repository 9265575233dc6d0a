//! The plan of a run: the stages of a recipe in the order in which they are done, each with its datasets and its place to begin.

use crate::dataset::{Dataset, Source};
use crate::recipe::Recipe;
use crate::recipe_error::RecipeError;
use crate::stage::{Ending, Rounds, Stage, Work};
use crate::stages::{Collect, DEMONSTRATIONS, Plateau, Repeat, StageSettings};
use crate::suite::Suite;
use merit_core::Phase;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Whether a recipe may call the stage of `phase` so: by its name, or by its whole phase where that is not enough.
pub(crate) fn called(phase: &Phase, name: &str) -> bool {
    let own = match phase {
        Phase::Stage(_, own) => own == name,
        Phase::Eval(_, merit_core::When::Before) => name == "before",
        Phase::Eval(_, merit_core::When::After) => name == "after",
        _ => false,
    };
    own || phase.to_string() == name
}

/// The phases of earlier stages that a stage comes back to.
fn comes_back(stage: &Stage) -> Vec<&str> {
    let mut back: Vec<&str> = stage.begin.as_deref().into_iter().collect();
    if let Work::Merge { places, .. } = &stage.work {
        back.extend(places.iter().map(String::as_str));
    }
    back
}

/// Lays the stages of a recipe out in the order in which they are done.
pub(crate) struct Planner<'a> {
    recipe: &'a Arc<Recipe>,
    /// The recipe of each stage that changes something; rounds share it.
    own: BTreeMap<String, Arc<Recipe>>,
    datasets: BTreeMap<String, Dataset>,
    learned: bool,
    planned: Vec<Stage>,
    /// The phases of the stages so far after which the policy is another, by what they are called.
    changed: BTreeMap<String, Phase>,
}

impl<'a> Planner<'a> {
    pub(crate) fn new(recipe: &'a Arc<Recipe>) -> Self {
        let (own, datasets) = (BTreeMap::new(), BTreeMap::new());
        Self { recipe, own, datasets, learned: false, planned: Vec::new(), changed: BTreeMap::new() }
    }

    pub(crate) fn plan(mut self, rounds: &Rounds) -> Result<Vec<Stage>, RecipeError> {
        for (at, settings) in self.recipe.stages.iter().enumerate() {
            match settings {
                StageSettings::Repeat(repeat) => self.repeat(at, repeat, rounds.get(&at).copied())?,
                settings => self.stage(settings, 0)?,
            }
        }
        let back: BTreeSet<String> = self.planned.iter().flat_map(comes_back).map(str::to_owned).collect();
        for stage in &mut self.planned {
            stage.kept = back.contains(&stage.phase.to_string());
        }
        Ok(self.planned)
    }

    /// The rounds of a `repeat`: as many as were enough, where that is known.
    fn repeat(&mut self, at: usize, repeat: &Repeat, enough: Option<u64>) -> Result<(), RecipeError> {
        let evaluations = || repeat.stages.iter().filter(|stage| matches!(stage, StageSettings::Evaluate(_)));
        let of = |until: &Plateau| {
            evaluations().filter_map(StageSettings::phase).find(|phase| called(phase, &until.of))
        };
        let ending =
            repeat.until.as_ref().filter(|_| enough.is_none()).and_then(|until| {
                Some(Arc::new(Ending { repeat: at, until: until.clone(), phase: of(until)? }))
            });
        for round in 0..enough.unwrap_or(repeat.times) {
            let first = self.planned.len();
            repeat.stages.iter().try_for_each(|settings| self.stage(settings, round))?;
            if let Some(stage) = self.planned.get_mut(first).filter(|_| round > 0) {
                stage.until = ending.clone();
            }
        }
        Ok(())
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
                Work::Imitate { from: self.source(&stage.from, settings)?, how }
            }
            StageSettings::Collect(Collect { alter: Some(how), tasks, samples, .. }) => {
                let from = self.dataset(&how.from, settings)?;
                Work::Alter { from, how: how.clone(), tasks: *tasks, samples: *samples }
            }
            StageSettings::Collect(stage) => {
                let (search, practice) = (stage.search.clone(), stage.practice);
                Work::Collect { tasks: stage.tasks, samples: stage.samples, search, practice }
            }
            StageSettings::Make(stage) => {
                let made = self.dataset(&stage.from, settings)?.keeping(stage.keep);
                self.datasets.insert(stage.into.clone(), made.clone());
                Work::Make { made, name: stage.into.clone() }
            }
            StageSettings::Learn(_) => Work::Learn { from_warm: false },
            StageSettings::Prefer(stage) => {
                Work::Prefer { from: self.source(&stage.from, settings)?, how: stage.clone() }
            }
            StageSettings::Fit(stage) => {
                Work::Fit { from: self.dataset(&stage.from, settings)?, how: stage.clone() }
            }
            StageSettings::Evolve(stage) => {
                Work::Evolve { from: self.source(&stage.from, settings)?, how: stage.clone() }
            }
            StageSettings::Merge(stage) => {
                let places: Result<_, _> = stage.stages().map(|name| self.after(name, settings)).collect();
                Work::Merge { how: stage.clone(), places: places? }
            }
            StageSettings::Evaluate(stage) => Work::Evaluate { suite: Suite::of(stage) },
            StageSettings::Repeat(_) => return Ok(()),
        };
        let begin = settings.start().map(|name| self.after(name, settings)).transpose()?;
        let stage = Stage { begin, ..Stage::plain(phase, &recipe, round, work) };
        if let StageSettings::Collect(settings) = settings {
            let first = stage.first_step();
            let collected = Dataset::collected(stage.phase.clone(), first..first + stage.steps());
            self.datasets.insert(settings.into.clone(), collected);
        }
        if settings.changes_policy() {
            self.learned = true;
            self.changed.insert(stage.phase.to_string(), stage.phase.clone());
        }
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

    fn source(&self, name: &str, settings: &StageSettings) -> Result<Source, RecipeError> {
        match self.recipe.datasets.contains_key(name) {
            true => Ok(Source::Own(name.to_owned())),
            false => self.dataset(name, settings).map(Source::Recorded),
        }
    }

    fn dataset(&self, name: &str, settings: &StageSettings) -> Result<Dataset, RecipeError> {
        let known = self.datasets.get(name).cloned();
        known.ok_or_else(|| self.refused(settings, format!("there is no dataset `{name}`")))
    }

    /// The phase of the stage that is called so, after which the policy is another.
    fn after(&self, name: &str, settings: &StageSettings) -> Result<String, RecipeError> {
        let found = self.changed.values().find(|phase| called(phase, name));
        found
            .map(Phase::to_string)
            .ok_or_else(|| self.refused(settings, format!("no stage before it is called `{name}`")))
    }

    fn refused(&self, settings: &StageSettings, why: String) -> RecipeError {
        let file = format!("recipe `{}`: {}", self.recipe.name, settings.title());
        RecipeError::Combination { file, why }
    }
}
