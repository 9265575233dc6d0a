//! An arm that trains a policy: a recipe with the arm's settings laid over it, and what its run says to claims.

use crate::LabError;
use crate::experiment::Bench;
use merit_core::stats;
use merit_core::{Outcome, Phase, StageKind, When};
use merit_run::overrides::merge;
use merit_run::{Options, Recipe, Run, RunError, Unproven, shipped};
use merit_store::{EpisodeFilter, Metric, RunFolder};
use merit_studies::{CellRecord, Point, StudyError};
use merit_tools::Toolbox;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The recipe that `recipe = NAME` names, with the other keys laid over it. It has no controls: arms are cells of their own.
pub(crate) fn read(mut table: toml::Table) -> Result<Recipe, LabError> {
    let Some(toml::Value::String(name)) = table.remove("recipe") else {
        let why =
            "`experiment.recipe` is missing: the name of a shipped recipe, or the path of one".to_owned();
        return Err(merit_run::RecipeError::Combination { file: "experiment".into(), why }.into());
    };
    let base = shipped::load(&name)?;
    let mut whole: toml::Table = toml::from_str(&base.to_toml()).unwrap_or_default();
    whole.remove("controls");
    merge(&mut whole, &table);
    let text = toml::to_string(&whole).unwrap_or_default();
    Ok(Recipe::read(&format!("recipes/{name}.toml"), &text, &base.components)?)
}

/// Trains, then reads the run.
pub(crate) fn run(recipe: &Recipe, seed: u64, bench: &Bench<'_>) -> Result<CellRecord, StudyError> {
    let broken = |why: String| StudyError::Broken(why);
    // A cell is done again rather than resumed: it takes seconds, and a half-written folder proves nothing.
    if bench.folder.exists() {
        std::fs::remove_dir_all(bench.folder).map_err(|why| broken(why.to_string()))?;
    }
    let run = Run::create(bench.folder, recipe.clone(), seed).map_err(|why| broken(why.to_string()))?;
    let Run { recipe, mut folder, seed } = run;
    let options = Options {
        seed,
        threads: 1,
        interrupt: Arc::clone(bench.stop),
        ask: Arc::new(AtomicBool::new(false)),
        toolbox: Toolbox::default(),
        starts: Some(bench.starts.to_owned()),
        players: None,
        // A claim may be about models that prove nothing; the cell says so in its record.
        unproven: Unproven::Tell,
        resumable: bench.kept,
    };
    match merit_run::train(&recipe, &mut folder, &options, &mut |_| {}) {
        Ok(_) => {}
        Err(RunError::Interrupted { .. }) => return Err(StudyError::Stopped),
        Err(why) => return Err(broken(why.to_string())),
    }
    record(&folder).map_err(|why| broken(why.to_string()))
}

/// What a finished run says: measures of the evaluations, the held-out curves, costs, and success by task.
pub(crate) fn record(folder: &RunFolder) -> Result<CellRecord, merit_store::StoreError> {
    let metrics = folder.metrics()?;
    let spent = Spent::of(folder)?;
    let mut record = CellRecord { costs: spent.at(u64::MAX), ..CellRecord::default() };
    let mut metrics = metrics;
    // What depends on the clock is not the same a second time.
    metrics.retain(|metric| metric.value.is_finite() && !metric.by_clock());
    for metric in &metrics {
        let name = match &metric.phase {
            phase if *phase == Phase::eval(When::After) => metric.name.clone(),
            phase if *phase == Phase::eval(When::Before) => format!("before/{}", metric.name),
            // The last step stays.
            phase if *phase == Phase::train() => format!("train/{}", metric.name),
            Phase::Stage(StageKind::Evaluate, name) => format!("{name}/{}", metric.name),
            // How well a fitted model does on what it did not learn from.
            Phase::Stage(StageKind::Fit, name) => format!("fit/{name}/{}", metric.name),
            _ => continue,
        };
        record.measures.insert(name, metric.value);
    }
    let terms = metrics.iter().map(|metric| metric.name.as_str()).filter(|name| name.starts_with("term/"));
    for name in terms.chain(["success", "reward", "calls_mean", "turns_mean"]).collect::<BTreeSet<&str>>() {
        let curve = curve(&metrics, name, &spent);
        if !curve.is_empty() {
            record.curves.insert(name.to_owned(), curve);
        }
    }
    record.measures.extend(over_training(&metrics));
    record.measures.extend(breakdown(folder)?);
    record.measures.extend(agreement(folder)?);
    for row in folder.episode_rows(&EpisodeFilter::phase(Phase::eval(When::After)))? {
        if row.outcome.is_verdict() {
            let solved = f64::from(u8::from(row.outcome == Outcome::Solved));
            record.paired.entry("success".into()).or_default().insert(u64::from(row.id.group), solved);
        }
    }
    Ok(record)
}

