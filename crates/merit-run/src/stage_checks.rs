//! Stages that parse but cannot be done: names that are not in the recipe, orders that cannot be, numbers that mean nothing.

use crate::model::{ModelConfig, Trained};
use crate::models::{LOG_PROB, MEAN_LOG_PROB, SCORE};
use crate::plan::called;
use crate::plateau::until;
use crate::recipe::Recipe;
use crate::stages::{
    Alter, Collect, DEMONSTRATIONS, Evaluating, Evolve, Fit, FitLoss, KeepEpisodes, Merge, Practice, Prefer,
    SearchSettings, StageSettings,
};
use merit_core::Phase;
use merit_core::registry::nearest;
use std::collections::{BTreeMap, BTreeSet};

/// What a dataset holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holds {
    Episodes,
    Pairs,
}

/// Every reason why the stages cannot be done.
pub(crate) fn check(recipe: &Recipe) -> Vec<String> {
    if recipe.stages.is_empty() {
        return Vec::new();
    }
    let mut walk = Walk::of(recipe);
    if let Some(control) = recipe.controls.first() {
        walk.wrong.push(format!(
            "a recipe with `[[stages]]` has no controls, and this one has `{}`; make the control a recipe of its own",
            control.name
        ));
    }
    for odd in recipe.datasets.keys().filter(|name| !crate::checks::plain(name) || *name == DEMONSTRATIONS) {
        walk.wrong.push(format!(
            "[datasets.{odd}]: a name is made of lower-case letters, digits and `-`, and `{DEMONSTRATIONS}` are the teacher's"
        ));
    }
    walk.all(&recipe.stages, false);
    if walk.taught > 1 && !recipe.roles.teacher.is_oracle() {
        walk.wrong.push(
            "two stages imitate demonstrations, and a model teaches (`roles.teacher`): what it showed is kept once; \
             imitate it in one stage, or let the world's own demonstrator teach"
                .into(),
        );
    }
    walk.wrong
}

struct Walk<'a> {
    recipe: &'a Recipe,
    phases: BTreeSet<String>,
    datasets: BTreeMap<String, Holds>,
    taught: usize,
    /// Models that were fitted.
    fitted: BTreeSet<String>,
    /// The stages after which the policy is another.
    changed: Vec<Phase>,
    /// What cannot be done.
    wrong: Vec<String>,
    /// Names that are not in the recipe, each reported once.
    unknown: BTreeSet<String>,
}

impl<'a> Walk<'a> {
    fn of(recipe: &'a Recipe) -> Self {
        let (phases, datasets, fitted) = (BTreeSet::new(), BTreeMap::new(), BTreeSet::new());
        Self {
            recipe,
            phases,
            datasets,
            taught: 0,
            fitted,
            changed: Vec::new(),
            wrong: Vec::new(),
            unknown: BTreeSet::new(),
        }
    }

    fn all(&mut self, stages: &[StageSettings], repeated: bool) {
        for stage in stages {
            let done = match stage {
                StageSettings::Repeat(_) if repeated => {
                    Err("a `repeat` stands inside another; one level is all there is".to_owned())
                }
                StageSettings::Repeat(repeat) if repeat.times == 0 || repeat.stages.is_empty() => {
                    Err("a `repeat` needs `times` of at least 1, and stages to repeat".to_owned())
                }
                StageSettings::Repeat(repeat) => {
                    self.all(&repeat.stages, true);
                    until(repeat)
                }
                stage => self.one(stage).map_err(|why| {
                    self.as_if_done(stage);
                    format!("{}: {why}", stage.title())
                }),
            };
            self.wrong.extend(done.err());
        }
    }

    /// Later stages are judged as if this one could be done: what they lack by its mistake is not their own.
    fn as_if_done(&mut self, stage: &StageSettings) {
        match stage {
            StageSettings::Collect(stage) => {
                self.datasets.entry(stage.into.clone()).or_insert(Holds::Episodes);
            }
            StageSettings::Make(stage) => {
                let pairs = stage.keep == KeepEpisodes::Pairs;
                let holds = if pairs { Holds::Pairs } else { Holds::Episodes };
                self.datasets.entry(stage.into.clone()).or_insert(holds);
            }
            StageSettings::Fit(stage) => drop(self.fitted.insert(stage.model.clone())),
            StageSettings::Evolve(stage) => drop(self.fitted.insert(stage.judge.clone())),
            _ => {}
        }
        if let Some(phase) =
            stage.phase().filter(|phase| stage.changes_policy() && !self.changed.contains(phase))
        {
            self.changed.push(phase);
        }
    }

