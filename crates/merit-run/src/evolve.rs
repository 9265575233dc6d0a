//! `[judges.NAME]` and the stage `evolve`: a judge made of checks learns from pairs what is better, and may then pay.
//!
//! In: a dataset of pairs, or a file of preferences. Out: the judge's folder inside the run, a new one for every time that it is
//! evolved, so that a stage that is done again after a kill begins where it began before. Terms ask the judge by its name.

use crate::RunError;
use crate::annotators::{Speaker, Spoken};
use crate::dataset::Source;
use crate::driver::Drive;
use crate::now_ms;
use crate::progress::Event;
use crate::recipe::Recipe;
use crate::stage::{Place, Stage, Work};
use crate::stages::StageSettings;
use merit_core::{Annotation, Components, Episode};
use merit_judge::{
    CheckError, Checks, Evolved, EvolvingError, Judge as _, JudgeFolder, LibraryFile, Pair, evolve_checks,
    read_pairs,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// A judge made of checks that stages of `evolve` improve.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EvolvingJudge {
    /// How pairs are parted, and how the library of checks is evolved.
    pub library: LibraryFile,
    /// Pays even where it does not beat what knows nothing of quality.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub force: bool,
}

/// A judge learns from pairs what is better.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Evolve {
    /// Where its numbers are kept. Absent: the judge's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// One of `[judges]`.
    pub judge: String,
    /// A dataset of pairs, or a file of `[datasets]` with preferences.
    pub from: String,
}

/// Every reason why the judges of `recipe` cannot be what they are said to be.
pub(crate) fn check(recipe: &Recipe) -> Vec<String> {
    let stages = || recipe.stages.iter().flat_map(StageSettings::each);
    let given: Vec<String> = recipe.annotators.iter().flat_map(|annotator| annotator.gives()).collect();
    let judges = recipe.judges.iter().filter_map(|(name, judge)| Some((name, judge.evolving()?)));
    let one = |(name, judge): (&String, &EvolvingJudge)| {
        let evolves =
            |stage: &StageSettings| matches!(stage, StageSettings::Evolve(how) if how.judge == *name);
        let why = if !crate::checks::plain(name) {
            "its name must be made of lower-case letters, digits and `-`".to_owned()
        } else if recipe.models.contains_key(name) || given.contains(name) {
            "a model or an annotator is called so too; give one of them another name".to_owned()
        } else if let Err(why) = judge.library.check() {
            format!("library: {why}")
        } else if judge.library.evolve.budget > 0 {
            "`library.evolve.budget` counts paid calls, and a judge made of checks makes none; leave it out"
                .to_owned()
        } else if !recipe.stages.is_empty() && !stages().any(evolves) {
            "no stage evolves it; add a stage `evolve`, or remove it".to_owned()
        } else {
            return None;
        };
        Some(format!("[judges.{name}] {why}"))
    };
    judges.filter_map(one).collect()
}

/// The judges of a recipe by name; absent what was not evolved yet.
pub(crate) type Judges = BTreeMap<String, Option<Arc<EvolvedJudge>>>;

/// A judge at the version that is in use.
pub(crate) struct EvolvedJudge {
    checks: Mutex<Checks>,
    version: usize,
    /// Why it may not pay. Absent: it may.
    unfit: Option<String>,
}

impl EvolvedJudge {
    fn open(path: &Path, force: bool, components: &Components) -> Result<Self, RunError> {
        let refused = |error: &dyn std::fmt::Display| RunError::Judge(error.to_string());
        let folder = JudgeFolder::open(path).map_err(|error| refused(&error))?;
        let version = folder.state.version;
        let library = folder.library(version).map_err(|error| refused(&error))?;
        let checks = Checks::compile(&folder.name(), &library, components);
        let tested = folder.last_test().map_err(|error| refused(&error))?;
        let tested = tested.filter(|(tested, _)| *tested == version);
        let beaten = tested.map_or_else(|| Err("it was not tested".to_owned()), |(_, t)| t.beats_leaks());
        let unfit = beaten.err().filter(|_| !force);
        let checks = Mutex::new(checks.map_err(|error| refused(&error))?);
        Ok(Self { checks, version, unfit })
    }

