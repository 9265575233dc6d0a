//! `merit train`: prepare the folder, drive the run, show it.

use super::WrongInput;
use super::cluster::Cluster;
use crate::cli::runs::Train;
use crate::cli::tapes;
use crate::{display, interrupt, out};
use anyhow::{Context as _, Result, bail};
use merit_core::stats::Spread;
use merit_core::{Components, Phase, printable};
use merit_run::{Event, Finished, Options, Players, Recipe, Run, Unproven, shipped};
use merit_store::{EpisodeFilter, RunFolder};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

pub(crate) fn run(arguments: &Train, components: &Components) -> Result<()> {
    let signals = Signals::listen()?;
    if arguments.on.is_some() && arguments.resume.is_none() {
        // A mistake is told before a cluster is joined.
        chosen(arguments, components)?;
    }
    let (on, actors, replay_lost) = (&arguments.on, arguments.actors, arguments.replay_lost);
    let joined = on.as_ref().map(|on| Cluster::join(&on.0, actors, replay_lost)).transpose()?;
    let players = joined.map(|cluster| Arc::new(cluster) as Arc<dyn Players>);
    match &arguments.seeds {
        None => one((arguments, components), arguments.seed, &signals, &players).map(drop),
        Some(seeds) => several((arguments, components), &seeds.0, &signals, &players),
    }
}

/// What a run is asked from outside.
struct Signals {
    interrupt: Arc<AtomicBool>,
    ask: Arc<AtomicBool>,
}

impl Signals {
    fn listen() -> Result<Self> {
        let interrupt = interrupt::listen()?;
        let ask = Arc::new(AtomicBool::new(false));
        signal_hook::flag::register(signal_hook::consts::SIGUSR1, Arc::clone(&ask))
            .context("cannot listen for SIGUSR1")?;
        Ok(Self { interrupt, ask })
    }
}

/// Refuses a run that says nothing of its policy: what was played beside demonstrations broke, all of it.
fn counts(folder: &RunFolder) -> Result<()> {
    let mut rows = folder.episode_rows(&EpisodeFilter::default())?;
    rows.retain(|row| row.id.phase != Phase::Demonstration);
    if rows.is_empty() || rows.iter().any(|row| row.outcome.is_valid()) {
        return Ok(());
    }
    let episodes = printable::count(rows.len(), "episode");
    let first = folder.events()?.into_iter().find(|event| event.kind == "all-broke");
    let why = first.map_or_else(String::new, |event| format!(", the first of them: {}", event.text));
    bail!(
        "none of {episodes} of this run counts{why}; `merit show {}` tells the outcomes",
        folder.path().display()
    )
}

/// Seed after seed, then one table and one page.
fn several(
    asked: (&Train, &Components),
    seeds: &[u64],
    signals: &Signals,
    players: &Option<Arc<dyn Players>>,
) -> Result<()> {
    let mut runs = Vec::new();
    let mut name = String::new();
    for &seed in seeds {
        let finished = one(asked, seed, signals, players)?;
        runs.push(RunFolder::open_read_only(Path::new(&finished.run))?);
        name = finished.recipe;
    }
    let compared = merit_measure::compare_runs(&runs)?;
    let table = compared.text();
    let runs: Vec<(u64, RunFolder)> = seeds.iter().copied().zip(runs).collect();
    let beside = runs.first().and_then(|(_, run)| run.path().parent()).unwrap_or(Path::new("."));
    let page = free_page(beside, &name);
    std::fs::write(&page, merit_lab::seeds_page(&name, &table, &runs)?)
        .with_context(|| format!("cannot write {}", page.display()))?;
    if asked.0.json {
        let spread =
            |spread: Option<Spread>| spread.map(|spread| json!({ "mean": spread.mean, "sd": spread.sd }));
        out::line(json!({
            "page": page.display().to_string(), "runs": compared.runs, "controls": compared.controls,
            "before": spread(compared.before()), "after": spread(compared.after()),
        }))?;
    } else {
        out::text(format_args!("\n{table}\npage {}\n", page.display()))?;
    }
    Ok(())
}

/// `RECIPE-seeds.html`, or the first `RECIPE-seeds.N.html` that is free.
fn free_page(beside: &Path, recipe: &str) -> PathBuf {
    let mut page = beside.join(format!("{recipe}-seeds.html"));
    for n in 2_u32.. {
        if !page.exists() {
            break;
        }
        page = beside.join(format!("{recipe}-seeds.{n}.html"));
    }
    page
}

