//! `merit reproduce`: run the cells of systems, judge them, record and show the result.

use super::cluster::{CellsOf, Cluster};
use crate::cli::lab::Reproduce;
use crate::{interrupt, out};
use anyhow::{Context as _, Result};
use indicatif::{ProgressBar, ProgressStyle};
use merit_lab::{
    CellRunner, Grid, GridOptions, Judged, Look, Progress, System, SystemResult, index_page, judge, load,
    result_of, system_page, systems,
};
use serde_json::json;
use std::io::IsTerminal as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

pub(crate) fn run(arguments: &Reproduce) -> Result<()> {
    if arguments.list {
        return list(arguments.json);
    }
    let stop = interrupt::listen()?;
    let options = GridOptions {
        folder: arguments.cells.clone(),
        workers: workers(arguments.workers),
        smoke: arguments.smoke,
        premise: arguments.premise,
        extended: arguments.extended,
        seeds: arguments.seeds.as_ref().map(|seeds| seeds.0.clone()),
        arms: arguments.arms.clone(),
        keep: arguments.keep,
        only: arguments.cell.clone(),
        replay_lost: arguments.replay_lost,
        runner: None,
        stop,
    };
    let names: Vec<String> = if arguments.all {
        systems().iter().map(|(name, _)| (*name).to_owned()).collect()
    } else {
        arguments.systems.clone()
    };
    // All files are read before the first cell runs: a mistake in the last one costs nothing.
    let all: Vec<System> = names.iter().map(|name| load(name, &arguments.set)).collect::<Result<_, _>>()?;
    let cluster = arguments
        .on
        .as_ref()
        .map(|on| Cluster::join(&on.0, arguments.workers, true))
        .transpose()?
        .map(Arc::new);
    let began = Instant::now();
    for (system, source) in all.iter().zip(&names) {
        let runner =
            cluster.as_ref().map(|cluster| elsewhere(cluster, system, source, arguments)).transpose()?;
        reproduce(system, &GridOptions { runner, ..options.clone() }, arguments)?;
    }
    if all.len() > 1 && !arguments.json {
        out::line(format!("{} systems in {:.0} s", all.len(), began.elapsed().as_secs_f64()))?;
    }
    Ok(())
}

/// Who runs the cells of `system`, which `source` names, on a cluster.
fn elsewhere(
    cluster: &Arc<Cluster>,
    system: &System,
    source: &str,
    arguments: &Reproduce,
) -> Result<Arc<dyn CellRunner>> {
    let shipped = systems().iter().any(|(name, _)| *name == source);
    let text = (!shipped).then(|| std::fs::read_to_string(source)).transpose();
    let text = text.with_context(|| format!("cannot read {source}"))?;
    let set = arguments.set.iter().flat_map(|(key, value)| ["--set".to_owned(), format!("{key}={value}")]);
    let flags = set.chain(arguments.smoke.then(|| "--smoke".to_owned()));
    let flags = flags.chain(arguments.extended.then(|| "--extended".to_owned())).collect();
    Ok(Arc::new(CellsOf { cluster: Arc::clone(cluster), name: system.name.clone(), text, flags }))
}

fn workers(asked: Option<u16>) -> usize {
    asked.map_or_else(|| std::thread::available_parallelism().map_or(1, std::num::NonZero::get), usize::from)
}