    fn one(&mut self, stage: &StageSettings) -> Result<(), String> {
        if let Some(other) = stage.sets_wrongly() {
            let (_, may) = stage.may_set();
            return Err(format!("`set` holds `{other}`; here it may hold {}", may.join(", ")));
        }
        let phase = stage.phase().expect("only a repeat has no phase");
        if !crate::checks::plain(phase.owner()) {
            return Err("its name must be made of lower-case letters, digits and `-`".into());
        }
        if !self.phases.insert(phase.to_string()) {
            return Err("another stage is called so too; give one of them a `name`".into());
        }
        if let Some(start) = stage.start() {
            self.stood_after("start", start)?;
        }
        self.paid_by_models(stage)?;
        if let Some(search) = stage.search() {
            self.search(stage, search)?;
        }
        match stage {
            StageSettings::Imitate(stage) if stage.from == DEMONSTRATIONS => {
                if self.recipe.warm_start.is_none() {
                    return Err("it imitates demonstrations, and there is no `[warm_start]` that says how; add the table".into());
                }
                self.taught += 1;
            }
            StageSettings::Imitate(stage) => {
                if !self.recipe.datasets.contains_key(&stage.from) {
                    self.read(&stage.from, Holds::Episodes)?;
                }
                let how = stage.supervision()?;
                supervised(how.batch, how.learning_rate)?;
            }
            StageSettings::Collect(stage) => {
                counted("tasks", stage.tasks.into())?;
                counted("samples", stage.samples.into())?;
                if let Some(alter) = &stage.alter {
                    self.alter(stage, alter)?;
                }
                if stage.practice == Some(Practice::Fixed(0)) {
                    return Err("`practice.fixed` is 0; it must be at least 1".into());
                }
                self.write(&stage.into, Holds::Episodes)?;
            }
            StageSettings::Make(stage) => {
                self.read(&stage.from, Holds::Episodes)?;
                if let KeepEpisodes::Shortest(share) = stage.keep
                    && !(share > 0.0 && share < 1.0)
                {
                    return Err(format!("`keep.shortest` is {share}; it is a share between 0 and 1"));
                }
                let pairs = stage.keep == KeepEpisodes::Pairs;
                self.write(&stage.into, if pairs { Holds::Pairs } else { Holds::Episodes })?;
            }
            StageSettings::Prefer(stage) => {
                if !self.recipe.datasets.contains_key(&stage.from) {
                    self.read(&stage.from, Holds::Pairs)?;
                }
                preferring(stage)?;
            }
            StageSettings::Fit(stage) => self.fit(stage)?,
            StageSettings::Evolve(stage) => self.evolve(stage)?,
            StageSettings::Merge(stage) => self.merge(stage)?,
            StageSettings::Evaluate(stage) => self.evaluate(stage)?,
            StageSettings::Learn(_) | StageSettings::Repeat(_) => {}
        }
        if stage.changes_policy() {
            self.changed.push(phase);
        }
        Ok(())
    }

    fn alter(&mut self, stage: &Collect, alter: &Alter) -> Result<(), String> {
        alter.check()?;
        if stage.search.is_some() || stage.temperature.is_some() {
            return Err(
                "what is altered is played by a script: there is nothing to search for, and no temperature"
                    .into(),
            );
        }
        if stage.practice.is_some() {
            return Err(
                "what is altered are episodes of a dataset, so that `practice` says nothing; leave it out"
                    .into(),
            );
        }
        self.read(&alter.from, Holds::Episodes)
    }

    fn fit(&mut self, stage: &Fit) -> Result<(), String> {
        self.known_model("model", &stage.model)?;
        let pairs = stage.loss == FitLoss::BradleyTerry;
        self.read(&stage.from, if pairs { Holds::Pairs } else { Holds::Episodes }).map_err(|why| {
            why.replace(
                "the worse of which nobody should imitate",
                "and this loss reads the outcome of every episode",
            )
        })?;
        counted("steps", stage.steps)?;
        supervised(stage.batch, stage.learning_rate)?;
        if !(stage.held_out > 0.0 && stage.held_out < 1.0) {
            return Err(format!(
                "`held_out` is {}; it is a share of the tasks between 0 and 1",
                stage.held_out
            ));
        }
        self.fitted.insert(stage.model.clone());
        Ok(())
    }

