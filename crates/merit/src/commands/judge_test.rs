//! `merit judge test`: any judge against labelled pairs.

use super::WrongInput;
use crate::cli::judges::JudgeTest;
use crate::out;
use anyhow::{Result, bail};
use merit_core::Components;
use merit_evolve::Library;
use merit_judge::{
    Agreement, Checks, Judge, JudgeFolder, Pair, Pointwise, Row, Tested, agreement, corrected_rate,
    pointwise, read_graded, read_pairs,
};
use merit_run::{FittedJudge, OpenJudge, Record, reward_file};
use serde_json::json;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

pub(crate) fn run(arguments: &JudgeTest, components: &Components) -> Result<()> {
    if arguments.observed.is_some_and(|rate| !(0.0..=1.0).contains(&rate)) {
        return Err(WrongInput("`--observed` is a share, from 0 to 1".to_owned()).into());
    }
    if let Some(Some(at)) = arguments.threshold.filter(|at| at.is_some_and(|at| !at.is_finite())) {
        return Err(WrongInput(format!("`--threshold` is {at}; give a finite number")).into());
    }
    let pairs = read_pairs(&arguments.pairs)?;
    let path = Path::new(versioned(&arguments.judge)?.0);
    let (opened, record) =
        opened_for(arguments.record.as_deref(), path, |record| open(&arguments.judge, record, components))?;
    let done = test(arguments, &pairs, opened);
    let finished = finish(record, done.is_err());
    done.and(finished)
}

fn test(arguments: &JudgeTest, pairs: &[Pair], opened: Opened) -> Result<()> {
    let Opened { mut judge, numbers, .. } = opened;
    let tested = merit_judge::test(judge.as_mut(), pairs, &[], arguments.repeat as usize);
    let single = arguments.threshold.map(|at| pointwise(judge.as_mut(), pairs, at));
    let graded = if numbers { read_graded(&arguments.pairs)? } else { Vec::new() };
    let grades = (!graded.is_empty()).then(|| agreement(judge.as_mut(), &graded));
    let corrected = single
        .as_ref()
        .zip(arguments.observed)
        .map(|(single, observed)| corrected_rate(observed, single.false_positives, single.false_negatives));
    if arguments.json {
        let all = json!({ "tested": tested, "single": single, "corrected": corrected, "grades": grades });
        out::line(all)?;
        return answered(&tested);
    }
    let mut text = table(&tested);
    if let Some(single) = &single {
        text += &singly(single);
    }
    if let Some(grades) = &grades {
        text += &with_grades(grades);
    }
    if let (Some(observed), Some(corrected)) = (arguments.observed, corrected) {
        let _ = match corrected {
            Some(rate) => {
                writeln!(text, "a success rate of {observed:.3} seen by it is {rate:.3} after its errors")
            }
            None => writeln!(text, "no rate can be corrected: its verdicts are no better than chance"),
        };
    }
    out::text(text)?;
    answered(&tested)
}

/// Refuses a test in which no question was answered.
fn answered(tested: &Tested) -> Result<()> {
    match (tested.judge.accuracy, &tested.failure) {
        (None, Some(why)) => bail!("no question was answered: {why}"),
        _ => Ok(()),
    }
}

/// A judge, and what is to be known of it.
pub(crate) struct Opened {
    pub(crate) judge: Box<dyn Judge>,
    /// Whether it gives single answers a number.
    pub(crate) numbers: bool,
    /// What it was opened from.
    pub(crate) from: From,
}

/// What a judge was opened from.
pub(crate) enum From {
    /// A judge's folder, at a version.
    Folder(PathBuf, usize),
    /// A file that says what a model is asked, or a panel; or a reward.
    File(PathBuf),
    /// A model that a run has fitted.
    Run(PathBuf),
    /// A shipped reward.
    Shipped,
}

/// A judge's folder, perhaps with a version, a model that judges by its file, a model that a run has fitted, or a reward.
pub(crate) fn open(name: &str, record: Option<&Record>, components: &Components) -> Result<Opened> {
    if let Some((run, model)) = name.rsplit_once(':').filter(|(run, _)| Path::new(run).is_dir()) {
        let judge = Box::new(FittedJudge::open(Path::new(run), model, components)?);
        return Ok(Opened { judge, numbers: true, from: From::Run(run.into()) });
    }
    let (path, version) = versioned(name)?;
    let path = Path::new(path);
    let is_model = asks(path);
    let asked = |library: &Library, from: From| -> Result<Opened> {
        let judge = match record {
            Some(record) => OpenJudge::recorded(path, library, components, record)?,
            None => OpenJudge::open(path, library, components, None)?,
        };
        Ok(Opened { numbers: judge.gives_numbers(), judge: judge.into_judge(), from })
    };
    if path.join("library.toml").is_file() {
        let folder = JudgeFolder::open(path)?;
        let library = version.map_or_else(|| folder.in_use(), |version| folder.library(version))?;
        let from = From::Folder(path.to_owned(), version.unwrap_or(folder.state.version));
        if is_model {
            return asked(&library, from);
        }
        let judge = Box::new(Checks::compile(&folder.name(), &library, components)?);
        return Ok(Opened { judge, numbers: true, from });
    }
    if is_model {
        return asked(&Library::default(), From::File(judge_file(path)));
    }
    let reward = reward_file::load_with(name, components)?;
    let from = if path.is_file() { From::File(path.to_owned()) } else { From::Shipped };
    Ok(Opened { judge: Box::new(Checks::of_reward(&reward.name, &reward.config)?), numbers: true, from })
}