fn reproduce(system: &System, options: &GridOptions, arguments: &Reproduce) -> Result<()> {
    let whole = !options.smoke && !options.premise && options.seeds.is_none() && options.arms.is_empty();
    let watch = watcher(arguments.json);
    let mut look = Look::First;
    let (mut cells, first) = Grid::new(system, options, 1)?.run_timed(&*watch)?;
    let mut times = vec![first];
    let mut ruling = judge(system, &cells);
    if whole && ruling.wants_more_seeds() {
        look = Look::Second;
        let (twice, second) = Grid::new(system, options, 2)?.run_timed(&*watch)?;
        (cells, times) = (twice, vec![first, second]);
        ruling = judge(system, &cells);
    }
    drop(watch);
    if let Some(broken) = cells.0.iter().find(|cell| cell.broken.is_some()) {
        let (arm, seed, why) = (&broken.arm, broken.seed, broken.broken.as_deref().unwrap_or_default());
        let how = if broken.lost { "was lost" } else { "broke twice" };
        out::complain(format_args!("merit: {}: arm `{arm}`, seed {seed} {how}: {why}", system.name));
    }
    let result = SystemResult::new(system, &cells, ruling, look).with_look_times(&times);
    let folder = options.folder.join("pages");
    let page = folder.join(format!("{}.html", system.name));
    write(&page, &system_page(&result))?;
    if whole && arguments.set.is_empty() {
        let path = arguments.results.join(format!("{}.json", system.name));
        write(&path, &format!("{}\n", serde_json::to_string(&result)?))?;
        let results: Vec<SystemResult> =
            systems().iter().filter_map(|(name, _)| recorded(&arguments.results, name)).collect();
        write(&folder.join("index.html"), &index_page(&results))?;
    }
    if arguments.json {
        return Ok(out::line(json!({ "result": result }))?);
    }
    let judged = !options.smoke && !options.premise;
    show(&result, judged, &page)?;
    if options.smoke && cells.0.iter().any(|cell| cell.broken.is_some()) {
        anyhow::bail!("the smoke of `{}` broke", system.name);
    }
    Ok(())
}

/// The newest result of a system: of this folder, or the shipped one.
fn recorded(folder: &Path, name: &str) -> Option<SystemResult> {
    let text = std::fs::read_to_string(folder.join(format!("{name}.json"))).ok();
    text.and_then(|text| serde_json::from_str(&text).ok()).or_else(|| result_of(name))
}

fn write(path: &Path, text: &str) -> Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// A bar where somebody watches, lines elsewhere.
fn watcher(json: bool) -> Box<dyn Fn(&Progress<'_>) + Sync> {
    if json {
        return Box::new(|progress| {
            let line = json!({ "system": progress.system, "done": progress.done, "total": progress.total, "cell": progress.cell });
            // A lost terminal is no reason to stop.
            let _ = out::line(line);
        });
    }
    if !(std::io::stderr().is_terminal() && std::io::stdout().is_terminal()) {
        return Box::new(|progress| {
            let _ = out::line(words(progress));
        });
    }
    let bar = ProgressBar::new(1);
    let style = ProgressStyle::with_template("{bar:24.cyan/dim} {pos}/{len} {wide_msg}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("━╸─"));
    Box::new(move |progress| {
        bar.set_length(progress.total as u64);
        bar.set_position(progress.done as u64);
        bar.set_message(words(progress));
    })
}

fn words(progress: &Progress<'_>) -> String {
    let (cell, left) = (progress.cell, progress.seconds_left);
    let part = if cell.part == "main" { String::new() } else { format!("{} ", cell.part) };
    let left = if left < 90.0 { format!("{left:.0} s") } else { format!("{:.0} min", left / 60.0) };
    format!(
        "{} {}/{}  {part}{} seed {} in {:.1} s; {left} left",
        progress.system, progress.done, progress.total, cell.arm, cell.seed, cell.seconds
    )
}

fn show(result: &SystemResult, judged: bool, page: &Path) -> Result<()> {
    let mut text = format!("\n{}: {}\n", result.system, result.about);
    let rows = [("premise", &result.ruling.premises), ("claim", &result.ruling.claims)];
    for (kind, one) in rows.into_iter().flat_map(|(kind, all)| all.iter().map(move |one| (kind, one))) {
        if kind == "premise" || judged {
            text.push_str(&row(if one.required { kind } else { "reported" }, one));
        }
    }
    if judged {
        text.push_str(&format!("{}\n", result.line()));
    }
    text.push_str(&format!("{}; page {}\n", result.time_words(), page.display()));
    Ok(out::text(text)?)
}

fn row(kind: &str, judged: &Judged) -> String {
    let range = judged.range();
    let range = if range.is_empty() { range } else { format!(" ({range})") };
    format!(
        "  {kind:8}  {:13}  {}\n            {}: {}, found {}{range}\n",
        judged.verdict_words(),
        judged.says,
        judged.measure,
        judged.comparison,
        judged.found()
    )
}

fn list(as_json: bool) -> Result<()> {
    if !as_json {
        return Ok(out::text(merit_lab::table()?)?);
    }
    for (name, _) in systems() {
        out::line(json!({ "system": name, "result": result_of(name) }))?;
    }
    Ok(())
}