    /// `Err` with the reason when nothing may be learned by what it says.
    pub(crate) fn may_pay(&self, name: &str) -> Result<(), RunError> {
        match &self.unfit {
            None => Ok(()),
            Some(why) => Err(RunError::Judge(format!(
                "judge `{name}` may not pay: {why}; give it more pairs, or set `judges.{name}.force = true`"
            ))),
        }
    }
}

impl Speaker for EvolvedJudge {
    fn says(&self, name: &str, episodes: &[Arc<Episode>]) -> Result<Vec<Spoken>, String> {
        let mut checks = self.checks.lock().unwrap_or_else(PoisonError::into_inner);
        let by = checks.id();
        let annotation = |answer: merit_judge::Answer| {
            Some(Annotation {
                name: name.to_owned(),
                value: answer.verdict.value()?,
                turns: Vec::new(),
                evidence: Vec::new(),
                by: by.clone(),
                version: self.version.to_string(),
                cost: answer.cost,
            })
        };
        Ok(checks.score(episodes).into_iter().map(|answer| Ok(annotation(answer))).collect())
    }
}

/// The judges of a recipe as they stand at a place of the run: each as the last stage before it left it.
pub(crate) fn judges(
    run: &Path,
    recipe: &Recipe,
    stages: &[Stage],
    place: &Place,
) -> Result<Judges, RunError> {
    let of = |(name, settings): (&String, &EvolvingJudge)| {
        let path = folder(run, name, times(stages.iter().take(place.stage), name));
        let there = path.join("library.toml").exists();
        let judge = there.then(|| EvolvedJudge::open(&path, settings.force, &recipe.components));
        Ok((name.clone(), judge.transpose()?.map(Arc::new)))
    };
    recipe.judges.iter().filter_map(|(name, judge)| Some((name, judge.evolving()?))).map(of).collect()
}

/// How often these stages evolve a judge.
fn times<'s>(stages: impl Iterator<Item = &'s Stage>, judge: &str) -> usize {
    stages.filter(|stage| matches!(&stage.work, Work::Evolve { how, .. } if how.judge == judge)).count()
}

/// Where a judge lies after it was evolved so many times.
fn folder(run: &Path, judge: &str, times: usize) -> PathBuf {
    run.join("judges").join(format!("{judge}-{times}"))
}

pub(crate) fn run(drive: &mut Drive<'_>, stage: &Stage, from: &Source, how: &Evolve) -> Result<(), RunError> {
    let pairs = pairs(drive, from)?;
    let done = drive.stages.iter().take(drive.place.stage).map(|stage| &**stage);
    let before = times(done, &how.judge);
    let [old, new] = [before, before + 1].map(|times| folder(drive.folder.path(), &how.judge, times));
    let settings = drive.recipe.judges.get(&how.judge).and_then(|judge| judge.evolving());
    let settings = settings.cloned().unwrap_or_default();
    begin(&old, &new, &settings.library)
        .map_err(|why| RunError::Judge(format!("{}: {why}", new.display())))?;
    let mut judge = JudgeFolder::open(&new).map_err(|error| RunError::Judge(error.to_string()))?;
    let components = &drive.recipe.components;
    match evolve_checks(&mut judge, &pairs, Vec::new(), components, &mut |_| {}) {
        Ok(evolved) => record(drive, stage, how, (&evolved, &new))?,
        Err(error @ (EvolvingError::TooFew { .. } | EvolvingError::Check(CheckError::None))) => {
            nothing_found(drive, stage, how, &error, (&old, &new))?;
        }
        Err(error) => return Err(RunError::Judge(format!("stage `{}`: {error}", stage.phase))),
    }
    let there = new.join("library.toml").exists();
    let opened = there.then(|| EvolvedJudge::open(&new, settings.force, &drive.recipe.components));
    drive.judges.insert(how.judge.clone(), opened.transpose()?.map(Arc::new));
    Ok(())
}

