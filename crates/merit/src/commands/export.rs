//! `merit export`: episodes as rows that other trainers read, metrics as CSV and for TensorBoard.

use super::WrongInput;
use crate::cli::export::Export;
use crate::out;
use anyhow::{Result, bail};
use merit_core::Phase;
use merit_core::printable::count;
use merit_core::registry::{UnknownName, nearest};
use merit_export::{
    Choice, Columns, ExportError, NewFile, ParquetRows, Pick, Shape, Summary, csv, event_file_name,
    export_episodes, exported_phases,
};
use merit_store::{Metric, RunFolder};
use std::io::{BufWriter, Write};
use std::path::Path;

pub(crate) fn run(arguments: &Export) -> Result<()> {
    let folder = RunFolder::open_read_only(&arguments.run)?;
    // An import that was interrupted is refused here.
    folder.import()?;
    let wanted = match &arguments.shape {
        Some(name) => {
            let shape = Shape::named(name).map_err(|unknown| WrongInput(unknown.to_string()))?;
            Some((shape, choice(arguments, shape, &folder)?))
        }
        None => None,
    };
    let metrics = match arguments.metrics.is_some() || arguments.tensorboard.is_some() {
        true => recorded_metrics(&folder)?,
        false => Vec::new(),
    };
    let started_ms = folder.info()?.started_ms;
    // Every place is looked at before anything is written.
    let lines = arguments.out.as_deref().map(new).transpose()?;
    let table = arguments.metrics.as_deref().map(new).transpose()?;
    let events = arguments.tensorboard.as_deref().map(|folder| new_events(folder, started_ms)).transpose()?;
    if let Some((shape, choice)) = wanted {
        let parquet = arguments.parquet || arguments.out.as_deref().is_some_and(is_parquet);
        say(&episodes(&folder, &choice, shape, lines, parquet)?, shape);
    }
    let files = [
        table.map(|file| (file, csv(&metrics).into_bytes())),
        events.map(|file| (file, merit_export::events(&metrics, started_ms))),
    ];
    for (mut file, bytes) in files.into_iter().flatten() {
        file.write_all(&bytes)?;
        let path = file.path().display().to_string();
        file.finish().map_err(meant)?;
        out::complain(format_args!("{} in {path}", count(metrics.len(), "metric")));
    }
    Ok(())
}

fn new(path: &Path) -> Result<NewFile> {
    // A place that cannot be written to was named wrongly.
    Ok(NewFile::create(path).map_err(|error| WrongInput(error.to_string()))?)
}

fn new_events(folder: &Path, started_ms: u64) -> Result<NewFile> {
    let failed = |error| WrongInput(format!("cannot make the folder {}: {error}", folder.display()));
    std::fs::create_dir_all(folder).map_err(failed)?;
    new(&folder.join(event_file_name(started_ms)))
}

fn is_parquet(path: &Path) -> bool {
    path.extension().is_some_and(|end| end.eq_ignore_ascii_case("parquet"))
}

/// Writes the rows to the file, or to standard output.
fn episodes(
    folder: &RunFolder,
    choice: &Choice,
    shape: Shape,
    file: Option<NewFile>,
    parquet: bool,
) -> Result<Summary> {
    let Some(mut file) = file else {
        let mut out = BufWriter::new(std::io::stdout().lock());
        let summary = lines(folder, choice, shape, &mut out)?;
        out.flush()?;
        refuse_nothing(&summary)?;
        return Ok(summary);
    };
    let (summary, file) = match parquet {
        true => columns(folder, choice, shape, file)?,
        false => (lines(folder, choice, shape, &mut file)?, file),
    };
    refuse_nothing(&summary)?;
    file.finish().map_err(meant)?;
    Ok(summary)
}

fn lines(folder: &RunFolder, choice: &Choice, shape: Shape, out: &mut dyn Write) -> Result<Summary> {
    let mut take = |row| Ok(writeln!(out, "{row}")?);
    export_episodes(folder, choice, shape, &mut take).map_err(meant)
}