    fn evolve(&mut self, stage: &Evolve) -> Result<(), String> {
        let known = self.recipe.judges.contains_key(&stage.judge);
        if !known && self.unknown.insert(format!("judge {}", stage.judge)) {
            let hint = hint(&stage.judge, self.recipe.judges.keys().map(String::as_str));
            return Err(format!("`judge = \"{0}\"`: there is no `[judges.{0}]`{hint}", stage.judge));
        }
        if self.recipe.judges.get(&stage.judge).is_some_and(|judge| judge.evolving().is_none()) {
            return Err(format!(
                "`judge = \"{0}\"`: `[judges.{0}]` is asked in words, and stages evolve judges made of checks; take out its `ask` and \
                 `backend`, or the stage",
                stage.judge
            ));
        }
        if !self.recipe.datasets.contains_key(&stage.from) {
            self.read(&stage.from, Holds::Pairs)?;
        }
        self.fitted.insert(stage.judge.clone());
        Ok(())
    }

    fn merge(&mut self, stage: &Merge) -> Result<(), String> {
        stage.check()?;
        if let ModelConfig::File(model) = &self.recipe.model
            && matches!(model.train, Trained::Lora(_))
        {
            return Err("adapters are not merged: the product of two means is not the mean of two products; train the model in \
                        full (`model.train = { type = \"full\" }`)"
                .into());
        }
        stage.stages().try_for_each(|name| self.stood_after("of", name))
    }

    /// Refuses a search that cannot be, or whose judge is not in the recipe.
    fn search(&mut self, stage: &StageSettings, search: &SearchSettings) -> Result<(), String> {
        search.check()?;
        let several = match stage {
            StageSettings::Collect(stage) => stage.samples > 1,
            StageSettings::Evaluate(stage) => stage.samples > 0 || stage.select.is_some(),
            _ => false,
        };
        if several {
            return Err("a search gives one episode of each task, and `samples` and `select` are for several; measure samples in \
                        another stage"
                .into());
        }
        match search.value() {
            LOG_PROB | MEAN_LOG_PROB | SCORE => Ok(()),
            model => self.asked("search.value", model),
        }
    }

    fn evaluate(&mut self, stage: &Evaluating) -> Result<(), String> {
        if stage.temperature.is_some() && stage.samples == 0 && stage.search.is_none() {
            return Err("`temperature` is for `samples` and `search`; the other episodes are greedy".into());
        }
        if stage.by.iter().any(String::is_empty) {
            return Err(
                "`by` holds an empty name; name infos of the world, or places in the payload such as `/kind`"
                    .into(),
            );
        }
        let Some(select) = &stage.select else { return Ok(()) };
        if stage.samples < 2 {
            return Err("`select` chooses one of several samples; give `samples` of at least 2".into());
        }
        if select.by == LOG_PROB { Ok(()) } else { self.asked("select.by", &select.by) }
    }

    /// Refuses a model that is not in `[models]`, with the nearest name.
    fn known_model(&mut self, key: &str, name: &str) -> Result<(), String> {
        if self.recipe.models.contains_key(name) || !self.unknown.insert(format!("model {name}")) {
            return Ok(());
        }
        let hint = hint(name, self.recipe.models.keys().map(String::as_str));
        Err(format!("`{key} = \"{name}\"`: there is no `[models.{name}]`{hint}"))
    }

    /// Refuses a model that has not learned anything yet.
    fn asked(&mut self, key: &str, name: &str) -> Result<(), String> {
        self.known_model(key, name)?;
        if self.fitted.contains(name) || self.unknown.contains(&format!("model {name}")) {
            return Ok(());
        }
        Err(format!("`{key} = \"{name}\"`: no stage before it fits this model, so that it knows nothing"))
    }

    /// Refuses a reward that a model or judge pays which has not learned anything yet.
    fn paid_by_models(&mut self, stage: &StageSettings) -> Result<(), String> {
        use StageSettings::{Collect, Evaluate, Learn};
        let nobody = self.recipe.models.is_empty() && self.recipe.judges.is_empty();
        if nobody || !matches!(stage, Collect(_) | Learn(_) | Evaluate(_)) {
            return Ok(());
        }
        // What cannot work in the recipe of a stage is told of that recipe.
        let Ok(own) = self.recipe.of_stage("", stage) else { return Ok(()) };
        let Ok(scorer) = merit_reward::Scorer::compile(&own.reward) else { return Ok(()) };
        let steered = own.credit.needs().annotations.into_iter().map(|need| need.name);
        for name in scorer.needs().into_iter().map(|need| need.name).chain(steered) {
            if self.recipe.models.contains_key(&name) {
                self.asked("reward: key", &name)?;
                continue;
            }
            let Some(judge) = self.recipe.judges.get(&name) else { continue };
            if let Some(model) = judge.asked().and_then(|settings| settings.backend.model()) {
                self.asked(&format!("judges.{name}.backend: model"), model)?;
            } else if judge.evolving().is_some() && !self.fitted.contains(&name) {
                return Err(format!(
                    "`reward: key = \"{name}\"`: no stage before it evolves this judge, so that it knows nothing"
                ));
            }
        }
        Ok(())
    }