/// Every number of training as its mean over steps (`train_mean/NAME`) and its spread relative to that (`train_cv/NAME`).
fn over_training(metrics: &[Metric]) -> BTreeMap<String, f64> {
    let mut series: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for metric in metrics.iter().filter(|metric| metric.phase == Phase::train() && metric.value.is_finite()) {
        series.entry(&metric.name).or_default().push(metric.value);
    }
    let mut found = BTreeMap::new();
    for (name, values) in series {
        let Some(mean) = stats::mean(&values) else { continue };
        found.insert(format!("train_mean/{name}"), mean);
        if let Some(sd) = stats::sd(&values).filter(|_| mean != 0.0) {
            found.insert(format!("train_cv/{name}"), sd / mean.abs());
        }
    }
    found
}

/// The last evaluation by kind of task (`success/KIND`, `calls/KIND`), the share of its episodes in which an info of the world
/// was ever other than 0 (`any/INFO`), and the mean of what the info was at their ends (`last/INFO`).
fn breakdown(folder: &RunFolder) -> Result<BTreeMap<String, f64>, merit_store::StoreError> {
    let mut values: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for stored in folder.episodes(&EpisodeFilter::phase(Phase::eval(When::After)))? {
        let (episode, outcome) = (&stored.scored.episode, stored.scored.outcome());
        if !outcome.is_valid() {
            continue;
        }
        if let Some(kind) = episode.task.payload.pointer("/kind").and_then(serde_json::Value::as_str) {
            if outcome.is_verdict() {
                let solved = f64::from(u8::from(outcome == Outcome::Solved));
                values.entry(format!("success/{kind}")).or_default().push(solved);
            }
            values.entry(format!("calls/{kind}")).or_default().push(episode.cost.tool_calls as f64);
        }
        let names: BTreeSet<&str> = episode.turns.iter().flat_map(|turn| turn.info.keys()).collect();
        for name in names {
            let ever =
                episode.turns.iter().any(|turn| turn.info.get(name).is_some_and(|value| *value != 0.0));
            values.entry(format!("any/{name}")).or_default().push(f64::from(u8::from(ever)));
            let last = episode.turns.iter().rev().find_map(|turn| turn.info.get(name));
            values.entry(format!("last/{name}")).or_default().extend(last);
        }
    }
    Ok(values.into_iter().filter_map(|(name, values)| Some((name, stats::mean(&values)?))).collect())
}