/// A record and its folder, where one was asked for.
pub(crate) type Recording<'a> = Option<(Record, &'a Path)>;

/// A judge that `open` opens, and the record of what it says. Where it cannot be opened, the folder goes again: it was absent or
/// empty, and the next attempt needs its place.
pub(crate) fn opened_for<'a, T>(
    to: Option<&'a Path>,
    judge: &Path,
    open: impl FnOnce(Option<&Record>) -> Result<T>,
) -> Result<(T, Recording<'a>)> {
    let Some(to) = to else { return Ok((open(None)?, None)) };
    let record = recording(to, judge)?;
    match open(Some(&record)) {
        Ok(opened) => Ok((opened, Some((record, to)))),
        Err(error) => {
            drop(record);
            // What is wrong with the judge is the news, not what stays behind.
            let _ = std::fs::remove_dir_all(to);
            Err(error)
        }
    }
}

/// Says that a record is whole. Of a command that failed before a single judgement it goes again.
pub(crate) fn finish(record: Recording<'_>, failed: bool) -> Result<()> {
    let Some((record, to)) = record else { return Ok(()) };
    if record.finish()? == 0 && failed {
        let _ = std::fs::remove_dir_all(to);
    }
    Ok(())
}

/// A folder for the judgements of a judge.
fn recording(to: &Path, judge: &Path) -> Result<Record> {
    if !asks(judge) {
        let text =
            format!("`--record` keeps what a model says, and no model is asked by {}", judge.display());
        return Err(WrongInput(text).into());
    }
    Ok(Record::create(to, judge)?)
}

/// The file that says what is asked.
fn judge_file(path: &Path) -> PathBuf {
    if path.is_dir() { path.join("judge.toml") } else { path.to_owned() }
}

/// Whether a model judges: the file, or `judge.toml` of the folder, says what it is asked, or is a panel.
pub(crate) fn asks(path: &Path) -> bool {
    let table = std::fs::read_to_string(judge_file(path))
        .ok()
        .and_then(|text| toml::from_str::<toml::Table>(&text).ok());
    table.is_some_and(|table| table.contains_key("ask") || table.contains_key("panel"))
}

/// The library that a judge consults: that of its folder, where it has one.
pub(crate) fn library(path: &Path) -> Result<Library> {
    match path.join("library.toml").is_file() {
        true => Ok(JudgeFolder::open(path)?.in_use()?),
        false => Ok(Library::default()),
    }
}

/// `my-judge@12` as its two parts.
pub(crate) fn versioned(name: &str) -> Result<(&str, Option<usize>)> {
    let Some((path, version)) = name.rsplit_once('@') else { return Ok((name, None)) };
    let number = version.parse();
    let number =
        number.map_err(|_| WrongInput(format!("`{version}` behind the `@` of `{name}` is no version")))?;
    Ok((path, Some(number)))
}

/// The table that a person reads.
pub(crate) fn table(tested: &Tested) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{} pairs in {} groups\n", tested.pairs, tested.groups);
    let _ = writeln!(text, "{:<44} {:>8}  {:<17} {:>6}", "", "right", "95 %", "ties");
    for row in std::iter::once(&tested.judge).chain(&tested.leaks) {
        let _ = writeln!(text, "{}", line(row));
    }
    let _ = writeln!(text);
    let share = |share: Option<f64>| share.map_or_else(|| "–".to_owned(), |share| format!("{share:.3}"));
    for (name, value) in [
        ("Cohen's kappa with the labels", tested.kappa),
        ("the order decided (flips)", tested.flips),
        ("position bias (first less a half)", tested.position_bias),
        ("length bias (longer, less labels)", tested.length_bias),
        ("calibration error", tested.calibration_error),
        ("drift when asked again", tested.drift),
    ] {
        let _ = writeln!(text, "{name:<44} {:>8}", share(value));
    }
    for (kind, count) in &tested.unsaid {
        let _ = writeln!(text, "{:<44} {count:>8}", format!("answers that were {kind}"));
    }
    let _ = writeln!(text, "{:<44} {:>8}", "calls of the judge", tested.cost.judge_calls);
    text
}

fn line(row: &Row) -> String {
    let right = row.accuracy.map_or_else(|| "–".to_owned(), |right| format!("{:.1} %", right * 100.0));
    let interval = row.interval.map_or_else(String::new, |interval| {
        format!("{:.1} to {:.1}", interval.low * 100.0, interval.high * 100.0)
    });
    format!("{:<44} {right:>8}  {interval:<17} {:>4.0} %", row.name, row.ties * 100.0)
}

fn with_grades(grades: &Agreement) -> String {
    let number = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| format!("{value:.3}"));
    format!(
        "with {} graded answers, {} of which have a score: Spearman {}, Kendall's tau-b {}, weighted kappa {}\n",
        grades.answers,
        grades.scored,
        number(grades.spearman),
        number(grades.kendall),
        number(grades.weighted_kappa)
    )
}

fn singly(single: &Pointwise) -> String {
    format!(
        "as a verdict at {:.4}: {:.1} % of the worse ones pass, {:.1} % of the better ones fail ({} of {} have a score)\n",
        single.threshold,
        single.false_positives * 100.0,
        single.false_negatives * 100.0,
        single.scored,
        single.candidates
    )
}
