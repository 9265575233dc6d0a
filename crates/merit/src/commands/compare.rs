//! `merit compare`: is B better than A, by how much, how sure?

use super::WrongInput;
use crate::cli::lab::Compare;
use crate::out;
use anyhow::Result;
use merit_lab::{SystemResult, changes};
use merit_measure::{conditions, versus};
use merit_store::RunFolder;
use serde_json::json;
use std::path::PathBuf;

pub(crate) fn run(arguments: &Compare) -> Result<()> {
    let is_result = |path: &PathBuf| path.extension().is_some_and(|end| end == "json");
    if arguments.runs.iter().all(is_result) {
        return results(arguments);
    }
    if let Some(odd) = arguments.runs.iter().find(|path| is_result(path)) {
        let why = format!("{} is a result and the others are not; compare runs, or results", odd.display());
        return Err(WrongInput(why).into());
    }
    let folders: Vec<RunFolder> =
        arguments.runs.iter().map(|path| RunFolder::open_read_only(path)).collect::<Result<_, _>>()?;
    let conditions = conditions(&folders)?;
    let [first, others @ ..] = conditions.as_slice() else {
        return Err(WrongInput("there is nothing to compare; name at least two run folders".into()).into());
    };
    if others.is_empty() {
        let why = format!(
            "all these runs are of one recipe, `{}`; name runs of another one, or the same one with a setting changed",
            first.name
        );
        return Err(WrongInput(why).into());
    }
    for condition in &conditions {
        let Some((success, interval)) = condition.success() else {
            return Err(WrongInput(format!("`{}` has no episode that counts", condition.name)).into());
        };
        if arguments.json {
            out::line(
                json!({ "condition": condition.name, "success": success, "low": interval.low, "high": interval.high,
                "tasks": condition.tasks.len(), "seeds": condition.seeds(), "folders": condition.folders }),
            )?;
        } else {
            out::line(format_args!(
                "{:24}  {:5.1} %  ({:.1} to {:.1})  {} tasks, {} seeds  ({})",
                condition.name,
                success * 100.0,
                interval.low * 100.0,
                interval.high * 100.0,
                condition.tasks.len(),
                condition.seeds(),
                condition.folders.join(", ")
            ))?;
        }
    }
    for other in others {
        match versus(first, other) {
            Some(found) if arguments.json => out::line(json!({ "versus": found, "says": found.sentence() }))?,
            Some(found) => out::line(found.sentence())?,
            None => {
                let why = format!(
                    "`{}` and `{}` share no task at any seed; compare runs of the same seeds in the same world",
                    first.name, other.name
                );
                return Err(WrongInput(why).into());
            }
        }
    }
    Ok(())
}

/// Arms of recorded results, each with the arm of the same name in the first result.
fn results(arguments: &Compare) -> Result<()> {
    let read = |path: &PathBuf| -> Result<SystemResult> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| WrongInput(format!("cannot read {}: {error}", path.display())))?;
        Ok(serde_json::from_str(&text).map_err(|error| {
            WrongInput(format!("{} is no result of `merit reproduce`: {error}", path.display()))
        })?)
    };
    let results = arguments.runs.iter().map(read).collect::<Result<Vec<_>>>()?;
    let Some((first, others)) = results.split_first() else { return Ok(()) };
    for (other, path) in others.iter().zip(&arguments.runs[1..]) {
        let found = changes(first, other);
        if found.is_empty() || first.system != other.system {
            let why = format!(
                "{} and {} share no arm that was measured alike at a common seed; compare results of the same system",
                arguments.runs[0].display(),
                path.display()
            );
            return Err(WrongInput(why).into());
        }
        if !arguments.json {
            let words = |result: &SystemResult| result.ruling.verdict.words();
            let (from, to) = (words(first), words(other));
            let same = if first.hash == other.hash { "the same file" } else { "another version of the file" };
            out::line(format_args!("{}: {from}, then {to} ({same})", other.system))?;
        }
        for change in found {
            if arguments.json {
                out::line(json!({ "change": change, "says": change.sentence() }))?;
            } else {
                out::line(format_args!("  {}", change.sentence()))?;
            }
        }
    }
    Ok(())
}