/// For each evaluation that has a name, the share of the tasks of the last evaluation in which it ends with the same answer
/// (`NAME/agrees`). Where both have none, that says nothing.
fn agreement(folder: &RunFolder) -> Result<BTreeMap<String, f64>, merit_store::StoreError> {
    let answers = |phase: Phase| -> Result<BTreeMap<String, Option<String>>, merit_store::StoreError> {
        let episodes = folder.episodes(&EpisodeFilter::phase(phase))?.into_iter();
        let episodes = episodes.map(|stored| stored.scored.episode);
        Ok(episodes.map(|one| (one.task.id.clone(), one.answer().map(str::to_owned))).collect())
    };
    let mut found = BTreeMap::new();
    for phase in folder.phases()? {
        let Phase::Stage(StageKind::Evaluate, name) = &phase else { continue };
        let (after, other) = (answers(Phase::eval(When::After))?, answers(phase.clone())?);
        let pairs = other.iter().filter_map(|(task, answer)| Some((answer, after.get(task)?)));
        let told = pairs.filter(|(one, two)| one.is_some() || two.is_some());
        let same: Vec<f64> = told.map(|(one, two)| f64::from(u8::from(one == two))).collect();
        found.extend(stats::mean(&same).map(|share| (format!("{name}/agrees"), share)));
    }
    Ok(found)
}

/// What learning had cost before each step. Evaluations are not charged: they are the same for every arm.
struct Spent(Vec<(u64, BTreeMap<String, f64>)>);

impl Spent {
    fn of(folder: &RunFolder) -> Result<Self, merit_store::StoreError> {
        let mut steps: BTreeMap<u64, BTreeMap<String, f64>> = BTreeMap::new();
        let learns = |phase: &Phase| match phase {
            Phase::Train(_) => true,
            Phase::Stage(kind, _) => {
                use StageKind::{Collect, Fit, Imitate, Learn, Prefer};
                matches!(kind, Learn | Collect | Imitate | Prefer | Fit)
            }
            _ => false,
        };
        for phase in folder.phases()?.into_iter().filter(learns) {
            for row in folder.episode_rows(&EpisodeFilter::phase(phase.clone()))? {
                let step = steps.entry(row.id.step).or_default();
                let tokens = row.policy_tokens.unwrap_or(0) as f64;
                let turns = f64::from(row.turns);
                for (axis, amount) in [("policy_tokens", tokens), ("env_steps", turns), ("episodes", 1.0)] {
                    *step.entry(axis.to_owned()).or_default() += amount;
                }
            }
            let mut add = |step: u64, axis: &str, amount: f64| {
                *steps.entry(step).or_default().entry(axis.to_owned()).or_default() += amount;
            };
            for (step, _) in folder.metric(&phase, "loss")? {
                add(step, "updates", 1.0);
            }
            // Whatever was played only to measure something.
            for (step, episodes) in folder.metric(&phase, "probe_episodes")? {
                add(step, "episodes", episodes);
            }
            for (step, cost) in folder.costs_beside(&phase)? {
                add(step, "policy_tokens", cost.policy_tokens as f64);
                add(step, "env_steps", (cost.env_steps + cost.probe_steps) as f64);
                add(step, "trained_tokens", cost.trained_tokens as f64);
            }
        }
        Ok(Self(steps.into_iter().collect()))
    }

    /// What had been spent before this step.
    fn at(&self, step: u64) -> BTreeMap<String, f64> {
        let axes = ["policy_tokens", "env_steps", "episodes", "updates", "trained_tokens"];
        let mut total: BTreeMap<String, f64> = axes.iter().map(|axis| ((*axis).to_owned(), 0.0)).collect();
        for (_, costs) in self.0.iter().take_while(|(at, _)| *at < step) {
            for (axis, amount) in costs {
                *total.entry(axis.clone()).or_default() += amount;
            }
        }
        total
    }
}

/// A metric of the held-out evaluations from before to after.
fn curve(metrics: &[Metric], name: &str, spent: &Spent) -> Vec<Point> {
    let of = |when: When| {
        let phase = Phase::eval(when);
        metrics.iter().filter(move |m| m.phase == phase && m.name == name && m.value.is_finite())
    };
    let all = of(When::Before).chain(of(When::Step)).chain(of(When::After));
    let by_step: BTreeMap<u64, f64> = all.map(|metric| (metric.step, metric.value)).collect();
    by_step.into_iter().map(|(step, value)| Point { costs: spent.at(step), value }).collect()
}
