//! `merit judge test`: any judge against labelled pairs.

use super::WrongInput;
use crate::cli::judges::JudgeTest;
use crate::out;
use anyhow::Result;
use merit_evolve::Library;
use merit_judge::{
    Checks, Judge, JudgeFolder, Pointwise, Row, Tested, corrected_rate, pointwise, read_pairs,
};
use merit_run::{OpenJudge, built_in, reward_file};
use serde_json::json;
use std::fmt::Write as _;
use std::path::Path;

pub(crate) fn run(arguments: &JudgeTest) -> Result<()> {
    if arguments.observed.is_some_and(|rate| !(0.0..=1.0).contains(&rate)) {
        return Err(WrongInput("`--observed` is a share, from 0 to 1".to_owned()).into());
    }
    let pairs = read_pairs(&arguments.pairs)?;
    let mut judge = open(&arguments.judge)?;
    let tested = merit_judge::test(judge.as_mut(), &pairs, &[], arguments.repeat as usize);
    let single = arguments.threshold.map(|at| pointwise(judge.as_mut(), &pairs, at));
    let corrected = single
        .as_ref()
        .zip(arguments.observed)
        .map(|(single, observed)| corrected_rate(observed, single.false_positives, single.false_negatives));
    if arguments.json {
        return Ok(out::line(json!({ "tested": tested, "single": single, "corrected": corrected }))?);
    }
    let mut text = table(&tested);
    if let Some(single) = &single {
        text += &singly(single);
    }
    if let (Some(observed), Some(corrected)) = (arguments.observed, corrected) {
        let _ = match corrected {
            Some(rate) => {
                writeln!(text, "a success rate of {observed:.3} seen by it is {rate:.3} after its errors")
            }
            None => writeln!(text, "no rate can be corrected: its verdicts are no better than chance"),
        };
    }
    Ok(out::text(text)?)
}

/// A judge's folder, perhaps with a version, a model that judges by its file, or a reward.
fn open(name: &str) -> Result<Box<dyn Judge>> {
    let (path, version) = versioned(name)?;
    let path = Path::new(path);
    let is_model = asks(path);
    if path.join("library.toml").is_file() {
        let folder = JudgeFolder::open(path)?;
        let library = version.map_or_else(|| folder.in_use(), |version| folder.library(version))?;
        return match is_model {
            true => Ok(OpenJudge::open(path, &library, None)?.into_judge()),
            false => Ok(Box::new(Checks::compile(&folder.name(), &library, &built_in())?)),
        };
    }
    if is_model {
        return Ok(OpenJudge::open(path, &Library::default(), None)?.into_judge());
    }
    let reward = reward_file::load(name)?;
    Ok(Box::new(Checks::of_reward(&reward.name, &reward.config)?))
}

/// Whether a model judges: the file, or `judge.toml` of the folder, says what it is asked, or is a panel.
pub(crate) fn asks(path: &Path) -> bool {
    let file = if path.is_dir() { path.join("judge.toml") } else { path.to_owned() };
    let table = std::fs::read_to_string(file).ok().and_then(|text| toml::from_str::<toml::Table>(&text).ok());
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