/// Goes through the episodes twice, so that no more than a group of rows is held.
fn columns(folder: &RunFolder, choice: &Choice, shape: Shape, file: NewFile) -> Result<(Summary, NewFile)> {
    let mut columns = Columns::default();
    let mut see = |row| {
        columns.see(&row);
        Ok(())
    };
    refuse_nothing(&export_episodes(folder, choice, shape, &mut see).map_err(meant)?)?;
    let mut rows = ParquetRows::new(file, columns).map_err(meant)?;
    let summary = export_episodes(folder, choice, shape, &mut |row| rows.push(row)).map_err(meant)?;
    Ok((summary, rows.finish().map_err(meant)?))
}

/// Says what was exported on standard error, since rows may go to standard output.
fn say(summary: &Summary, shape: Shape) {
    let Summary { read, taken, rows, left_out } = summary;
    let (rows, all) = (count(*rows, "row"), count(read.values().sum(), "episode"));
    out::complain(format_args!("{rows} as {}, from {taken} of {all}", shape.name()));
    for (phase, episodes) in read {
        out::complain(format_args!("  read: {phase} {episodes}"));
    }
    for (why, episodes) in left_out {
        out::complain(format_args!("  left out: {episodes} {why}"));
    }
}

fn refuse_nothing(summary: &Summary) -> Result<()> {
    if summary.rows > 0 {
        return Ok(());
    }
    let read: usize = summary.read.values().sum();
    let reasons: Vec<String> = summary.left_out.iter().map(|(why, count)| format!("{count} {why}")).collect();
    bail!("nothing is left to export: {} read; left out: {}", count(read, "episode"), reasons.join(", "));
}

fn choice(arguments: &Export, shape: Shape, folder: &RunFolder) -> Result<Choice> {
    let pick = match (arguments.best, arguments.pairs || shape == Shape::Preference) {
        (true, true) => {
            let why = "a preference is a pair of the best and the worst; leave out `--best`";
            bail!(WrongInput(why.to_owned()));
        }
        (true, false) => Pick::Best,
        (false, true) => Pick::Pairs,
        (false, false) => Pick::All,
    };
    let phases = phases(arguments, folder)?;
    Ok(Choice { phases, solved: arguments.solved, min_reward: arguments.min_reward, pick })
}

fn phases(arguments: &Export, folder: &RunFolder) -> Result<Vec<Phase>> {
    let recorded = exported_phases(folder).map_err(meant)?;
    let known: Vec<String> = recorded.keys().map(Phase::to_string).collect();
    if known.is_empty() {
        bail!(WrongInput(format!("{} has no episode yet", arguments.run.display())));
    }
    if arguments.phase.is_empty() && !recorded.values().any(|exported| *exported) {
        let known = known.join(", ");
        bail!(WrongInput(format!("no phase is of training or evaluation; name one with `--phase`: {known}")));
    }
    if let Some(name) = arguments.phase.iter().find(|name| !known.contains(name)) {
        let nearest = nearest(name, known.iter().map(String::as_str));
        let unknown = UnknownName { kind: "phase", name: name.clone(), nearest, known };
        bail!(WrongInput(unknown.to_string()));
    }
    Ok(arguments.phase.iter().map(|name| name.as_str().into()).collect())
}

fn recorded_metrics(folder: &RunFolder) -> Result<Vec<Metric>> {
    let metrics = folder.metrics()?;
    if metrics.is_empty() {
        bail!(WrongInput(format!("{} has no metrics", folder.path().display())));
    }
    Ok(metrics)
}

/// The error as the exit code wants it: a store's as itself, a closed pipe as such, a file that is there as wrong input.
fn meant(error: ExportError) -> anyhow::Error {
    match error {
        ExportError::Store(error) => error.into(),
        ExportError::Rows(error) => error.into(),
        ExportError::Exists { .. } => WrongInput(error.to_string()).into(),
        ExportError::Io { .. } | ExportError::Parquet(_) => error.into(),
    }
}