    /// Refuses a stage that was not done before, or that could be two.
    fn stood_after(&mut self, key: &str, name: &str) -> Result<(), String> {
        let found: Vec<String> =
            self.changed.iter().filter(|phase| called(phase, name)).map(Phase::to_string).collect();
        match &found[..] {
            [_] => Ok(()),
            [] if !self.unknown.insert(format!("stage {name}")) => Ok(()),
            [] => {
                let names: Vec<String> = self
                    .changed
                    .iter()
                    .flat_map(|phase| [phase.owner().to_owned(), phase.to_string()])
                    .collect();
                let hint = hint(name, names.iter().map(String::as_str));
                Err(format!(
                    "`{key} = \"{name}\"`: no stage before it that changes the policy is called so{hint}"
                ))
            }
            two => Err(format!("`{key} = \"{name}\"` could be {}; say which", two.join(" or "))),
        }
    }

    fn read(&mut self, name: &str, wanted: Holds) -> Result<(), String> {
        match (self.datasets.get(name), wanted) {
            (Some(held), wanted) if *held == wanted => Ok(()),
            (Some(_), Holds::Pairs) => Err(format!(
                "`from = \"{name}\"` holds episodes, and pairs are needed; make them with `keep = \"pairs\"`"
            )),
            (Some(_), Holds::Episodes) => Err(format!(
                "`from = \"{name}\"` holds pairs, the worse of which nobody should imitate; read the dataset they were made from"
            )),
            (None, _) if self.recipe.datasets.contains_key(name) => Err(format!(
                "`from = \"{name}\"` is a file of `[datasets]`, which stages imitate or prefer; this one reads what stages collected"
            )),
            (None, _) if !self.unknown.insert(format!("dataset {name}")) => Ok(()),
            (None, _) => {
                let known = self.datasets.keys().chain(self.recipe.datasets.keys());
                let hint = hint(name, known.map(String::as_str));
                Err(format!("`from = \"{name}\"`: no stage before it writes such a dataset{hint}"))
            }
        }
    }

    fn write(&mut self, name: &str, holds: Holds) -> Result<(), String> {
        if name == DEMONSTRATIONS || !crate::checks::plain(name) {
            return Err(format!(
                "`into = \"{name}\"` cannot be a dataset's name: it is made of lower-case letters, digits and `-`, and \
                 `{DEMONSTRATIONS}` are the teacher's"
            ));
        }
        if self.recipe.datasets.contains_key(name) {
            return Err(format!("`into = \"{name}\"` is the name of a file of `[datasets]`; choose another"));
        }
        self.datasets.insert(name.to_owned(), holds);
        Ok(())
    }
}

pub(crate) fn hint<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> String {
    nearest(name, known).map_or_else(String::new, |near| format!(" (did you mean `{near}`?)"))
}

fn counted(key: &str, value: u64) -> Result<(), String> {
    match value {
        0 => Err(format!("`{key}` is 0; it must be at least 1")),
        _ if value > crate::checks::MOST_EPISODES => {
            Err(format!("`{key}` is {value}; at most {} can be", crate::checks::MOST_EPISODES))
        }
        _ => Ok(()),
    }
}

fn supervised(batch: usize, rate: f32) -> Result<(), String> {
    counted("batch", batch as u64)?;
    if rate.is_finite() && rate > 0.0 {
        Ok(())
    } else {
        Err(format!("`learning_rate` is {rate}; it must be positive"))
    }
}

fn preferring(stage: &Prefer) -> Result<(), String> {
    supervised(stage.batch, stage.learning_rate)?;
    let needs = stage.objective.needs();
    // Pairs are kept, so after the first update they are no longer on-policy, and no credit rule has seen them.
    let of_pairs =
        needs.reward && needs.reference && !needs.advantages && !needs.on_policy && !needs.old_logprobs;
    if of_pairs {
        return Ok(());
    }
    let name = stage.objective.about().name;
    Err(format!("objective `{name}` does not learn from pairs and a reference policy; `dpo` and `kto` do"))
}