/// One run, from its folder to its result.
fn one(
    (arguments, components): (&Train, &Components),
    seed: u64,
    signals: &Signals,
    players: &Option<Arc<dyn Players>>,
) -> Result<Finished> {
    let resuming = arguments.resume.is_some();
    arguments.tools.check(resuming)?;
    let (recipe, mut folder, seed) = match &arguments.resume {
        Some(path) => reopen(path, &arguments.set, components)?,
        None => create(arguments, seed, components)?,
    };
    let toolbox = if resuming { arguments.tools.reopen(&folder)? } else { arguments.tools.open()? };
    let (interrupt, ask) = (Arc::clone(&signals.interrupt), Arc::clone(&signals.ask));
    let threads = threads(arguments.threads);
    let (players, unproven, resumable) = (players.clone(), Unproven::Refuse, true);
    let options =
        Options { seed, threads, interrupt, ask, toolbox, starts: None, players, unproven, resumable };
    let mut shown: Box<dyn FnMut(Event)> =
        if arguments.json { Box::new(display::json_line) } else { display::for_people() };
    let finished = match merit_run::train(&recipe, &mut folder, &options, &mut shown) {
        Ok(finished) => finished,
        Err(error) => {
            if !resuming {
                folder.discard_unstarted()?;
            }
            return Err(error.into());
        }
    };
    drop(shown);
    tapes::report(&options.toolbox)?;
    if arguments.json {
        out::line(serde_json::to_string(&finished)?)?;
    } else {
        print_result(&folder, &finished)?;
    }
    counts(&folder)?;
    Ok(finished)
}

fn threads(asked: Option<u16>) -> usize {
    asked.map_or_else(|| std::thread::available_parallelism().map_or(1, std::num::NonZero::get), usize::from)
}

fn reopen(
    path: &Path,
    changes: &[(String, String)],
    components: &Components,
) -> Result<(Recipe, RunFolder, u64)> {
    let folder = RunFolder::open(path)?;
    let recipe = Recipe::of_run(&folder, components)?;
    let info = folder.info()?;
    if recipe.hash() != info.recipe_hash {
        let (was, is) = (info.recipe_hash, recipe.hash());
        let file = path.join("recipe.toml").display().to_string();
        return Err(WrongInput(format!(
            "{file} was changed since the run began (hash {was}, now {is}); put it back, or start a new run with `merit train {file}`"
        ))
        .into());
    }
    let recipe = if changes.is_empty() { recipe } else { merit_run::extend(&folder, &recipe, changes)? };
    Ok((recipe, folder, info.seed))
}

/// The recipe with its changes.
fn chosen(arguments: &Train, components: &Components) -> Result<Recipe> {
    let name = arguments.recipe.as_deref().unwrap_or(shipped::DEFAULT);
    let recipe = shipped::load_with(name, components)?;
    Ok(if arguments.set.is_empty() { recipe } else { recipe.with(&arguments.set)? })
}

fn create(arguments: &Train, seed: u64, components: &Components) -> Result<(Recipe, RunFolder, u64)> {
    let recipe = chosen(arguments, components)?;
    // What would only be found after the warm start.
    recipe.look().map_err(WrongInput)?;
    let path = arguments.run.clone().unwrap_or_else(|| free_folder(&recipe.name, seed));
    let Run { recipe, folder, seed } = Run::create(&path, recipe, seed)?;
    Ok((recipe, folder, seed))
}

/// `runs/RECIPE-SEED`, or the first `runs/RECIPE-SEED.N` that is free.
fn free_folder(recipe: &str, seed: u64) -> PathBuf {
    let first = PathBuf::from(format!("runs/{recipe}-{seed}"));
    if !first.exists() {
        return first;
    }
    (2_u32..)
        .map(|n| PathBuf::from(format!("runs/{recipe}-{seed}.{n}")))
        .find(|p| !p.exists())
        .unwrap_or(first)
}

fn print_result(folder: &RunFolder, finished: &Finished) -> Result<()> {
    let (table, run, report) = (super::show::table(folder)?, &finished.run, &finished.report);
    Ok(out::text(format_args!("\n{table}\n{:.0} s; run {run}; report {report}\n", finished.train_seconds))?)
}