/// The pairs of a dataset, or of a person's own file.
fn pairs(drive: &Drive<'_>, from: &Source) -> Result<Vec<Pair>, RunError> {
    match from {
        Source::Recorded(dataset) => {
            let tasks = dataset.read(drive.folder)?.into_iter().enumerate();
            let pair = |(at, task): (usize, Vec<merit_core::ScoredEpisode>)| {
                let [better, worse] = <[_; 2]>::try_from(task).ok()?.map(|scored| scored.episode);
                let group = better.task.id.clone();
                Some(Pair::ranked(format!("{group}/{at}"), group, better, worse))
            };
            Ok(tasks.filter_map(pair).collect())
        }
        Source::Own(name) => {
            let file = drive.recipe.datasets.get(name).map(|data| data.file.clone()).unwrap_or_default();
            read_pairs(Path::new(&file)).map_err(|error| RunError::Data(format!("[datasets.{name}] {error}")))
        }
    }
}

/// A fresh folder that holds what the last one held. What a stage that was cut off left there goes.
fn begin(old: &Path, new: &Path, settings: &LibraryFile) -> Result<(), String> {
    let failed = |error: std::io::Error| error.to_string();
    if new.exists() {
        std::fs::remove_dir_all(new).map_err(failed)?;
    }
    if !old.join("library.toml").exists() {
        return JudgeFolder::create(new, settings).map_err(|error| error.to_string());
    }
    copy(old, new).map_err(failed)
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            std::fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// What came of it, in the run's numbers and for the watcher.
fn record(
    drive: &mut Drive<'_>,
    stage: &Stage,
    how: &Evolve,
    (evolved, path): (&Evolved, &Path),
) -> Result<(), RunError> {
    let tested = &evolved.tested;
    let mut numbers: BTreeMap<String, f64> = BTreeMap::from([
        ("version".to_owned(), evolved.version as f64),
        ("entries".to_owned(), evolved.library.len() as f64),
        ("tried".to_owned(), evolved.tried.0 as f64),
        ("kept".to_owned(), evolved.tried.1 as f64),
        ("test_pairs".to_owned(), tested.pairs as f64),
    ]);
    let accuracy = |name: &str, value: Option<f64>| Some((name.to_owned(), value?));
    numbers.extend(accuracy("pair_accuracy", tested.judge.accuracy));
    let leaks = ["pair_accuracy_length", "pair_accuracy_words", "pair_accuracy_last"];
    numbers
        .extend(leaks.into_iter().zip(&tested.leaks).filter_map(|(name, row)| accuracy(name, row.accuracy)));
    drive.folder.record_metrics(&stage.phase, stage.round, &crate::metrics::rows(&numbers))?;
    let percent =
        |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |v| format!("{:.1} %", v * 100.0));
    let leaks: Vec<String> =
        tested.leaks.iter().map(|row| format!("{} {}", row.name, percent(row.accuracy))).collect();
    let text = format!(
        "`{}` is right about {} of {} test pairs ({}); {} checks, version {} in {}",
        how.judge,
        percent(tested.judge.accuracy),
        tested.pairs,
        leaks.join(", "),
        evolved.library.len(),
        evolved.version,
        path.display()
    );
    (drive.watch)(Event::Note { text });
    Ok(())
}

/// Says that there was nothing to learn: the judge stays as it was, or there is none.
fn nothing_found(
    drive: &mut Drive<'_>,
    stage: &Stage,
    how: &Evolve,
    why: &EvolvingError,
    (old, new): (&Path, &Path),
) -> Result<(), RunError> {
    let again = || match old.join("library.toml").exists() {
        true => std::fs::remove_dir_all(new).and_then(|()| copy(old, new)),
        false => std::fs::remove_dir_all(new),
    };
    again().map_err(|error| RunError::Judge(format!("{}: {error}", new.display())))?;
    let text = format!("stage `{}`: {why}; judge `{}` stays as it is", stage.phase, how.judge);
    drive.folder.record_event(now_ms(), "empty-dataset", &text)?;
    (drive.watch)(Event::Note { text });
    Ok(())
}
